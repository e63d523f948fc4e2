//! What no wait and no periodic timer can do, whatever host tells of it. A host that tells so is
//! wrong in what else it tells, too: its timer has failed.

use timers::waits::{Expiration, Wait};
use timers::{Answer, Fault};

use crate::text::numbers::short_time;
use crate::trace::Reference;

/// Nanoseconds of a wait that is not believed: a week.
/// *Judgement*.
const LONGEST_NS: f64 = 6e14;
/// A machine that stood still between a reading of the CPU's clock and one of the reference makes a
/// wait seem to compute for longer than it took, by no more than this, in nanoseconds. *Judgement*.
const STANDSTILL_NS: f64 = 1e9;
/// CPU time is reported in ticks of up to 1/64 s, and its readings lie around those of the reference:
/// most waits compute for no more than so many times what they took, and this, in nanoseconds.
/// *Judgement*.
const TICKS: f64 = 2.0;
/// What readings around those of the reference may add to it, in nanoseconds.
/// *Judgement*.
const READINGS_NS: f64 = 1e5;
/// This many waits show what most do.
/// *Judgement*.
const SEVERAL: usize = 5;
/// A period is rounded by less than itself, or the timer does not keep to it at all: no more than
/// this many times the expirations that the time allows, and as many besides, for the ends.
/// *Judgement*.
const ROUNDED: f64 = 2.0;

/// Waits of these lengths, in nanoseconds, as a host reports them.
///
/// # Errors
/// Says what cannot be.
pub(super) fn waits<'a>(
    reported: impl Iterator<Item = (u64, &'a Wait)>,
    reference: &Reference,
    cpus: usize,
) -> Answer<()> {
    let (mut all, mut overdone) = (0, None);
    let mut excessive = 0;
    for (request_ns, wait) in reported {
        let one = One {
            wait,
            reference,
            threads: cpus.max(1) as f64,
        };
        if let Some(why) = one.impossible() {
            return Err(refused(request_ns, &why));
        }
        all += 1;
        if let Some(cpu) = one.computes_for_longer() {
            excessive += 1;
            overdone = Some((request_ns, cpu, one.took_ns()));
        }
    }
    match overdone {
        Some((request_ns, cpu, took)) if excessive >= SEVERAL && 2 * excessive > all => {
            Err(refused(
                request_ns,
                &format!(
                    "most took more of the CPU ({}) than of time ({})",
                    time(cpu),
                    time(took)
                ),
            ))
        }
        _ => Ok(()),
    }
}

fn refused(request_ns: u64, why: &str) -> Fault {
    Fault::Refused(format!(
        "it tells of a wait that cannot be: of {} asked for, {why}",
        time(request_ns as f64)
    ))
}

fn time(ns: f64) -> String {
    if ns < 0.0 {
        format!("-{}", short_time(-ns))
    } else {
        short_time(ns)
    }
}

struct One<'a> {
    wait: &'a Wait,
    reference: &'a Reference,
    /// That may compute at once: some hosts tell the CPU time of all their threads.
    threads: f64,
}

impl One<'_> {
    fn took_ns(&self) -> f64 {
        self.reference.ns(self.wait.before, self.wait.after)
    }

    fn impossible(&self) -> Option<String> {
        let took = self.took_ns();
        if took > LONGEST_NS {
            return Some(format!("it took {}", time(took)));
        }
        if took < -self.reference.uncertainty_ns() {
            return Some(format!("it ended {} before it began", time(-took)));
        }
        let most = self.threads * (took.max(0.0) + STANDSTILL_NS);
        let beyond = |ns: &f64| *ns < 0.0 || *ns > most;
        let of = |ns: Option<i64>| ns.map(|ns| ns as f64).filter(beyond).map(time);
        let computed =
            of(self.wait.cpu_ns).map(|ns| format!("it took {ns} of the CPU in {}", time(took)));
        computed.or_else(|| {
            Some(format!(
                "it was ready to run for {} of {}",
                of(self.wait.run_delay_ns)?,
                time(took)
            ))
        })
    }

    fn computes_for_longer(&self) -> Option<f64> {
        let most = self.threads * (TICKS * self.took_ns().max(0.0) + READINGS_NS);
        self.wait.cpu_ns.map(|ns| ns as f64).filter(|ns| *ns > most)
    }
}

