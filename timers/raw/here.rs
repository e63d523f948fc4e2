//! The counter and the clocks of the machine that this program runs on.

use std::time::Duration;

use super::Machine;
use crate::affinity::{allowed_cpus, pin_to, unpin};
use crate::counters::Counter;
use crate::deadline::{nanoseconds, open_with_unit};
use crate::native::{Native, handoffs_unfenced, pass};
use crate::os::{CommonClock, UntrimmedClock};
use crate::subject::{Activity, Answer, BackwardSteps, Subject};
use crate::{Available, Described, Timer, arch, os};

/// This machine. Dropping it lets the thread run on all CPUs again.
pub struct ThisMachine {
    counter: Counter<arch::BareInstruction>,
    fenced_counter: Native<'static>,
    /// The usual monotonic clock, with its nanoseconds per tick: CLOCK_MONOTONIC on Linux.
    clock: (CommonClock, f64),
    /// The clock that time synchronisation does not adjust, if the system has one, with its
    /// nanoseconds per tick: CLOCK_MONOTONIC_RAW on Linux.
    untrimmed_clock: (UntrimmedClock, f64),
}

impl ThisMachine {
    /// Opens the counter and the clocks.
    ///
    /// # Errors
    /// When the counter or a clock cannot be read.
    pub fn open() -> Available<Self> {
        Ok(Self {
            counter: Timer::open()?,
            fenced_counter: Native::from_timer(Counter::<arch::FencedInstruction>::open()?),
            clock: open_with_unit()?,
            untrimmed_clock: open_with_unit()?,
        })
    }

    /// The ids of the clocks that the counter is compared with.
    pub fn clock_ids() -> [&'static str; 2] {
        [CommonClock::INFO.id, UntrimmedClock::INFO.id]
    }

    /// The ids of the counter in the catalogue: read by the bare instruction, and behind a fence.
    pub fn ids() -> [&'static str; 2] {
        [
            Counter::<arch::BareInstruction>::INFO.id,
            Counter::<arch::FencedInstruction>::INFO.id,
        ]
    }
}

fn now_ns((clock, unit): &(impl Timer, f64)) -> u64 {
    nanoseconds(clock.ticks(clock.read()), *unit)
}

impl Machine for ThisMachine {
    fn counter(&mut self) -> u64 {
        self.counter.read()
    }

    fn clock(&mut self) -> u64 {
        now_ns(&self.clock)
    }

    fn untrimmed_clock(&mut self) -> u64 {
        now_ns(&self.untrimmed_clock)
    }

    fn pass(&mut self, span: Duration, during: Activity) {
        // No caller lets another thread compute, which alone can fail.
        let _ = pass(span, during);
    }

    fn declared_hz(&mut self) -> Option<f64> {
        declared_rate().map(|declared| declared.hz)
    }

    fn kernel_ns_per_tick(&mut self) -> Option<f64> {
        os::perf_event::counter_scale().or_else(|| {
            let log = os::machine::kernel_log().ok()?;
            log.lines()
                .filter_map(logged_rate)
                .next_back()
                .map(|hz| 1e9 / hz)
        })
    }

    fn clock_source(&mut self) -> Option<String> {
        os::machine::clock_source()
    }

    fn named_mhz(&mut self) -> Option<u64> {
        named_mhz(&arch::identity().model?)
    }

    fn cpus(&mut self) -> Vec<u32> {
        allowed_cpus().unwrap_or_default()
    }

    fn move_to(&mut self, cpu: u32) -> bool {
        // The affinity is restored first, so that a failure does not leave the thread on its last
        // CPU.
        unpin();
        pin_to(cpu).is_ok()
    }

    fn count_backward_steps(&mut self, count: u32) -> Answer<BackwardSteps> {
        self.fenced_counter.order(count)
    }

    fn handoffs_fenced(&mut self, cpus: &[[u32; 2]], count: u32) -> Answer<Vec<Vec<[i64; 2]>>> {
        self.fenced_counter.handoffs(cpus, count)
    }

    fn handoffs_unfenced(&mut self, cpus: &[[u32; 2]], count: u32) -> Answer<Vec<Vec<[i64; 2]>>> {
        handoffs_unfenced(&self.counter, cpus, count)
    }
}

impl Drop for ThisMachine {
    fn drop(&mut self) {
        unpin();
    }
}

/// The megahertz in the name of a processor: `Intel(R) Xeon(R) CPU @ 2.60GHz`.
fn named_mhz(name: &str) -> Option<u64> {
    let (_, rest) = name.split_once("@ ")?;
    let gigahertz: f64 = rest.split_once("GHz")?.0.parse().ok()?;
    Some((gigahertz * 1e3) as u64).filter(|mhz| *mhz > 0)
}

/// The ticks per second in a line of the kernel log: `tsc: Detected 2600.000 MHz processor`, or the
/// line that the kernel logs later with a refined rate. `None` for other lines.
pub fn logged_rate(line: &str) -> Option<f64> {
    let lower = line.to_lowercase();
    let rest = ["tsc: detected ", "refined tsc clocksource calibration: "]
        .iter()
        .find_map(|prefix| lower.split_once(prefix).map(|(_, rest)| rest))?;
    let megahertz: f64 = rest.split_once(" mhz")?.0.trim().parse().ok()?;
    (megahertz.is_finite() && megahertz > 0.0).then_some(megahertz * 1e6)
}

/// The declared rate of the counter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeclaredRate {
    /// Ticks per second.
    pub hz: f64,
    /// The source of the value, such as "CPUID leaf 0x15".
    pub source: &'static str,
}

/// The rate that the hypervisor or the processor declares (by CPUID, on x86), else the rate that
/// the firmware declares (on ARM and RISC-V). `None` if not declared.
pub fn declared_rate() -> Option<DeclaredRate> {
    arch::declared_rate()
        .or_else(|| {
            let hz = Counter::<arch::BareInstruction>::declared_rate()?;
            Some((hz, "the firmware"))
        })
        .filter(|(hz, _)| *hz > 0.0)
        .map(|(hz, source)| DeclaredRate { hz, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_rate_in_name_of_processor() {
        for (name, mhz) in [
            ("Intel(R) Xeon(R) CPU @ 2.60GHz", Some(2600)),
            ("AMD EPYC 9B14", None),
            ("x @ -1GHz", None),
        ] {
            assert_eq!(named_mhz(name), mhz, "{name}");
        }
    }

    #[test]
    fn counter_and_clocks_move_forward() {
        let Ok(mut here) = ThisMachine::open() else {
            return;
        };
        let (first, second) = (here.bracket_untrimmed(3), here.bracket_clock(3));
        assert!(first[2].wrapping_sub(first[0]) >= 0 && second[2].wrapping_sub(second[0]) >= 0);
        assert!(
            second[0].wrapping_sub(first[2]) >= 0,
            "{first:?} {second:?}"
        );
        assert!(declared_rate().is_none_or(|declared| declared.hz > 0.0));
        assert!(here.kernel_ns_per_tick().is_none_or(|ns| ns > 0.0));
    }
}
