//! Sleep primitives of the standard library, and the entry that does not wait.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::Duration;

use super::method::{BLOCKING, WaitMethod, methods, open};
use super::{FLOOR_ID, Supported, WaitEntry, WaitInfo};
use crate::Available;
use crate::os::linux_waits::{check_thread_deadlines, check_thread_sleep};

methods! { "all systems", all();
    Sleep, "std-sleep", "std::thread::sleep()", WAITS_AND_PERIODS;
    ParkTimeout, "std-park-timeout", "std::thread::park_timeout()", WAITS;
    CondvarWaitTimeout, "std-condvar-wait-timeout", "std::sync::Condvar::wait_timeout()", WAITS;
    RecvTimeout, "std-recv-timeout", "std::sync::mpsc::Receiver::recv_timeout()", WAITS;
}

/// The entry that does not wait: the overhead of the measuring loop. It is declared as blocking, so
/// that the loop takes the same readings as for other blocking methods.
pub(crate) const FLOOR: WaitEntry = WaitEntry {
    info: WaitInfo {
        id: FLOOR_ID,
        label: "does not wait (floor of the loop)",
        ..BLOCKING
    },
    supports: Supported::WAITS,
    method: open::<Nothing>,
};

/// Defines methods without state: a type name, a check whether the method works, and an expression
/// that waits for a `Duration`.
macro_rules! stateless_methods {
    ($($(#[$doc:meta])* $name:ident $(if $check:path)?, |$span:ident| $wait:expr;)*) => {$(
        $(#[$doc])*
        struct $name;

        impl WaitMethod for $name {
            fn open(_label: &'static str) -> Available<Self> {
                $($check(_label)?;)?
                Ok(Self)
            }

            fn wait(&mut self, nanoseconds: u64) {
                let $span = Duration::from_nanos(nanoseconds);
                $wait;
            }
        }
    )*};
}
#[allow(unused_imports, reason = "one user is optional")]
pub(super) use stateless_methods;

stateless_methods! {
    /// `std::thread::sleep`.
    Sleep if check_thread_sleep, |span| thread::sleep(span);
    /// `std::thread::park_timeout`; no other thread unparks this thread.
    ParkTimeout if check_thread_deadlines, |span| thread::park_timeout(span);
    /// Does not wait.
    Nothing, |span| std::hint::black_box(span);
}

/// `std::sync::Condvar::wait_timeout` on a condition variable that is never notified.
#[derive(Default)]
struct CondvarWaitTimeout {
    never: Mutex<()>,
    condition: Condvar,
}

impl WaitMethod for CondvarWaitTimeout {
    fn open(label: &'static str) -> Available<Self> {
        check_thread_deadlines(label).map(|()| Self::default())
    }

    fn wait(&mut self, nanoseconds: u64) {
        let span = Duration::from_nanos(nanoseconds);
        // No other thread locks the mutex, so it cannot be poisoned.
        if let Ok(guard) = self.never.lock() {
            let _ = self.condition.wait_timeout(guard, span);
        }
    }
}

/// `std::sync::mpsc::Receiver::recv_timeout` on a channel on which nothing is sent.
struct RecvTimeout((Sender<()>, Receiver<()>));

impl WaitMethod for RecvTimeout {
    fn open(label: &'static str) -> Available<Self> {
        check_thread_deadlines(label).map(|()| Self(channel()))
    }

    fn wait(&mut self, nanoseconds: u64) {
        let (_, receiver) = &self.0;
        let _ = receiver.recv_timeout(Duration::from_nanos(nanoseconds));
    }
}
