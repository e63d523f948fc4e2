//! Compares two ways to read the same clock of this program, such as with and without a system
//! call.

use std::time::Duration;

use crate::campaign::sampling::CampaignPlan;
use crate::trace::OtherPath;

/// Each comparison takes the readings of the order test (`Plan::order_readings`) divided by this
/// number; there is one comparison on an idle machine and one next to a busy thread.
/// *Judgement*: some ten milliseconds of a default run.
const READINGS_DIVISOR: u32 = 10;

/// Compares the two ways for each of the given timers whose clock can be read in two ways. Returns
/// the id of the timer with each comparison.
#[must_use]
pub fn compare_paths(ids: &[&str], plan: &CampaignPlan) -> Vec<(&'static str, OtherPath)> {
    let compare = |read: timers::PairedReads| {
        let bounds_ns = [read.unit_ns, read.lag_ns];
        (
            read.id,
            OtherPath::from_readings(read.within, bounds_ns, read.busy, &read.readings),
        )
    };
    timers::paired_reads(ids, plan.order_readings / READINGS_DIVISOR)
        .into_iter()
        .map(compare)
        .collect()
}

/// Clocks that the C library reads, and their system calls, which no preloaded library distorts.
const BY_LIBRARY: [[&str; 2]; 2] = [
    ["monotonic", "monotonic-syscall"],
    ["realtime", "realtime-syscall"],
];

/// Compares clocks as the C library reads them with their system calls. Returns the id of the clock
/// that differs most, after the number of nanoseconds by which its reading lies outside those of
/// the system call around it; at most 0 if none differs. `None` if no such clock can be compared.
#[must_use]
pub fn compare_with_syscalls() -> Option<(i64, &'static str)> {
    /// Time in which a clock with a false rate goes astray, from the start of the process on.
    /// *Judgement*: one that is 0.1 % fast is then 100 µs ahead.
    const PAUSE: Duration = Duration::from_millis(100);
    let read = |id| Some((timers::find(id)?.open)().ok()?.readings(1).ok()?[0]);
    let outside = |[id, call]: [&'static str; 2]| {
        let [before, own, after] = [read(call)?, read(id)?, read(call)?];
        Some((
            own.saturating_sub(after).max(before.saturating_sub(own)),
            id,
        ))
    };
    timers::pause(PAUSE);
    BY_LIBRARY.into_iter().filter_map(outside).max()
}
