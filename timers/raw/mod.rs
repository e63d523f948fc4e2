//! The processor's counter as a program uses it without the kernel: the ways in which programs find
//! its rate ([`RateRecipe`]), and the reads that show whether they may rely on it ([`Machine`]).
//!
//! What ticks: the counter that the bare instruction reads, compared with the clocks of the kernel.
//! How it lies: when the kernel moves a thread to another CPU, the thread reads the counter of that
//! CPU without noticing.

mod here;
mod recipes;

use std::time::Duration;

use crate::subject::{Activity, Answer, BackwardSteps};

pub use here::{DeclaredRate, ThisMachine, declared_rate, logged_rate};
pub use recipes::{RateRecipe, RecipeError};

/// The operations that a program needs to calibrate and check the counter; implemented by this
/// machine ([`ThisMachine`]) and by simulated machines.
pub trait Machine {
    /// Reads the counter by the bare instruction.
    fn counter(&mut self) -> u64;

    /// Reads the kernel's monotonic clock through libc, in nanoseconds.
    fn clock(&mut self) -> u64;

    /// Reads the kernel's clock that time synchronisation does not adjust (CLOCK_MONOTONIC_RAW on
    /// Linux), in nanoseconds.
    fn untrimmed_clock(&mut self) -> u64;

    /// Lets a time span pass while the calling thread does what `during` says.
    fn pass(&mut self, span: Duration, during: Activity);

    /// The ticks per second declared by processor, firmware or hypervisor; `None` if not declared.
    fn declared_hz(&mut self) -> Option<f64>;

    /// The nanoseconds per tick by which the kernel converts the counter to time; `None` if not
    /// published.
    fn kernel_ns_per_tick(&mut self) -> Option<f64>;

    /// The name of the kernel's clock source; `None` if unknown.
    fn clock_source(&mut self) -> Option<String>;

    /// The megahertz in the name of the processor, as in `@ 2.60GHz`; `None` if it has none.
    fn named_mhz(&mut self) -> Option<u64>;

    /// The CPUs that threads may run on.
    fn cpus(&mut self) -> Vec<u32>;

    /// Moves the calling thread to a CPU. Returns `false` on failure.
    fn move_to(&mut self, cpu: u32) -> bool;

    /// Counts the backward steps in `count` successive readings, each behind a fence.
    ///
    /// # Errors
    /// As for [`Subject::order`](crate::Subject::order).
    fn count_backward_steps(&mut self, count: u32) -> Answer<BackwardSteps>;

    /// As [`Subject::handoffs_between`](crate::Subject::handoffs_between), with a fence before each
    /// reading.
    ///
    /// # Errors
    /// As for [`Subject::handoffs_between`](crate::Subject::handoffs_between).
    fn handoffs_fenced(&mut self, cpus: &[[u32; 2]], count: u32) -> Answer<Vec<Vec<[i64; 2]>>>;

    /// As [`handoffs_fenced`](Self::handoffs_fenced), without fences.
    ///
    /// # Errors
    /// As for [`handoffs_fenced`](Self::handoffs_fenced).
    fn handoffs_unfenced(&mut self, cpus: &[[u32; 2]], count: u32) -> Answer<Vec<Vec<[i64; 2]>>>;

    /// Reads the counter, the untrimmed clock and the counter again, `times` times. Returns the
    /// three readings of the round whose counter readings are closest together.
    fn bracket_untrimmed(&mut self, times: u32) -> [i64; 3] {
        tightest(times, || {
            [
                self.counter() as i64,
                self.untrimmed_clock() as i64,
                self.counter() as i64,
            ]
        })
    }

    /// As [`bracket_untrimmed`](Self::bracket_untrimmed), with the monotonic clock, by which
    /// programs calibrate the counter.
    fn bracket_clock(&mut self, times: u32) -> [i64; 3] {
        tightest(times, || {
            [
                self.counter() as i64,
                self.clock() as i64,
                self.counter() as i64,
            ]
        })
    }
}

/// Repeats a bracket and returns the one whose first and last reading are closest together.
fn tightest(times: u32, mut bracket: impl FnMut() -> [i64; 3]) -> [i64; 3] {
    let width = |bracket: &[i64; 3]| bracket[2].wrapping_sub(bracket[0]).unsigned_abs();
    let first = bracket();
    (1..times).fold(first, |best, _| {
        let next = bracket();
        if width(&next) < width(&best) {
            next
        } else {
            best
        }
    })
}
