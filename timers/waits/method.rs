//! The interface that a sleep primitive or periodic timer implements, and its row in a list.

/// The error number of a wait that a signal ended early (`EINTR`).
pub(crate) const INTERRUPTED: i32 = 4;

/// A wait method: a function that waits for a length of time is one, and so is a timer, which is
/// started and then waited for. Calls return the error number, 0 if there was no error.
pub(crate) trait WaitMethod {
    /// Starts a timer, which is due after `first_ns` and then, unless it is 0, every `period_ns`; 0
    /// twice ends that. `None` if the method has no due times.
    fn start(&mut self, _first_ns: u64, _period_ns: u64) -> Option<i32> {
        None
    }

    /// Waits until `due_ns` after the start, which is the next time that the timer is due, or for
    /// that long if the method has no due times. After [`INTERRUPTED`] it is called again.
    fn tick(&mut self, due_ns: u64) -> i32;

    /// Waits once for the given time, rounded up to the unit of the method.
    fn wait(&mut self, nanoseconds: u64) -> i32 {
        // A timer that is due after 0 ns never is.
        match self.start(nanoseconds.max(1), 0) {
            None | Some(0) => self.tick(nanoseconds),
            Some(number) => number,
        }
    }

    /// The number of expirations since the previous return, as reported by the timer.
    fn expirations(&mut self) -> u64 {
        1
    }
}

impl<F: FnMut(u64) -> i32> WaitMethod for F {
    fn tick(&mut self, due_ns: u64) -> i32 {
        self(due_ns)
    }
}

/// Defines a list of methods, which exists on all systems: id, label, what prepares the method, which
/// is compiled only if `$here` holds, and declarations that differ from those of
/// [`FLOOR`](super::FLOOR).
macro_rules! methods {
    ($here:meta; $($id:literal, $label:literal, $prepared:expr $(, $field:ident: $value:expr)?;)*) => {
        pub(crate) const ALL: &[$crate::waits::WaitEntry] = &[$($crate::waits::WaitEntry {
            id: $id,
            label: $label,
            $($field: $value,)?
            #[cfg($here)]
            method: || $prepared.map(|method| Box::new(method) as _),
            #[cfg(not($here))]
            method: || Err($crate::Unavailable::elsewhere("Linux only")),
            ..$crate::waits::FLOOR
        }),*];
    };
}
pub(crate) use methods;
