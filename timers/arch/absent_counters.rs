//! Stands in for the counters `rdtsc` and `rdtsc-lfence` on processors that have neither these nor
//! their own; all attempts to open them fail.

use crate::arch::{Instruction, x86_counters};
use crate::counters::InstructionCounter;
use crate::{Described, Info};

/// An x86 counter, by its row in the table of x86 counters; never available here.
pub struct CounterOfX86<const ROW: usize>;

impl<const ROW: usize> Instruction for CounterOfX86<ROW> {
    fn present() -> Result<(), &'static str> {
        Err("x86 only")
    }

    fn read() -> u64 {
        unreachable!("opening the counter fails here")
    }
}

impl<const ROW: usize> Described for InstructionCounter<CounterOfX86<ROW>> {
    const INFO: Info = x86_counters::ALL[ROW].info;
}

/// Placeholder for `lfence; rdtsc`.
pub type FencedInstruction = CounterOfX86<1>;
