//! Checks whether the waits and wake-ups that an agent reports are physically possible.

use timers::{Answer, Fault};

use estimators::trace::Reference;

/// Checks the times between pairs of readings. Some may be below zero, because the reference may step
/// back and steps forward in between, but not most of them.
///
/// # Errors
/// Describes the first impossible time.
pub(super) fn check_times(pairs: &[[i64; 2]], reference: &Reference) -> Answer<()> {
    /// Longest plausible time, in nanoseconds: about a week. *Judgement*: longer than any measurement.
    const LONGEST_NS: f64 = 6e14;
    let ns = |[from, to]: [i64; 2]| reference.ns(from, to);
    let steps_back = |[from, to]: [i64; 2]| reference.steps_back(from, to);
    let back = pairs.iter().filter(|pair| steps_back(**pair)).count();
    let most_step_back = 2 * back > pairs.len() + 1;
    let is_impossible =
        |pair: [i64; 2]| ns(pair).abs() > LONGEST_NS || (most_step_back && steps_back(pair));
    match pairs.iter().find(|pair| is_impossible(**pair)) {
        Some(pair) => Err(impossible(&format!(
            "{} ns between two readings",
            ns(*pair)
        ))),
        None => Ok(()),
    }
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
    let mut last = from;
    let pair = |&(at, _): &(i64, u64)| [std::mem::replace(&mut last, at), at];
    let pairs: Vec<[i64; 2]> = reported.iter().map(pair).collect();
    check_times(&pairs, reference)?;
    // A timer may round its period, by less than the period itself.
    let passed = 2.0 * (reference.ns(from, last) / period_ns.max(1) as f64 + 1.0);
    let missed = reported
        .iter()
        .map(|(_, count)| count.saturating_sub(1) as f64);
    match missed.sum::<f64>() {
        missed if missed > passed => Err(impossible(&format!("{missed} missed expirations"))),
        _ => Ok(()),
    }
}

/// The error for a report of something impossible.
fn impossible(what: &str) -> Fault {
    Fault::Refused(format!("the agent reports what is impossible: {what}"))
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
        let pairs: Vec<[i64; 2]> = times.iter().map(pair).collect();
        check_times(&pairs, &reference()).is_ok()
    }

    #[test]
    fn times_pass_forward() {
        // Within the step of the reference; two CPUs with different clocks.
        for possible in [&[][..], &[MS, 0, -10], &[-MS, 2 * MS, -MS]] {
            assert!(are_possible(possible), "{possible:?}");
        }
        for impossible in [
            &[-MS, -MS][..],
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
