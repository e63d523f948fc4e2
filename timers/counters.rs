//! The timers that read a counter of the processor by an instruction. The files
//! `arch/*_counters.rs` define the instructions.

use std::marker::PhantomData;

use crate::arch::{self, Instruction};
use crate::kernel_time::kernel_raw_time;
use crate::os::clocks::tsc_permitted;
use crate::os::{CommonClock, UntrimmedClock, attempt};
use crate::{Available, Described, Ticks, Timer, Unavailable, work};

/// A counter, given by the type of the instruction that reads it.
pub struct InstructionCounter<I>(PhantomData<I>);

impl<I: Instruction> Timer for InstructionCounter<I>
where
    Self: Described,
{
    type Reading = u64;

    fn open() -> Available<Self> {
        I::present().map_err(Unavailable::because)?;
        tsc_permitted()?;
        if I::MAY_FAULT {
            attempt(Self::INFO.label, &|| {
                I::read();
            })?;
        }
        Ok(Self(PhantomData))
    }

    fn ns_per_tick() -> Option<f64> {
        Self::open().ok()?;
        confirmed_ns_per_tick(I::declared_hz()?, I::read)
    }

    #[inline(always)]
    fn read(&self) -> u64 {
        I::read()
    }

    fn ticks(&self, reading: u64) -> Ticks {
        Ticks(reading)
    }
}

/// The ids of the counter: read by the bare instruction, and behind a fence.
pub const COUNTERS: [&str; 2] = [
    InstructionCounter::<arch::BareInstruction>::INFO.id,
    InstructionCounter::<arch::FencedInstruction>::INFO.id,
];

/// The ids of the kernel's clocks that it is compared with: one that time synchronisation does not
/// adjust, and the usual one.
pub const COUNTER_CLOCKS: [&str; 2] = [UntrimmedClock::INFO.id, CommonClock::INFO.id];

/// The rate in hertz that the hypervisor or the processor declares for the counter (by CPUID, on
/// x86), else the firmware (on Arm), and what declares it. `None` if it is not declared.
pub fn declared_counter_rate() -> Option<(f64, &'static str)> {
    let by_firmware = || {
        InstructionCounter::<arch::BareInstruction>::open().ok()?;
        Some((arch::BareInstruction::declared_hz()?, "the firmware"))
    };
    arch::declared_rate()
        .or_else(by_firmware)
        .filter(|(hz, _)| *hz > 0.0)
}

/// The nanoseconds per tick at a declared rate, if a comparison with the kernel's clock confirms
/// the rate, else `None`: some firmware declares a wrong rate.
fn confirmed_ns_per_tick(hertz: f64, read: fn() -> u64) -> Option<f64> {
    /// The number of attempts to confirm a declared rate.
    /// *Judgement*: an attempt that was interrupted is repeated.
    const ATTEMPTS: usize = 5;
    /// The work of an attempt, some milliseconds.
    /// *Judgement*: `MAX_RELATIVE_DIFFERENCE` of it is longer than the two bracketed readings take.
    const ATTEMPT_UNITS: u64 = 1 << 22;
    /// The largest relative difference of a confirmed rate; wrong rates differ by factors.
    /// *Judgement*.
    const MAX_RELATIVE_DIFFERENCE: f64 = 2e-3;
    // A reading of the counter between two of the kernel's clock.
    let bracketed_reading = || Some((kernel_raw_time()?, read(), kernel_raw_time()?));
    let confirm = || {
        let (before_start, start, after_start) = bracketed_reading()?;
        work::units(ATTEMPT_UNITS);
        let (before_end, end, after_end) = bracketed_reading()?;
        let counted_ns = end.wrapping_sub(start) as f64 / hertz * 1e9;
        let shortest_and_longest_ns = [
            before_end.checked_sub(after_start)?,
            after_end.checked_sub(before_start)?,
        ]
        .map(|ns| ns as f64);
        shortest_and_longest_ns
            .iter()
            .all(|ns| (counted_ns / ns - 1.0).abs() < MAX_RELATIVE_DIFFERENCE)
            .then_some(1e9 / hertz)
    };
    // One confirmation is enough: an interruption between the readings makes an attempt fail, but
    // cannot confirm a wrong rate.
    (hertz > 0.0)
        .then(|| (0..ATTEMPTS).find_map(|_| confirm()))
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confirms_only_true_rates() {
        let nanoseconds = || kernel_raw_time().unwrap_or(0);
        if kernel_raw_time().is_some() {
            assert_eq!(confirmed_ns_per_tick(1e9, nanoseconds), Some(1.0));
            for wrong in [0.0, 1e6, 0.99e9, 1.01e9, 24e9] {
                assert_eq!(confirmed_ns_per_tick(wrong, nanoseconds), None, "{wrong}");
            }
        }
    }
}
