//! Checks whether the waits and wake-ups that a host reports are possible.

use timers::waits::{Expiration, Wait};
use timers::{Answer, Fault};

use crate::text::numbers::short_time;
use crate::trace::Reference;

/// Longest plausible wait, in nanoseconds: a week.
/// *Judgement*.
const LONGEST_NS: f64 = 6e14;
/// Longest pause of a machine, in nanoseconds. A pause between reading the CPU clock and reading
/// the reference makes a wait seem to compute for longer than it took. *Judgement*.
const STANDSTILL_NS: f64 = 1e9;
/// Factor by which the CPU time of most waits may exceed their duration, in addition to
/// `READINGS_NS`: CPU time is reported in ticks of up to 1/64 s, and is read before and after the
/// reference.
/// *Judgement*.
const MAX_CPU_TIME_RATIO: f64 = 2.0;
/// CPU time that readings before and after those of the reference may add, in nanoseconds.
/// *Judgement*.
const READINGS_NS: f64 = 1e5;
/// Excessive waits from which a majority is significant.
/// *Judgement*.
const MIN_EXCESSIVE_WAITS: usize = 5;
/// Factor for missed periods relative to the expirations that fit into the elapsed time plus one: a
/// period is rounded by less than itself, or the timer does not keep to it at all.
/// *Judgement*.
const MAX_MISSED_RATIO: f64 = 2.0;

/// Checks reported waits, each with its requested length in nanoseconds. `cpus` is the number of
/// CPUs that all threads of the host may use, because some hosts report the CPU time of all their
/// threads.
///
/// # Errors
/// Describes the first impossible value.
pub(super) fn waits<'a>(
    reported: impl Iterator<Item = (u64, &'a Wait)>,
    reference: &Reference,
    cpus: usize,
) -> Answer<()> {
    let threads = cpus.max(1) as f64;
    let (mut all, mut excessive) = (0, 0);
    for (request_ns, wait) in reported {
        let took = reference.ns(wait.before, wait.after);
        let most = threads * (took.max(0.0) + STANDSTILL_NS);
        let beyond = |ns: Option<i64>, what: &str| {
            let ns = ns.map(|ns| ns as f64);
            ns.filter(|ns| !(0.0..=most).contains(ns))
                .map(|ns| format!("it {what} {} of {}", time(ns), time(took)))
        };
        let objection = if took > LONGEST_NS {
            Some(format!("it took {}", time(took)))
        } else if took < -reference.uncertainty_ns() {
            Some(format!("it ended {} before it began", time(-took)))
        } else {
            beyond(wait.cpu_ns, "computed for")
                .or_else(|| beyond(wait.run_delay_ns, "was ready to run for"))
        };
        if let Some(objection) = objection {
            let asked = time(request_ns as f64);
            return Err(impossible(
                "a wait",
                &format!("of {asked} asked for, {objection}"),
            ));
        }
        all += 1;
        let usual = threads * (MAX_CPU_TIME_RATIO * took.max(0.0) + READINGS_NS);
        excessive += usize::from(wait.cpu_ns.is_some_and(|ns| ns as f64 > usual));
    }
    if excessive >= MIN_EXCESSIVE_WAITS && 2 * excessive > all {
        return Err(impossible(
            "a wait",
            "most computed for longer than they took",
        ));
    }
    Ok(())
}

fn impossible(what: &str, why: &str) -> Fault {
    Fault::Refused(format!("it reports {what} that cannot be: {why}"))
}

fn time(ns: f64) -> String {
    let sign = if ns < 0.0 { "-" } else { "" };
    format!("{sign}{}", short_time(ns.abs()))
}

/// Checks the durations of arming and cancelling, in ticks of the reference.
///
/// # Errors
/// Describes the first impossible value.
pub(super) fn arms(reported: &[i64], reference: &Reference) -> Answer<()> {
    let possible = -reference.uncertainty_ns()..=LONGEST_NS;
    let mut all = reported.iter().map(|&ticks| reference.ns(0, ticks));
    match all.find(|ns| !possible.contains(ns)) {
        Some(ns) => Err(impossible("arming", &time(ns))),
        None => Ok(()),
    }
}

/// Checks wake-ups of a periodic timer that was started after the reference read `from`.
///
/// # Errors
/// Describes the first impossible value.
pub(super) fn wakeups(
    reported: &[Expiration],
    from: i64,
    period_ns: u64,
    reference: &Reference,
) -> Answer<()> {
    in_order(reported, from, reference)?;
    let [first, .., last] = reported else {
        return Ok(());
    };
    let passed = time(reference.ns(from, last.at));
    if reference.ns(first.at, last.at) <= 0.0 {
        return Err(impossible("wake-ups", "no time passed in all of them"));
    }
    let missed: f64 = reported
        .iter()
        .map(|wakeup| wakeup.expirations.saturating_sub(1) as f64)
        .sum();
    if missed > MAX_MISSED_RATIO * (reference.ns(from, last.at) / period_ns.max(1) as f64 + 1.0) {
        let period = time(period_ns as f64);
        let why = format!("{missed} periods of {period} were missed in {passed}");
        return Err(impossible("wake-ups", &why));
    }
    Ok(())
}

