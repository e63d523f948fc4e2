//! Checks a reference with the kernel's clocks, from outside its host: an error of its unit scales
//! every time it measures, and no other timer of its host need show it.
//!
//! The response time of the host is no error: the elapsed time lies between a lower and an upper
//! bound that the runner measures, with one clock that is steered and one that is not, because the
//! reference may be either. `HARDWARE_TOLERANCE` is the deviation allowed in addition.
//!
//! A clock that moves only while its host works (CPU time, a simulated world) cannot be compared
//! with any clock outside.

use std::thread;
use std::time::Duration;

use timers::{Answer, Subject};

use crate::text::numbers::time;
use crate::trace::Reference;

/// Time for which the reference is watched.
/// *Judgement*.
const WATCH: Duration = Duration::from_millis(20);
/// Relative deviation allowed for a clock on separate hardware with a declared unit: the kernel
/// corrects a clock by 500 ppm at most (adjtimex(2)), so each of two clocks may be off by that.
/// *Computed*.
const HARDWARE_TOLERANCE: f64 = 1e-3;
/// Relative deviation allowed if the unit was found by watching another clock for 10 ms, at whose
/// ends the thread may have lost its CPU: 200 µs. The campaign finds the remaining error of such a
/// counter (`calibration`). *Computed*.
const ESTIMATED_UNIT_TOLERANCE: f64 = 0.02;
/// Samples at either end; the one that took least time is used.
/// *Judgement*.
const SAMPLES: usize = 5;
/// Attempts: the machine may pause once, or a clock may be set.
const TRIES: u32 = 3;

/// Readings of two kernel clocks, in nanoseconds.
#[derive(Clone, Copy)]
pub(super) struct Moment {
    /// The clock that NTP corrects.
    steered: u64,
    /// The clock that runs at the rate of the hardware.
    raw: u64,
}

/// A reading, and the kernel's clocks before and after it.
struct Look {
    before: Moment,
    reading: i64,
    after: Moment,
}

/// Returns `true` if the timer moves like the kernel's clocks, `false` if it cannot be compared
/// with any clock, and otherwise the reason why its unit is wrong. `declared` says whether the host
/// declared that unit.
///
/// # Errors
/// The errors of the subject.
pub(super) fn keeps_time(
    timer: &mut dyn Subject,
    reference: &Reference,
    declared: bool,
) -> Answer<Result<bool, String>> {
    let slack = if declared {
        HARDWARE_TOLERANCE
    } else {
        ESTIMATED_UNIT_TOLERANCE
    };
    let mut keeps = Ok(true);
    for _ in 0..TRIES {
        let begin = looks(timer)?;
        thread::sleep(WATCH);
        let end = looks(timer)?;
        let (Some(first), Some(last)) = (tightest(&begin), tightest(&end)) else {
            return Ok(Ok(false));
        };
        if stands_still(&begin, &end) {
            return Ok(Ok(false));
        }
        keeps = match judge(first, last, reference, slack) {
            Some(why) => Err(why),
            None => return Ok(Ok(true)),
        };
    }
    Ok(keeps)
}

fn looks(timer: &mut dyn Subject) -> Answer<Vec<Look>> {
    let mut looks = Vec::new();
    for _ in 0..SAMPLES {
        let before = Moment::now();
        let reading = timer.readings(1)?.first().copied();
        let all = before.zip(reading).zip(Moment::now());
        looks.extend(all.map(|((before, reading), after)| Look {
            before,
            reading,
            after,
        }));
    }
    Ok(looks)
}

fn tightest(looks: &[Look]) -> Option<&Look> {
    let took = |look: &&Look| look.after.since(look.before).1;
    looks.iter().min_by(|a, b| took(a).total_cmp(&took(b)))
}

impl Moment {
    pub(super) fn now() -> Option<Self> {
        let steered = timers::kernel_time()?;
        Some(Self {
            steered,
            raw: timers::kernel_raw_time().unwrap_or(steered),
        })
    }

