//! Clocks of this program that are to be had in several ways, read beside each other.

use crate::trace::Beside;

/// Readings of each, idle and beside a busy CPU.
/// *Judgement*: some ten milliseconds.
const READINGS: u32 = 20_000;

/// What was seen of those of these clocks that are known twice, by their ids.
#[must_use]
pub fn beside(ids: &[&str]) -> Vec<(&'static str, Beside)> {
    let reduced = |read: timers::ReadBeside| {
        let kinds = [read.unit_ns, read.lag_ns];
        (read.id, Beside::of(read.within, kinds, read.busy, &read.readings))
    };
    timers::beside(ids, READINGS).into_iter().map(reduced).collect()
}