/// Checks that time advances from wake-up to wake-up.
///
/// # Errors
/// Describes the first wake-up out of order.
pub(super) fn in_order(reported: &[Expiration], from: i64, reference: &Reference) -> Answer<()> {
    let possible = -reference.uncertainty_ns()..=LONGEST_NS;
    let mut before = from;
    for wakeup in reported {
        let interval = reference.ns(before, wakeup.at);
        if !possible.contains(&interval) {
            let why = format!("one is {} after the one before it", time(interval));
            return Err(impossible("wake-ups", &why));
        }
        before = wakeup.at;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Reference = Reference {
        id: String::new(),
        family: None,
        keeps_time: false,
        ns_per_tick: 1.0,
        step: 10.0,
        step_at_most: None,
        ns_per_work: 1.0,
        rate_uncertainty: 0.0,
        strayed_ns: 0.0,
    };

    /// Checks waits of 1 ms, given as duration, CPU time and run delay in nanoseconds, and returns
    /// the objection.
    fn judged(all: &[(i64, Option<i64>, Option<i64>)]) -> String {
        let reported: Vec<Wait> = all
            .iter()
            .map(|&(took, cpu_ns, run_delay_ns)| Wait {
                before: i64::MAX,
                after: i64::MAX.wrapping_add(took),
                cpu_ns,
                run_delay_ns,
            })
            .collect();
        waits(reported.iter().map(|wait| (1_000_000, wait)), &TICK, 2)
            .map_or_else(|fault| fault.to_string(), |()| "fine".into())
    }

    #[test]
    fn rejects_impossible_waits() {
        for (wait, words) in [
            ((-200_000, None, None), "it ended 200 µs before it began"),
            ((1_000_000, Some(-5), None), "it computed for -5 ns of 1 ms"),
            (
                (1_000_000, Some(1_000_000_000_000), None),
                "it computed for 1000 s",
            ),
            (
                (1_000_000, Some(1), Some(-1)),
                "it was ready to run for -1 ns of 1 ms",
            ),
            ((1_000_000, None, Some(i64::MAX)), "it was ready to run for"),
            ((i64::MAX, None, None), "it took 9"),
        ] {
            let reported = judged(&[wait]);
            assert!(
                reported.contains("of 1 ms asked for") && reported.contains(words),
                "{reported}"
            );
        }
        let reported = judged(&[(1_000_000, Some(11_000_000), None); MIN_EXCESSIVE_WAITS]);
        assert!(
            reported.contains("most computed for longer than they took"),
            "{reported}"
        );
    }

    #[test]
    fn accepts_unusual_waits() {
        // Within the step of the reference; a CPU clock that ticks; two threads on two CPUs, and a
        // machine that paused.
        for outlier in [
            (-10, None, None),
            (1_000_000, Some(15_625_000), None),
            (0, Some(900_000_000), Some(900_000_000)),
        ] {
            let mut all = [(1_000_000, Some(1_900_000), Some(1_000_000)); 9];
            all[..4].fill(outlier);
            assert_eq!(judged(&all), "fine");
        }
        assert_eq!(judged(&[]), "fine");
    }

    /// Checks wake-ups with a period of 1 ms, given in nanoseconds after `from`, and returns the
    /// objection.
    fn ticked(reported: &[(i64, u64)]) -> String {
        let reported: Vec<Expiration> = reported
            .iter()
            .map(|&(at, expirations)| Expiration {
                at: at - 7,
                expirations,
            })
            .collect();
        wakeups(&reported, -7, 1_000_000, &TICK)
            .map_or_else(|fault| fault.to_string(), |()| "fine".into())
    }

    #[test]
    fn rejects_impossible_wakeups() {
        const MS: i64 = 1_000_000;
        for (reported, words) in [
            (
                &[(MS, 1), (3 * MS, 1), (2 * MS, 1)][..],
                "one is -1 ms after the one before it",
            ),
            (&[(-MS, 1), (MS, 1)], "one is -1 ms after"),
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
                "after the one before it",
            ),
        ] {
            let reported = ticked(reported);
            assert!(reported.contains(words), "{reported}");
        }
        for reported in [
            &[][..],
            &[(MS, 1)],
            &[(0, 1), (0, 1), (5, 1)],
            &[(MS, 1), (10 * MS, 9)],
            &[(9 * MS, 9), (9 * MS + 1, 0)],
        ] {
            assert_eq!(ticked(reported), "fine");
        }
    }
}
