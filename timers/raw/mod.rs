//! The counter of the processor as programs read it by themselves, past the kernel: what they find
//! its rate to be, and what tells whether they may.
//!
//! What ticks: the counter that the bare instruction reads, beside the clocks that the kernel
//! builds. How it lies: a thread that another CPU carries on reads the counter of that one, and the
//! program is not told.

mod here;
mod recipes;

use std::time::Duration;

use crate::subject::{Answer, During, Ordered};

pub use here::{Declared, Here, declared, logged_rate};
pub use recipes::Recipe;

/// A machine as a program sees it that reads its counter.
pub trait Machine {
    /// The counter, by the bare instruction.
    fn counter(&mut self) -> u64;

    /// The kernel's monotonic clock as libc answers it, in nanoseconds.
    fn clock(&mut self) -> u64;

    /// The kernel's clock that no time service steers, in nanoseconds.
    fn unsteered(&mut self) -> u64;

    /// Lets so much time pass in that way.
    fn pass(&mut self, span: Duration, during: During);

    /// Ticks a second as processor, firmware or hypervisor declare them.
    fn declared_hz(&mut self) -> Option<f64>;

    /// Nanoseconds in a tick by which the kernel itself converts the counter, where it shows that.
    fn kernel_ns(&mut self) -> Option<f64>;

    /// The CPUs that threads may run on.
    fn cpus(&mut self) -> Vec<u32>;

    /// Moves the calling thread to that CPU. Returns whether it is there.
    fn move_to(&mut self, cpu: u32) -> bool;

    /// Successive readings of the calling thread, held back by fences, of which only the order is
    /// kept.
    ///
    /// # Errors
    /// As [`Subject::order`](crate::Subject::order).
    fn order(&mut self, count: u32) -> Answer<Ordered>;

    /// As [`Subject::handoffs_between`](crate::Subject::handoffs_between), of readings held back by
    /// fences.
    ///
    /// # Errors
    /// As there.
    fn handoffs_between(&mut self, cpus: &[[u32; 2]], count: u32) -> Answer<Vec<Vec<[i64; 2]>>>;

    /// The same by the bare instruction, without a fence.
    ///
    /// # Errors
    /// As there.
    fn handoffs_unfenced(&mut self, cpus: &[[u32; 2]], count: u32) -> Answer<Vec<Vec<[i64; 2]>>>;

    /// Reads the counter, the unsteered clock, and the counter again, so often; of these the one
    /// whose reads lie closest together.
    fn look(&mut self, times: u32) -> [i64; 3] {
        tightest(times, || {
            [
                self.counter() as i64,
                self.unsteered() as i64,
                self.counter() as i64,
            ]
        })
    }

    /// The same beside the monotonic clock, which is what programs hold the counter against.
    fn look_at_clock(&mut self, times: u32) -> [i64; 3] {
        tightest(times, || {
            [
                self.counter() as i64,
                self.clock() as i64,
                self.counter() as i64,
            ]
        })
    }
}

fn tightest(times: u32, mut look: impl FnMut() -> [i64; 3]) -> [i64; 3] {
    let width = |look: &[i64; 3]| look[2].wrapping_sub(look[0]).unsigned_abs();
    let first = look();
    (1..times).fold(first, |best, _| {
        let next = look();
        if width(&next) < width(&best) {
            next
        } else {
            best
        }
    })
}
