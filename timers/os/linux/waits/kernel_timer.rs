//! What is the same of all timers that are armed by one call and waited for by another. A request
//! of nothing would disarm them, so that it asks for a nanosecond.

use super::End;
use crate::subject::Answer;
use crate::waits::method::{Armed, Countdown, Method, Periodic};

/// A timer that the kernel keeps.
pub(super) trait KernelTimer: Method {
    /// Arms it, or disarms it with nothing.
    fn set(&self, first_ns: u64, period_ns: u64) -> End;

    /// Waits until it expires.
    fn expire(&mut self);

    /// For how many expirations that stood.
    fn stood_for(&mut self) -> u64 {
        1
    }

    /// Takes the expirations that were not waited for.
    fn clear(&self) {}
}

impl<T: KernelTimer> Countdown for T {
    fn wait(&mut self, nanoseconds: u64) {
        self.set(nanoseconds.max(1), 0);
        self.expire();
    }
}

impl<T: KernelTimer> Armed for T {
    fn arm_and_cancel(&mut self, nanoseconds: u64) {
        self.set(nanoseconds, 0);
        self.set(0, 0);
    }
}

impl<T: KernelTimer> Periodic for T {
    fn start(&mut self, period_ns: u64) -> Answer<()> {
        self.set(period_ns, period_ns).starts(Self::INFO.label)
    }

    fn tick(&mut self) {
        self.expire();
    }

    fn expirations(&mut self) -> u64 {
        self.stood_for()
    }

    fn stop(&mut self) {
        self.set(0, 0);
        self.clear();
    }
}
