//! Clocks that are to be had in several ways, read between two readings of the same clock in the
//! usual way.
//!
//! What ticks: one clock of the kernel. How it lies: the vDSO, the kernel and libc each scale the
//! same counter by numbers of their own, and may do so at different moments: a reading of one way
//! may lie before an earlier one of another.

use crate::os::posix;
use crate::{Busy, allowed_cpus};

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

/// Reads those of these clocks that are known in another way, so often each: while nothing else of
/// this program runs, and while another CPU is busy, where there is one.
#[must_use]
pub fn paired_reads(ids: &[&str], count: u32) -> Vec<PairedReads> {
    let mut all = posix::paired_reads(ids, count, false);
    let cpus = allowed_cpus().unwrap_or_default();
    let here = crate::affinity::current_cpu();
    let other = cpus.into_iter().rev().find(|&cpu| Some(cpu) != here);
    if let Some(_busy) = other.and_then(|cpu| Busy::on(cpu).ok()) {
        all.extend(posix::paired_reads(ids, count, true));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skips_clocks_known_once() {
        assert_eq!(paired_reads(&["rdtsc", "no such clock"], 5), []);
    }

    #[test]
    fn outer_clock_never_steps_back() {
        for read in paired_reads(&["monotonic-syscall", "monotonic-coarse"], 50) {
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
