//! Checks whether the waits and wake-ups that a host reports are physically possible.

use timers::waits::Expiration;
use timers::{Answer, Fault};

use crate::text::numbers::short_time;
use crate::trace::{Reference, Wait};

/// Longest plausible wait, in nanoseconds: about a week.
/// *Judgement*: longer than any measurement.
const LONGEST_NS: f64 = 6e14;
/// Largest ratio of missed periods to the number of periods in the elapsed time plus one. It is
/// above 1 because a timer may round its period, by less than the period itself.
/// *Judgement*.
const MAX_MISSED_RATIO: f64 = 2.0;

/// Checks reported waits. Waits that end before they begin are possible, because the reference may step
/// back, unless most of them do.
///
/// # Errors
/// Describes the first impossible value.
pub(super) fn check_waits(reported: &[Wait], reference: &Reference) -> Answer<()> {
    let ends_first = |wait: &&Wait| reference.steps_back(wait.before, wait.after);
    let is_possible = are_steps_back(reported.iter().filter(ends_first).count(), reported.len());
    let objection = |wait: &Wait| {
        let duration_ns = reference.ns(wait.before, wait.after);
        if duration_ns > LONGEST_NS {
            Some(format!("it took {}", time(duration_ns)))
        } else if duration_ns < -LONGEST_NS || (ends_first(&wait) && !is_possible) {
            Some(format!("it ended {} before it began", time(-duration_ns)))
        } else {
            let cpu_ns = wait.cpu_ns? as f64;
            let is_impossible = !(0.0..=LONGEST_NS).contains(&cpu_ns);
            is_impossible.then(|| format!("it ran for {}", time(cpu_ns)))
        }
    };
    let found = reported
        .iter()
        .find_map(|wait| Some((wait, objection(wait)?)));
    let Some((wait, why)) = found else {
        return Ok(());
    };
    let requested = time(wait.request_ns as f64);
    Err(impossible(
        "a wait",
        &format!("{requested} requested, but {why}"),
    ))
}

/// Returns whether so few of the intervals are negative that a clock that steps back explains them,
/// because it steps forward in between.
fn are_steps_back(negative: usize, all: usize) -> bool {
    2 * negative <= all + 1 && negative < all
}

/// Returns the error for a report of something impossible.
fn impossible(reported: &str, why: &str) -> Fault {
    Fault::Refused(format!(
        "the host reports {reported} that is impossible: {why}"
    ))
}

/// Formats a time in nanoseconds, which may be negative.
fn time(ns: f64) -> String {
    let sign = if ns < 0.0 { "-" } else { "" };
    format!("{sign}{}", short_time(ns.abs()))
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
    check_order(reported, from, reference)?;
    let [first, .., last] = reported else {
        return Ok(());
    };
    let passed = time(reference.ns(from, last.at));
    if reference.ns(first.at, last.at) <= 0.0 {
        return Err(impossible(
            "a series of wake-ups",
            "no time passed from the first to the last",
        ));
    }
    let missed: f64 = reported
        .iter()
        .map(|wakeup| wakeup.expirations.saturating_sub(1) as f64)
        .sum();
    if missed > MAX_MISSED_RATIO * (reference.ns(from, last.at) / period_ns.max(1) as f64 + 1.0) {
        let period = time(period_ns as f64);
        let why = format!("{missed} periods of {period} were missed in {passed}");
        return Err(impossible("a series of wake-ups", &why));
    }
    Ok(())
}

/// Checks that the reference advances from wake-up to wake-up, starting from the reading `from`.
///
/// # Errors
/// Describes the first wake-up out of order.
pub(super) fn check_order(reported: &[Expiration], from: i64, reference: &Reference) -> Answer<()> {
    let mut before = from;
    for wakeup in reported {
        let interval = reference.ns(before, wakeup.at);
        let why = format!("it is {} after the wake-up before it", time(interval));
        if interval.abs() > LONGEST_NS {
            return Err(impossible("a wake-up", &why));
        }
        if reference.steps_back(before, wakeup.at) {
            return Err(Fault::Refused(format!(
                "the clock that times it, {}, steps back: a wake-up is impossible: {why}",
                reference.id
            )));
        }
        before = wakeup.at;
    }
    Ok(())
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
            ((-200_000, None), "it ended 200 µs before it began"),
            ((1_000_000, Some(-5)), "it ran for -5 ns"),
            ((1_000_000, Some(i64::MAX)), "it ran for 9"),
            ((i64::MAX, None), "it took 9"),
        ] {
            let reported = check_result_of_waits(&[wait]);
            assert!(
                reported.contains("1 ms requested") && reported.contains(words),
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
        assert!(reported.contains("before it began"), "{reported}");
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
        let blamed = check_result_of_wakeups(&[(MS, 1), (3 * MS, 1), (2 * MS, 1)]);
        assert!(blamed.contains("clock that times it"), "{blamed}");
        for (reported, words) in [
            (
                &[(MS, 1), (3 * MS, 1), (2 * MS, 1)][..],
                "it is -1 ms after the wake-up before it",
            ),
            (&[(-MS, 1), (MS, 1)], "it is -1 ms after"),
            (&[(MS, 1), (MS, 1), (MS, 1)], "no time passed"),
            (
                &[(MS, 1), (2 * MS, u64::MAX)],
                "periods of 1 ms were missed in 2 ms",
            ),
            (
                &[(MS, u64::MAX), (2 * MS, 1)],
                "18446744073709552000 periods",
            ),
            (
                &[(MS, 1), (1_000_000_000 * MS, 1)],
                "after the wake-up before it",
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
