//! Checks whether the waits and wake-ups that a host reports are physically possible.

use timers::{Answer, Fault};

use crate::text::numbers::short_time;
use crate::trace::Reference;

/// Checks the times between pairs of readings. Some may be below zero, because the reference may step
/// back and steps forward in between, but not most of them.
///
/// # Errors
/// Describes the first impossible time.
pub(super) fn check_times(
    pairs: impl Iterator<Item = [i64; 2]>,
    reference: &Reference,
) -> Answer<()> {
    /// Longest plausible time, in nanoseconds: about a week. *Judgement*: longer than any measurement.
    const LONGEST_NS: f64 = 6e14;
    let pairs: Vec<[i64; 2]> = pairs.collect();
    let steps_back = |[from, to]: [i64; 2]| reference.steps_back(from, to);
    let back = pairs.iter().filter(|pair| steps_back(**pair)).count();
    let may_step_back = 2 * back <= pairs.len() + 1 && back < pairs.len();
    let is_impossible = |pair: &&[i64; 2]| {
        reference.ns(pair[0], pair[1]).abs() > LONGEST_NS || (steps_back(**pair) && !may_step_back)
    };
    pairs.iter().find(is_impossible).map_or(Ok(()), |pair| {
        let ns = reference.ns(pair[0], pair[1]);
        let sign = if ns < 0.0 { "-" } else { "" };
        let time = short_time(ns.abs());
        Err(impossible(&format!("{sign}{time} between two readings")))
    })
}

/// Checks wake-ups of a periodic timer that was started after the reference read `from`.
///
/// # Errors
/// Describes what is impossible.
pub(super) fn check_wakeups(
    reported: &[(i64, u64)],
    from: i64,
    period_ns: u64,
    reference: &Reference,
) -> Answer<()> {
    let times = || reported.iter().map(|(at, _)| *at);
    check_times(
        [from]
            .into_iter()
            .chain(times())
            .zip(times())
            .map(Into::into),
        reference,
    )?;
    let passed_ns = reference.ns(from, times().next_back().unwrap_or(from));
    let missed = reported
        .iter()
        .map(|(_, expirations)| expirations.saturating_sub(1) as f64);
    let missed: f64 = missed.sum();
    // A timer may round its period, by less than the period itself.
    match missed > 2.0 * (passed_ns / period_ns.max(1) as f64 + 1.0) {
        true => Err(impossible(&format!("{missed} missed expirations"))),
        false => Ok(()),
    }
}

/// The error for a report of something impossible.
fn impossible(what: &str) -> Fault {
    Fault::Refused(format!("the host reports what is impossible: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    fn reference() -> Reference {
        Reference {
            ns_per_tick: 1.0,
            step: 10.0,
            ..Reference::default()
        }
    }

    /// Checks times in nanoseconds, by a counter near its largest value.
    fn are_possible(times: &[i64]) -> bool {
        let pair = |time: &i64| [i64::MAX, i64::MAX.wrapping_add(*time)];
        check_times(times.iter().map(pair), &reference()).is_ok()
    }

    #[test]
    fn times_pass_forward() {
        // Within the step of the reference; two CPUs with different clocks.
        for possible in [&[][..], &[MS, 0, -10], &[-MS, 2 * MS, -MS]] {
            assert!(are_possible(possible), "{possible:?}");
        }
        for impossible in [
            &[-MS][..],
            &[-MS, MS, -MS, -MS],
            &[i64::MAX],
            &[MS, i64::MIN],
        ] {
            assert!(!are_possible(impossible), "{impossible:?}");
        }
    }

    #[test]
    fn expirations_take_time() {
        let check =
            |reported: &[(i64, u64)]| check_wakeups(reported, 0, MS as u64, &reference()).is_ok();
        for possible in [&[][..], &[(0, 1), (0, 1)], &[(9 * MS, 9), (9 * MS + 1, 0)]] {
            assert!(check(possible), "{possible:?}");
        }
        for impossible in [
            &[(MS, u64::MAX), (2 * MS, 1)][..],
            &[(9 * MS, 1), (3 * MS, 1), (2 * MS, 1), (MS, 1)],
            &[(MS, 1), (2 * MS, 9)],
        ] {
            assert!(!check(impossible), "{impossible:?}");
        }
    }
}
