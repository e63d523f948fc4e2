//! A reference held against the kernel's clock from outside: all that it times is wrong by the factor that its unit is, and no
//! other timer of its host need tell.
//!
//! A clock that moves only while its host works (CPU time, a simulated world) cannot be held against any clock outside.

use std::thread;
use std::time::Duration;

use timers::{Answer, Subject};

use crate::text::numbers::time;
use crate::trace::Reference;

/// How long it is watched.
const WATCH: Duration = Duration::from_millis(40);
/// As much more or less than the kernel's clock it may count: far beyond what any oscillator is off by, or is slewed by.
const SLACK: f64 = 0.02;
/// A machine may stand still once, or a clock be set.
const TRIES: u32 = 3;

/// A reading, and the kernel's clock before and after it.
struct Look {
    before: u64,
    reading: i64,
    after: u64,
}

/// What is wrong with its unit, if anything is. Without a clock outside nothing is.
///
/// # Errors
/// As the subject.
pub(super) fn objection(timer: &mut dyn Subject, reference: &Reference) -> Answer<Option<String>> {
    let mut objection = None;
    for _ in 0..TRIES {
        let (Some(before), Some(first)) = (look(timer)?, look(timer)?) else { return Ok(None) };
        thread::sleep(WATCH);
        let Some(last) = look(timer)? else { return Ok(None) };
        if stands_still(&before, &first, &last) {
            return Ok(None);
        }
        objection = judge(&first, &last, reference);
        if objection.is_none() {
            break;
        }
    }
    Ok(objection)
}

fn look(timer: &mut dyn Subject) -> Answer<Option<Look>> {
    let before = timers::kernel_time();
    let reading = timer.readings(1)?.first().copied();
    let after = timers::kernel_time();
    Ok(before.zip(reading).zip(after).map(|((before, reading), after)| Look { before, reading, after }))
}

/// Whether a pause makes no difference to it: it moves as it is asked, and not as time passes.
fn stands_still(before: &Look, first: &Look, last: &Look) -> bool {
    let asked = first.reading.wrapping_sub(before.reading).unsigned_abs();
    let paused = last.reading.wrapping_sub(first.reading).unsigned_abs();
    paused <= asked.saturating_mul(2)
}

/// Between both readings at least as much time passed as between the end of the first look and the begin of the last, and at
/// most as much as between the begin of the first and the end of the last: however long an answer took.
fn judge(first: &Look, last: &Look, reference: &Reference) -> Option<String> {
    let least = last.before.saturating_sub(first.after) as f64;
    let most = last.after.saturating_sub(first.before) as f64;
    let ticks = last.reading.wrapping_sub(first.reading);
    let counted = ticks as f64 * reference.ns_per_tick;
    let step = reference.step_at_most.unwrap_or(reference.step).max(1.0) * reference.ns_per_tick;
    // A step of its own says nothing, but one that is longer than all that passed does.
    let step = step.min(most);
    let (low, high) = (least * (1.0 - SLACK) - step, most * (1.0 + SLACK) + step);
    if (low..=high).contains(&counted) {
        return None;
    }
    let unit = time(Some(reference.ns_per_tick));
    let passed = time(Some(f64::midpoint(least, most)));
    Some(format!(
        "at {unit} a tick its {ticks} ticks are {counted}, while by the kernel's clock {passed} passed",
        counted = if counted > 0.0 { time(Some(counted)) } else { "no time".into() },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(ticks: i64, ns_per_tick: f64, step: f64) -> Option<String> {
        let first = Look { before: 1_000_000, reading: 5, after: 1_400_000 };
        let last = Look { before: 41_000_000, reading: 5 + ticks, after: 42_000_000 };
        judge(&first, &last, &Reference { ns_per_tick, step, ..Reference::default() })
    }

    #[test]
    fn a_unit_is_held_against_what_passed() {
        assert_eq!(judged(40_000_000, 1.0, 10.0), None);
        assert_eq!(judged(118_000_000, 1.0 / 2.9, 30.0), None);
        assert_eq!(judged(3, 15_625_000.0, 1.0), None, "a coarse one");
        for (ticks, ns) in
            [(40_000_000, 1e-3), (40_000_000, 1e9), (40_000_000, 2.0), (-40_000_000, 1.0), (0, 1.0)]
        {
            assert!(judged(ticks, ns, 1.0).is_some(), "{ticks} of {ns}");
        }
        let look = |reading| Look { before: 0, reading, after: 0 };
        assert!(stands_still(&look(0), &look(60), &look(121)), "a world of its own");
        assert!(!stands_still(&look(0), &look(90_000), &look(40_000_000)));
        let told = judged(40_000_000, 1e-3, 1.0).expect("it is false");
        assert!(told.contains("40000000 ticks") && told.contains("passed"), "{told}");
    }
}
