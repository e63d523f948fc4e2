//! Clocks that are to be had in several ways, read between two readings of the same clock in the
//! usual way.
//!
//! What ticks: one clock of the kernel. How it lies: the vDSO, the kernel and libc each scale the
//! same counter by numbers of their own, and may do so at different moments: a reading of one way
//! may lie before an earlier one of another.

use crate::posix::{
    Boottime, BoottimeSyscall, Gettimeofday, Monotonic, MonotonicCoarse, MonotonicCoarseSyscall,
    MonotonicRaw, MonotonicRawSyscall, MonotonicSyscall, Realtime, RealtimeCoarse,
    RealtimeCoarseSyscall, RealtimeSyscall, Time,
};
use crate::{Busy, Timer, allowed_cpus, arch};

/// A clock that was read between two readings of another.
#[derive(Clone, Debug, PartialEq)]
pub struct PairedReads {
    /// Its id.
    pub id: &'static str,
    /// The id of the other.
    pub within: &'static str,
    /// Nanoseconds in its unit: what a reading is cut off by at most.
    pub unit_ns: i64,
    /// By how much it may lag besides, by what it declares: what only the timer interrupt moves.
    pub lag_ns: i64,
    /// Whether another CPU was busy meanwhile.
    pub busy: bool,
    /// The other, this one, the other, in nanoseconds.
    pub readings: Vec<[i64; 3]>,
}

macro_rules! beside {
    ($ids:expr, $count:expr, $busy:expr; $($clock:ident in $within:ident),* $(,)?) => {
        [$($ids.contains(&$clock::INFO.id).then(|| read::<$within, $clock>($count, $busy)).flatten()),*]
            .into_iter()
            .flatten()
    };
}

/// Reads those of these clocks that are known in another way, so often each: while nothing else of
/// this program runs, and while another CPU is busy, where there is one.
#[must_use]
pub fn beside(ids: &[&str], count: u32) -> Vec<PairedReads> {
    let mut all: Vec<PairedReads> = read_all(ids, count, false).collect();
    let cpus = allowed_cpus().unwrap_or_default();
    let here = crate::affinity::current_cpu();
    let other = cpus.into_iter().rev().find(|&cpu| Some(cpu) != here);
    if let Some(_busy) = other.and_then(|cpu| Busy::on(cpu).ok()) {
        all.extend(read_all(ids, count, true));
    }
    all
}

fn read_all(ids: &[&str], count: u32, busy: bool) -> impl Iterator<Item = PairedReads> {
    beside! {
        ids, count, busy;
        MonotonicSyscall in Monotonic, MonotonicRawSyscall in MonotonicRaw, BoottimeSyscall in Boottime,
        RealtimeSyscall in Realtime, MonotonicCoarse in Monotonic, MonotonicCoarseSyscall in Monotonic,
        RealtimeCoarse in Realtime, RealtimeCoarseSyscall in Realtime, Gettimeofday in Realtime, Time in Realtime,
    }
}

/// `None` where either cannot be read, or has another unit than nanoseconds that are whole.
fn read<R: Timer, T: Timer>(count: u32, busy: bool) -> Option<PairedReads> {
    let (within, clock) = (R::open().ok()?, T::open().ok()?);
    let unit = |ns: Option<f64>| {
        ns.filter(|ns| *ns >= 1.0 && ns.fract() == 0.0)
            .map(|ns| ns as i64)
    };
    let (unit_within, unit_ns) = (unit(R::ns_per_tick())?, unit(T::ns_per_tick())?);
    let lag_ns = match T::declared_resolution() {
        Some(ns) if ns > unit_ns as f64 => ns as i64,
        _ => 0,
    };
    // Of `time` no resolution is declared: it is the coarse clock, in seconds.
    let lag_ns = if T::INFO.id == Time::INFO.id {
        RealtimeCoarse::declared_resolution().unwrap_or(0.0) as i64
    } else {
        lag_ns
    };
    let readings = read_between(&within, &clock, count);
    let ns = |before: R::Reading, own: T::Reading, after: R::Reading| {
        let [before, after] = [before, after].map(|reading| within.ticks(reading).0 as i64);
        [
            before.wrapping_mul(unit_within),
            (clock.ticks(own).0 as i64).wrapping_mul(unit_ns),
            after.wrapping_mul(unit_within),
        ]
    };
    let readings = readings
        .into_iter()
        .map(|(before, own, after)| ns(before, own, after))
        .collect();
    Some(PairedReads {
        id: T::INFO.id,
        within: R::INFO.id,
        unit_ns,
        lag_ns,
        busy,
        readings,
    })
}

#[inline(never)]
fn read_between<R: Timer, T: Timer>(
    within: &R,
    clock: &T,
    count: u32,
) -> Vec<(R::Reading, T::Reading, R::Reading)> {
    let mut all = vec![(within.read(), clock.read(), within.read()); count as usize];
    for readings in &mut all {
        *readings = (
            arch::afresh(within).read(),
            arch::afresh(clock).read(),
            arch::afresh(within).read(),
        );
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_twice_is_not_read() {
        assert_eq!(beside(&["rdtsc", "no such clock"], 5), []);
    }

    #[test]
    fn readings_of_the_outer_clock_do_not_go_back() {
        for read in beside(&["monotonic-syscall", "monotonic-coarse"], 50) {
            assert_eq!((read.within, read.readings.len()), ("monotonic", 50));
            assert!(
                read.readings
                    .iter()
                    .all(|[before, _, after]| before <= after),
                "{read:?}"
            );
        }
    }
}
