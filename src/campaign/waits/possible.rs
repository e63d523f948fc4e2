//! Checks whether the waits and wake-ups that a host reports are physically possible.

use timers::waits::Expiration;
use timers::{Answer, Fault};

use crate::text::numbers::short_time;
use crate::trace::{Reference, Wait};

/// Longest plausible interval, in nanoseconds: about a week. *Judgement*: longer than any
/// measurement.
const LONGEST_NS: f64 = 6e14;

/// Checks reported waits. Some may end before they begin, because the reference may step back and
/// steps forward in between, but not most of them.
///
/// # Errors
/// Describes the first impossible value.
pub(super) fn check_waits(reported: &[Wait], reference: &Reference) -> Answer<()> {
    let ends_first = |wait: &Wait| reference.steps_back(wait.before, wait.after);
    let back = reported.iter().filter(|wait| ends_first(wait)).count();
    let may_end_first = 2 * back <= reported.len() + 1 && back < reported.len();
    let is_impossible = |wait: &&Wait| {
        reference.ns(wait.before, wait.after).abs() > LONGEST_NS
            || (ends_first(wait) && !may_end_first)
            || (wait.cpu_ns).is_some_and(|ns| !(0.0..=LONGEST_NS).contains(&(ns as f64)))
    };
    let Some(wait) = reported.iter().find(is_impossible) else {
        return Ok(());
    };
    Err(impossible(&format!(
        "a wait of {} took {} and {} of CPU time",
        time(wait.request_ns as f64),
        time(reference.ns(wait.before, wait.after)),
        time(wait.cpu_ns.unwrap_or(0) as f64)
    )))
}

/// Checks wake-ups of a periodic timer that was started after the reference read `from`.
///
/// # Errors
/// Describes the first impossible value.
pub(super) fn check_wakeups(
    reported: &[Expiration],
    from: i64,
    period_ns: u64,
    reference: &Reference,
) -> Answer<()> {
    let mut before = from;
    for wakeup in reported {
        let interval = reference.ns(before, wakeup.at);
        if interval.abs() > LONGEST_NS || reference.steps_back(before, wakeup.at) {
            let after = time(interval);
            return Err(impossible(&format!(
                "a wake-up is {after} after the one before it"
            )));
        }
        before = wakeup.at;
    }
    // A timer may round its period, by less than the period itself.
    let passed = 2.0 * (reference.ns(from, before) / period_ns.max(1) as f64 + 1.0);
    let missed = reported
        .iter()
        .map(|wakeup| wakeup.expirations.saturating_sub(1) as f64);
    if missed.clone().sum::<f64>() > passed {
        let passed = time(reference.ns(from, before));
        return Err(impossible(&format!(
            "{} expirations were missed in {passed}",
            missed.sum::<f64>()
        )));
    }
    let first = reported.first().map_or(before, |first| first.at);
    match reported.len() > 1 && reference.ns(first, before) <= 0.0 {
        true => Err(impossible(
            "no time passed from the first wake-up to the last",
        )),
        false => Ok(()),
    }
}

/// The error for a report of something impossible.
fn impossible(what: &str) -> Fault {
    Fault::Refused(format!("the host reports what is impossible: {what}"))
}

