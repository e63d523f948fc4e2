//! Runs a periodic timer in one process, with stalls between its wake-ups.

use timers::waits::{Expiration, WaitSubject};
use timers::{Answer, Fault};

use super::plan::FEWEST_WAKEUPS;
use super::possible;
use crate::trace::{PeriodRun, Reference};

/// Returns the wake-ups of a periodic timer, with the indices of the stalls.
///
/// # Errors
/// The errors of the subject.
pub fn tick(
    timer: &mut dyn WaitSubject,
    reference: &Reference,
    period_ns: u64,
    ticking_ns: f64,
) -> Answer<PeriodRun> {
    // Finds the actual period: loops of waits are slower than requested.
    let first = timer.periods(&reference.id, period_ns, SAMPLED_WAKEUPS, &[])?;
    let [began, .., from] = first.as_slice() else {
        return Err(Fault::Refused("it reported no wake-ups".into()));
    };
    possible::in_order(&first, began.at, reference)?;
    let ends = from.at.wrapping_sub(began.at);
    let each = (ends as f64 * reference.ns_per_tick / f64::from(SAMPLED_WAKEUPS - 1))
        .max(period_ns as f64);
    let count = ((ticking_ns / each) as u32).clamp(FEWEST_WAKEUPS, MOST_WAKEUPS);
    // Stalls start after the first third, so that the grid is known by then. They are far enough
    // from each other and from the end for the grid to become visible again.
    let distance = (count / (3 * STALLS)).max(STALL_WAKEUPS);
    let stalls: Vec<u32> = (0..STALLS)
        .map(|number| count / 3 + number * 2 * distance)
        .filter(|stall| stall + STALL_WAKEUPS < count)
        .collect();
    let expirations = timer.periods(&reference.id, period_ns, count, &stalls)?;
    possible::wakeups(&expirations, from.at, period_ns, reference)?;
    let wakeups = expirations
        .into_iter()
        .map(|Expiration { at, expirations }| (at, expirations))
        .collect();
    Ok(PeriodRun { wakeups, stalls })
}

/// Wake-ups that measure the actual period.
const SAMPLED_WAKEUPS: u32 = 6;
const MOST_WAKEUPS: u32 = 100_000;
/// Stalls in a process.
const STALLS: u32 = 3;
/// Wake-ups after a stall until the grid is visible again.
const STALL_WAKEUPS: u32 = 8;