    /// Returns the nanoseconds since an earlier moment: the smaller and the larger value of both
    /// clocks.
    pub(super) fn since(self, earlier: Self) -> (f64, f64) {
        let steered = self.steered.saturating_sub(earlier.steered) as f64;
        let raw = self.raw.saturating_sub(earlier.raw) as f64;
        (steered.min(raw), steered.max(raw))
    }
}

/// Returns whether a pause makes no difference to the timer: it then moves with each read, not with
/// time.
fn stands_still(begin: &[Look], end: &[Look]) -> bool {
    let between =
        |first: &Look, last: &Look| last.reading.wrapping_sub(first.reading).unsigned_abs();
    match (begin, end) {
        ([.., one, last], [next, ..]) => {
            between(last, next) <= between(one, last).saturating_mul(2)
        }
        _ => true,
    }
}

/// Checks the counted time between both readings. The elapsed time is at least that between the end
/// of the first sample and the start of the last, and at most that between the start of the first
/// and the end of the last, however long an answer took.
fn judge(first: &Look, last: &Look, reference: &Reference, slack: f64) -> Option<String> {
    let (least, _) = last.before.since(first.after);
    let (_, most) = last.after.since(first.before);
    let ticks = last.reading.wrapping_sub(first.reading);
    let counted = ticks as f64 * reference.ns_per_tick;
    let step = reference.step_at_most.unwrap_or(reference.step).max(1.0) * reference.ns_per_tick;
    // One step of the reference is tolerated, up to the whole elapsed time.
    let step = step.min(most);
    let (low, high) = (least * (1.0 - slack) - step, most * (1.0 + slack) + step);
    if (low..=high).contains(&counted) {
        return None;
    }
    let [unit, counted, passed] = [
        reference.ns_per_tick,
        counted.max(0.0),
        f64::midpoint(least, most),
    ]
    .map(|ns| time(Some(ns)));
    Some(format!(
        "at {unit} a tick its {ticks} ticks are {counted}, while by the kernel's clock {passed} passed"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Moments of two clocks that differ by 5 %, as if one were slewed.
    fn at(ns: u64) -> Moment {
        Moment {
            steered: ns + ns / 20,
            raw: ns,
        }
    }

    fn judged(ticks: i64, ns_per_tick: f64, step: f64) -> Option<String> {
        let first = Look {
            before: at(0),
            reading: 5,
            after: at(20_000),
        };
        let last = Look {
            before: at(40_000_000),
            reading: 5 + ticks,
            after: at(40_050_000),
        };
        judge(
            &first,
            &last,
            &Reference {
                ns_per_tick,
                step,
                ..Reference::default()
            },
            HARDWARE_TOLERANCE,
        )
    }

    #[test]
    fn checks_unit_against_elapsed_time() {
        assert_eq!(judged(40_000_000, 1.0, 10.0), None);
        assert_eq!(judged(117_000_000, 1.0 / 2.9, 30.0), None);
        assert_eq!(
            judged(42_000_000, 1.0, 10.0),
            None,
            "one that is slewed as well"
        );
        for ticks in [39_900_000, 42_200_000] {
            assert!(
                judged(ticks, 1.0, 10.0).is_some(),
                "{ticks}: more than the answers took is off"
            );
        }
        assert_eq!(judged(3, 15_625_000.0, 1.0), None, "a coarse one");
        for (ticks, ns) in [
            (40_000_000, 1e-3),
            (40_000_000, 1e9),
            (40_000_000, 2.0),
            (-40_000_000, 1.0),
            (0, 1.0),
        ] {
            assert!(judged(ticks, ns, 1.0).is_some(), "{ticks} of {ns}");
        }
        let look = |reading| Look {
            before: at(0),
            reading,
            after: at(0),
        };
        assert!(
            stands_still(&[look(0), look(60)], &[look(121)]),
            "a world of its own"
        );
        assert!(!stands_still(&[look(0), look(90_000)], &[look(40_000_000)]));
        let reported = judged(40_000_000, 1e-3, 1.0).expect("it is false");
        assert!(
            reported.contains("40000000 ticks") && reported.contains("passed"),
            "{reported}"
        );
    }
}
