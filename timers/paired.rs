//! Reads one clock in two ways, for example by libc and by the system call, to find out whether
//! both ways agree.
//!
//! What ticks: one clock of the kernel. How it lies: the vDSO, the kernel and libc each scale the
//! same counter, with factors that may be updated at different times. A later reading in one way
//! may therefore be less than an earlier reading in another way.

use crate::os::posix;
use crate::{BusyThread, allowed_cpus};

/// Readings of a clock, each between two readings of the same clock in another way.
#[derive(Clone, Debug, PartialEq)]
pub struct PairedReads {
    /// The id of the timer that reads the clock once.
    pub id: &'static str,
    /// The id of the timer that reads the clock before and after.
    pub within: &'static str,
    /// The unit of the timer `id` in nanoseconds; a reading is rounded down by less than this.
    pub unit_ns: i64,
    /// The declared maximum lag of the timer `id` in nanoseconds, not 0 if only the timer interrupt
    /// updates it.
    pub lag_ns: i64,
    /// Whether a thread on another CPU was busy during the readings.
    pub busy: bool,
    /// Readings of `within`, `id`, `within`, in nanoseconds.
    pub readings: Vec<[i64; 3]>,
}

/// Reads each of the given timers whose clock can be read in another way, `count` times: first
/// while no other thread of this program runs, then while another CPU is busy, if there is another
/// CPU.
pub fn paired_reads(ids: &[&str], count: u32) -> Vec<PairedReads> {
    let mut all = posix::paired_reads(ids, count, false);
    let cpus = allowed_cpus().unwrap_or_default();
    let here = crate::affinity::current_cpu();
    let other = cpus.into_iter().rev().find(|&cpu| Some(cpu) != here);
    if let Some(_busy) = other.and_then(|cpu| BusyThread::on(cpu).ok()) {
        all.extend(posix::paired_reads(ids, count, true));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skips_clocks_without_second_way() {
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