/// Formats a time in nanoseconds, which may be negative.
fn time(ns: f64) -> String {
    let sign = if ns < 0.0 { "-" } else { "" };
    format!("{sign}{}", short_time(ns.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NANOSECOND_CLOCK: Reference = Reference {
        id: String::new(),
        family: None,
        keeps_time: false,
        ns_per_tick: 1.0,
        step: 10.0,
        step_at_most: None,
        ns_per_work: 1.0,
        rate_uncertainty: 0.0,
        unexplained_deviation_ns: 0.0,
    };

    /// Checks waits of 1 ms, given as duration and CPU time in nanoseconds. Returns the
    /// error message, or "fine".
    fn check_result_of_waits(all: &[(i64, Option<i64>)]) -> String {
        let reported: Vec<Wait> = all
            .iter()
            .map(|&(duration_ns, cpu_ns)| Wait {
                request_ns: 1_000_000,
                before: i64::MAX,
                after: i64::MAX.wrapping_add(duration_ns),
                cpu_ns,
                ..Wait::default()
            })
            .collect();
        check_waits(&reported, &NANOSECOND_CLOCK)
            .map_or_else(|fault| fault.to_string(), |()| "fine".into())
    }

    #[test]
    fn rejects_impossible_waits() {
        for (wait, words) in [
            ((-200_000, None), "took -200 µs"),
            ((1_000_000, Some(-5)), "-5 ns of CPU time"),
            ((1_000_000, Some(i64::MAX)), "of CPU time"),
            ((i64::MAX, None), "took 9"),
        ] {
            let reported = check_result_of_waits(&[wait]);
            assert!(
                reported.contains("a wait of 1 ms") && reported.contains(words),
                "{reported}"
            );
        }
    }

    #[test]
    fn accepts_unusual_waits() {
        // Ends early by the step of the reference; a CPU clock with long ticks; two threads on two
        // CPUs while the machine paused.
        for outlier in [
            (-10, None),
            (1_000_000, Some(15_625_000)),
            (0, Some(900_000_000)),
        ] {
            let mut all = [(1_000_000, Some(1_900_000)); 9];
            all[..4].fill(outlier);
            assert_eq!(check_result_of_waits(&all), "fine");
        }
        assert_eq!(check_result_of_waits(&[]), "fine");
        // A clock that steps back between two CPUs, as often as forward, but not more often.
        let (late, early) = ((1_244_000, None), (-200_000, None));
        assert_eq!(check_result_of_waits(&[early, late, early]), "fine");
        let reported = check_result_of_waits(&[early, late, early, early]);
        assert!(reported.contains("took -200 µs"), "{reported}");
        // Spins for 1 ms that fall within one step of the reference.
        let coarse = Reference {
            step: 4e6,
            ..NANOSECOND_CLOCK
        };
        let spin = Wait {
            request_ns: 1_000_000,
            cpu_ns: Some(1_000_000),
            ..Wait::default()
        };
        assert!(check_waits(&[spin; 9], &coarse).is_ok());
    }

    /// Checks wake-ups with a period of 1 ms, given as nanoseconds since the start and number of
    /// expirations. Returns the error message, or "fine".
    fn check_result_of_wakeups(reported: &[(i64, u64)]) -> String {
        let reported: Vec<Expiration> = reported
            .iter()
            .map(|&(at, expirations)| Expiration {
                at: at - 7,
                expirations,
            })
            .collect();
        check_wakeups(&reported, -7, 1_000_000, &NANOSECOND_CLOCK)
            .map_or_else(|fault| fault.to_string(), |()| "fine".into())
    }

    #[test]
    fn rejects_impossible_wakeups() {
        const MS: i64 = 1_000_000;
        for (reported, words) in [
            (
                &[(MS, 1), (3 * MS, 1), (2 * MS, 1)][..],
                "a wake-up is -1 ms after the one before it",
            ),
            (&[(-MS, 1), (MS, 1)], "is -1 ms after"),
            (&[(MS, 1), (MS, 1), (MS, 1)], "no time passed"),
            (
                &[(MS, 1), (2 * MS, u64::MAX)],
                "expirations were missed in 2 ms",
            ),
            (
                &[(MS, u64::MAX), (2 * MS, 1)],
                "18446744073709552000 expirations",
            ),
            (
                &[(MS, 1), (1_000_000_000 * MS, 1)],
                "after the one before it",
            ),
        ] {
            let reported = check_result_of_wakeups(reported);
            assert!(reported.contains(words), "{reported}");
        }
        for reported in [
            &[][..],
            &[(MS, 1)],
            &[(0, 1), (0, 1), (5, 1)],
            &[(MS, 1), (10 * MS, 9)],
            &[(9 * MS, 9), (9 * MS + 1, 0)],
        ] {
            assert_eq!(check_result_of_wakeups(reported), "fine");
        }
    }
}