/// What arming and cancelling took, in ticks of the reference.
///
/// # Errors
/// Says what cannot be.
pub(super) fn arms(reported: &[i64], reference: &Reference) -> Answer<()> {
    let ns = |ticks: &i64| *ticks as f64 * reference.ns_per_tick;
    let possible = |ns: f64| (-reference.uncertainty_ns()..=LONGEST_NS).contains(&ns);
    match reported.iter().map(ns).find(|ns| !possible(*ns)) {
        Some(outlier) => Err(Fault::Refused(format!(
            "it tells of arming that cannot be: it took {}",
            time(outlier)
        ))),
        None => Ok(()),
    }
}

/// Wake-ups of a periodic timer, which was started after the reference stood at `from`.
///
/// # Errors
/// Says what cannot be.
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
    if reference.ns(first.at, last.at) <= 0.0 {
        return Err(impossible(&format!(
            "no time passed in {} of them",
            reported.len()
        )));
    }
    let passed = reference.ns(from, last.at);
    let missed: f64 = reported
        .iter()
        .map(|wakeup| wakeup.expirations.saturating_sub(1) as f64)
        .sum();
    if missed > ROUNDED * (passed / period_ns.max(1) as f64 + 1.0) {
        let (period, passed) = (time(period_ns as f64), time(passed));
        return Err(impossible(&format!(
            "{missed} periods of {period} were missed in {passed}"
        )));
    }
    Ok(())
}

/// Whether time goes on from wake-up to wake-up.
///
/// # Errors
/// Says where not.
pub(super) fn in_order(reported: &[Expiration], from: i64, reference: &Reference) -> Answer<()> {
    let mut before = from;
    for wakeup in reported {
        let interval = reference.ns(before, wakeup.at);
        if interval < -reference.uncertainty_ns() {
            return Err(impossible(&format!(
                "one is {} before the one before it",
                time(-interval)
            )));
        }
        if interval > LONGEST_NS {
            return Err(impossible(&format!(
                "one is {} after the one before it",
                time(interval)
            )));
        }
        before = wakeup.at;
    }
    Ok(())
}

fn impossible(why: &str) -> Fault {
    Fault::Refused(format!("it tells of wake-ups that cannot be: {why}"))
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

    /// What is said of waits of 1 ms, each of which took so long, in nanoseconds, with CPU time and
    /// run delay.
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
    fn waits_that_cannot_be() {
        for (wait, words) in [
            ((-200_000, None, None), "it ended 200 µs before it began"),
            (
                (1_000_000, Some(-5), None),
                "it took -5 ns of the CPU in 1 ms",
            ),
            (
                (1_000_000, Some(1_000_000_000_000), None),
                "it took 1000 s of the CPU",
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
        let reported = judged(&[(1_000_000, Some(11_000_000), None); SEVERAL]);
        assert!(
            reported.contains("most took more of the CPU (11 ms) than of time (1 ms)"),
            "{reported}"
        );
    }

    #[test]
    fn waits_that_can_be() {
        // Within the step of the reference; a clock of the CPU that ticks; two threads at once; a
        // machine that stood still.
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

    /// What is said of wake-ups with a period of 1 ms, in nanoseconds after `from`.
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
    fn wakeups_that_cannot_be() {
        const MS: i64 = 1_000_000;
        for (reported, words) in [
            (
                &[(MS, 1), (3 * MS, 1), (2 * MS, 1)][..],
                "one is 1 ms before the one before it",
            ),
            (&[(-MS, 1), (MS, 1)], "one is 1 ms before"),
            (&[(MS, 1), (MS, 1), (MS, 1)], "no time passed in 3 of them"),
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
