//! The interface that a sleep primitive or periodic timer implements, and its row in a list.

use super::{WaitActivity, WaitInfo};
use crate::Available;
use crate::os::linux_waits::check_call;

/// The error number of a wait that a signal ended early (`EINTR`).
pub(crate) const INTERRUPTED: i32 = 4;

/// A wait method. Its row in the list declares which measurements it supports; the measuring loops
/// call only the functions that these measurements need. A function that waits for a time is one.
pub(crate) trait WaitMethod {
    /// Waits once for the given time, rounded up to the unit of the method. Returns the error number
    /// of the call, 0 if there was no error.
    fn wait(&mut self, nanoseconds: u64) -> i32;

    /// Starts to fire periodically, for the first time after one period; 0 ends that. Returns the
    /// error number of the call; `None` if the method has no due times.
    fn start(&mut self, _period_ns: u64) -> Option<i32> {
        None
    }

    /// Waits for the next expiration, which is due this long after the start. Returns the error
    /// number of the call; after [`INTERRUPTED`] it is called again with the same time.
    fn tick(&mut self, _due_ns: u64) -> i32 {
        0
    }

    /// The number of expirations since the previous return, as reported by the timer.
    fn expirations(&mut self) -> u64 {
        1
    }
}

impl<F: FnMut(u64) -> i32> WaitMethod for F {
    fn wait(&mut self, nanoseconds: u64) -> i32 {
        self(nanoseconds)
    }
}

/// Opens a method that has been prepared: tries it once.
pub(crate) fn open(
    label: &'static str,
    prepared: Available<impl WaitMethod + 'static>,
) -> Available<Box<dyn WaitMethod>> {
    let mut method = prepared?;
    check_call(label, method.wait(0))?;
    Ok(Box::new(method))
}

/// The declaration of a method that blocks, whose requests are in nanoseconds.
pub(crate) const BLOCKING: WaitInfo = WaitInfo {
    id: "",
    label: "",
    activity: WaitActivity::Blocks,
    unit_ns: 1,
};

/// Defines a list of methods, which exists on all systems: id, label, supported measurements, what
/// prepares the method, which is compiled only if `$here` holds, and declarations that differ from
/// [`BLOCKING`].
macro_rules! methods {
    ($place:literal, $here:meta; $($(#[$built:meta])? $id:literal, $label:literal, $supports:ident, $prepared:expr $(, $field:ident: $value:expr)?;)*) => {
        pub(crate) const ALL: &[$crate::waits::WaitEntry] = &[$($(#[$built])? $crate::waits::WaitEntry {
            info: $crate::waits::WaitInfo {
                id: $id,
                label: $label,
                $($field: $value,)?
                ..$crate::waits::method::BLOCKING
            },
            supports: $crate::waits::Supported::$supports,
            #[cfg($here)]
            method: |label| $crate::waits::method::open(label, $prepared),
            #[cfg(not($here))]
            method: |_| Err($crate::Unavailable::elsewhere(concat!($place, " only"))),
        }),*];
    };
}
pub(crate) use methods;
