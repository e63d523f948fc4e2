//! The interface that a sleep primitive or periodic timer implements, and its row in a list.

use super::{WaitActivity, WaitInfo};
use crate::Available;
use crate::subject::Answer;

/// A wait method. Its row in the list declares which measurements it supports; the measuring loops
/// call only the functions that these measurements need.
pub(crate) trait WaitMethod: 'static {
    /// Prepares the method for use by the calling thread.
    ///
    /// # Errors
    /// The reason why the method is unavailable on this machine.
    fn open(label: &'static str) -> Available<Self>
    where
        Self: Sized;

    /// Waits for the given time, rounded up to the unit of the method. A signal that interrupts the
    /// wait does not shorten the wait.
    fn wait(&mut self, nanoseconds: u64);

    /// Arms the timer to expire after the given time, then cancels the timer.
    fn arm_and_cancel(&mut self, _nanoseconds: u64) {}

    /// Starts to fire periodically; the first expiration is one period after the start. Returns
    /// whether the others are due one period after the one before: not so in a loop of relative waits.
    ///
    /// # Errors
    /// When the system call fails.
    fn start(&mut self, _period_ns: u64) -> Answer<bool> {
        Ok(false)
    }

    /// Waits for the next expiration. The default is a relative wait that reads no clock: each
    /// round takes the period plus the overhead and lateness of the wait, so the phase drifts.
    fn tick(&mut self, period_ns: u64) {
        self.wait(period_ns);
    }

    /// The number of expirations since the previous return, as reported by the timer.
    fn expirations(&mut self) -> u64 {
        1
    }

    /// Stops the periodic timer.
    fn stop(&mut self) {}
}

/// Opens a method, given its type.
pub(crate) fn open<T: WaitMethod>(label: &'static str) -> Available<Box<dyn WaitMethod>> {
    Ok(Box::new(T::open(label)?))
}

/// The declaration of a method that blocks, whose requests are in nanoseconds.
pub(crate) const BLOCKING: WaitInfo = WaitInfo {
    id: "",
    label: "",
    activity: WaitActivity::Blocks,
    unit_ns: 1,
};

/// Defines a list of methods, which exists on all systems: type, id, label, supported measurements,
/// and declarations that differ from [`BLOCKING`]. The types exist only if `$here` holds.
macro_rules! methods {
    ($place:literal, $here:meta; $($(#[$built:meta])? $method:ty, $id:literal, $label:literal, $supports:ident $(, $field:ident: $value:expr)?;)*) => {
        pub(crate) const ALL: &[$crate::waits::WaitEntry] = &[$($(#[$built])? $crate::waits::WaitEntry {
            info: $crate::waits::WaitInfo {
                id: $id,
                label: $label,
                $($field: $value,)?
                ..$crate::waits::method::BLOCKING
            },
            supports: $crate::waits::Supported::$supports,
            #[cfg($here)]
            method: $crate::waits::method::open::<$method>,
            #[cfg(not($here))]
            method: |_| Err($crate::Unavailable::elsewhere(concat!($place, " only"))),
        }),*];
    };
}
pub(crate) use methods;
