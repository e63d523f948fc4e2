//! A reference held against the kernel's clocks from outside: all that it times is wrong by the
//! factor that its unit is, and no other timer of its host need tell.
//!
//! How long the answers of the host take is no error: the time that passed lies between what the
//! runner saw at least and at most, by one clock that is steered and one that is not, since the
//! reference may be either. What else it may be off by is `HARDWARE`.
//!
//! A clock that moves only while its host works (CPU time, a simulated world) cannot be held
//! against any clock outside.

use std::thread;
use std::time::Duration;

use timers::{Answer, Subject};

use crate::text::numbers::time;
use crate::trace::Reference;

/// How long it is watched.
/// *Judgement*.
const WATCH: Duration = Duration::from_millis(20);
/// As much more or less a clock may count that runs on hardware of its own, at the unit that it
/// declares: the kernel corrects a clock by 500 ppm at most (adjtimex(2)), so each of two may be
/// off by that. *Computed*.
const HARDWARE: f64 = 1e-3;
/// The same where the unit is not declared and was found by watching another clock for 10 ms, at
/// whose ends the thread may have lost its CPU: 200 µs. What such a counter is off by the campaign
/// finds (`calibration`). *Computed*.
const FOUND: f64 = 0.02;
/// Looks at either end, of which the one counts that took least.
/// *Judgement*.
const LOOKS: usize = 5;
/// A machine may stand still once, or a clock be set.
const TRIES: u32 = 3;

/// The kernel's clocks.
#[derive(Clone, Copy)]
pub(super) struct Moment {
    /// As NTP corrects it.
    steered: u64,
    /// As the hardware runs.
    raw: u64,
}

/// A reading, and the kernel's clocks before and after it.
struct Look {
    before: Moment,
    reading: i64,
    after: Moment,
}

/// Whether it moves as the kernel's clocks do, or cannot be compared with any clock; else what is
/// wrong with its unit, which the host declared or another clock found.
///
/// # Errors
/// As the subject.
pub(super) fn keeps_time(
    timer: &mut dyn Subject,
    reference: &Reference,
    declared: bool,
) -> Answer<Result<bool, String>> {
    let slack = if declared { HARDWARE } else { FOUND };
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
    for _ in 0..LOOKS {
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

    /// Nanoseconds since an earlier one: the fewer and the more of both clocks.
    pub(super) fn since(self, earlier: Self) -> (f64, f64) {
        let steered = self.steered.saturating_sub(earlier.steered) as f64;
        let raw = self.raw.saturating_sub(earlier.raw) as f64;
        (steered.min(raw), steered.max(raw))
    }
}

/// Whether a pause makes no difference to it: it moves as it is asked, and not as time passes.
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

/// Between both readings at least as much time passed as between the end of the first look and the
/// begin of the last, and at most as much as between the begin of the first and the end of the
/// last: however long an answer took.
fn judge(first: &Look, last: &Look, reference: &Reference, slack: f64) -> Option<String> {
    let (least, _) = last.before.since(first.after);
    let (_, most) = last.after.since(first.before);
    let ticks = last.reading.wrapping_sub(first.reading);
    let counted = ticks as f64 * reference.ns_per_tick;
    let step = reference.step_at_most.unwrap_or(reference.step).max(1.0) * reference.ns_per_tick;
    // A step of its own says nothing, but one that is longer than all that passed does.
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

    /// Both clocks at the same, and nearly the same after 40 ms: one of them is slewed by 5 %.
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
            HARDWARE,
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
