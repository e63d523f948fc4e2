//! Measures the cost of leaving user mode, for comparison with the cost of a read.
//!
//! What is timed: the cheapest system call, and an instruction that a hypervisor has to emulate for
//! its guest (CPUID, which always traps on Intel VT-x, and on AMD-V if the hypervisor requests it,
//! as all hypervisors do). How it lies: on bare metal CPUID does not trap and takes about 100
//! cycles.

use crate::affinity::Pinned;
use crate::chain::{median, time_code};
use crate::os::UndistortedClock;
use crate::os::clocks::cheapest_call;
use crate::{Described, ReadsBy, Timer, arch};

/// The costs of leaving user mode, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KernelEntry {
    /// The cheapest system call.
    pub system_call_ns: f64,
    /// A read of the system's clock by a system call; `None` if there is no such call.
    pub clock_call_ns: Option<f64>,
    /// An instruction that traps to the hypervisor; `None` without a hypervisor, and on processors
    /// other than x86.
    pub trap_ns: Option<f64>,
}

impl KernelEntry {
    /// The minimum of two measurements, because disturbances make a call longer.
    pub fn min(self, other: Self) -> Self {
        let min =
            |one: Option<f64>, other: Option<f64>| one.into_iter().chain(other).reduce(f64::min);
        Self {
            system_call_ns: self.system_call_ns.min(other.system_call_ns),
            clock_call_ns: min(self.clock_call_ns, other.clock_call_ns),
            trap_ns: min(self.trap_ns, other.trap_ns),
        }
    }
}

/// Measures all costs on the given CPU, in about 1 ms. `None` if the system's clock cannot be read.
pub fn measure_kernel_entry(cpu: Option<u32>) -> Option<KernelEntry> {
    // If pinning fails, the current CPU is measured.
    let _pinned = cpu.and_then(Pinned::to);
    let clock = UndistortedClock::open().ok()?;
    let by_call = UndistortedClock::INFO.properties.reads_by == Some(ReadsBy::SystemCall);
    let clock_call_ns = by_call.then(|| {
        ns_per_call(64, || {
            arch::opaque_count(clock.ticks(clock.read()).0);
        })
    });
    let system_call_ns = ns_per_call(64, || {
        arch::opaque_count(cheapest_call());
    })?;
    let trap_ns = arch::trapping_instruction().and_then(|trap| {
        ns_per_call(8, || {
            arch::opaque_count(trap());
        })
    });
    Some(KernelEntry {
        system_call_ns,
        clock_call_ns: clock_call_ns.flatten(),
        trap_ns,
    })
}

/// The nanoseconds per call: the median of several rounds of `calls` calls.
fn ns_per_call(calls: u32, call: impl Fn()) -> Option<f64> {
    const ROUNDS: u32 = 31;
    let rounds = time_code(|| (0..calls).for_each(|_| call()), ROUNDS);
    Some(median(rounds.ok()?)? / f64::from(calls))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn min_prefers_shorter_times() {
        let entry = |system_call_ns, clock_call_ns, trap_ns| KernelEntry {
            system_call_ns,
            clock_call_ns,
            trap_ns,
        };
        let both = entry(90.0, Some(200.0), None).min(entry(120.0, Some(170.0), Some(900.0)));
        assert_eq!(both, entry(90.0, Some(170.0), Some(900.0)));
    }

    #[test]
    fn leaving_user_mode_takes_time() {
        if let Some(entry) = measure_kernel_entry(None) {
            assert!(
                entry.system_call_ns > 0.0 && entry.clock_call_ns.is_none_or(|ns| ns > 0.0),
                "{entry:?}"
            );
            assert!(entry.trap_ns.is_none_or(|ns| ns > 0.0), "{entry:?}");
        }
    }
}
