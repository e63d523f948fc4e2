//! Runs a periodic timer in one process.

use timers::waits::{Expiration, Wakeups};
use timers::{Answer, Fault, Subject};

use super::possible;
use crate::campaign::sampling::MIN_WAKEUPS;
use crate::trace::{PeriodRun, Reference};

/// Runs a timer with this period for about `ticking_ns` nanoseconds. Returns its wake-ups.
///
/// # Errors
/// The errors of the subject.
pub fn run_periodic_timer(
    timer: &mut dyn Subject,
    reference: &Reference,
    period_ns: u64,
    ticking_ns: f64,
) -> Answer<PeriodRun> {
    // The actual period is measured first, because periods that are made of single waits are longer
    // than requested.
    let sample = timer
        .periods(&reference.id, period_ns, SAMPLED_WAKEUPS)?
        .list;
    let [first, .., last] = sample.as_slice() else {
        return Err(Fault::Refused("the host reported no wake-ups".into()));
    };
    possible::check_order(&sample, first.at, reference)?;
    let ticks = last.at.wrapping_sub(first.at);
    let actual_period_ns = (ticks as f64 * reference.ns_per_tick / f64::from(SAMPLED_WAKEUPS - 1))
        .max(period_ns as f64);
    let count = ((ticking_ns / actual_period_ns) as u32).clamp(MIN_WAKEUPS, MAX_WAKEUPS);
    let Wakeups { start, list } = timer.periods(&reference.id, period_ns, count)?;
    possible::check_wakeups(&list, last.at, period_ns, reference)?;
    let wakeups = list
        .into_iter()
        .map(|Expiration { at, expirations }| (at, expirations))
        .collect();
    Ok(PeriodRun {
        wakeups,
        start,
        ..PeriodRun::default()
    })
}

/// Number of wake-ups from which the actual period is measured.
const SAMPLED_WAKEUPS: u32 = 6;
/// Largest number of wake-ups in a process.
const MAX_WAKEUPS: u32 = 100_000;
