//! Sleep primitives of the standard library, and the entry that does not wait. They wait again after
//! signals themselves.

use std::hint::black_box;
use std::sync::mpsc::channel;
use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::Duration;

use super::method::{BLOCKING, WaitMethod, methods, open};
use super::{FLOOR_ID, Supported, WaitEntry, WaitInfo};
use crate::os::linux_waits::{check_thread_deadlines, check_thread_sleep};

methods! { "all systems", all();
    "std-sleep", "std::thread::sleep()", WAITS_AND_PERIODS, check_thread_sleep().map(|()| by(thread::sleep));
    "std-park-timeout", "std::thread::park_timeout()", WAITS, check_thread_deadlines().map(|()| by(thread::park_timeout));
    "std-condvar-wait-timeout", "std::sync::Condvar::wait_timeout()", WAITS, check_thread_deadlines().map(|()| by(condition()));
    "std-recv-timeout", "std::sync::mpsc::Receiver::recv_timeout()", WAITS, check_thread_deadlines().map(|()| by(message()));
}

/// The entry that does not wait: the overhead of the measuring loop.
pub(crate) const FLOOR: WaitEntry = WaitEntry {
    info: WaitInfo {
        id: FLOOR_ID,
        label: "does not wait (floor of the loop)",
        ..BLOCKING
    },
    supports: Supported::WAITS,
    method: |label| open(label, Ok(by(|span| _ = black_box(span)))),
};

/// The method that waits by this function.
pub(super) fn by(wait: impl Fn(Duration)) -> impl WaitMethod {
    move |nanoseconds| {
        wait(Duration::from_nanos(nanoseconds));
        0
    }
}

/// Waits for a condition variable that is never notified.
fn condition() -> impl Fn(Duration) {
    let (never, condition) = (Mutex::new(()), Condvar::new());
    move |span| {
        // No other thread locks the mutex, so it cannot be poisoned.
        if let Ok(guard) = never.lock() {
            let _ = condition.wait_timeout(guard, span);
        }
    }
}

/// Waits for a message on a channel on which nothing is sent.
fn message() -> impl Fn(Duration) {
    let (sender, receiver) = channel::<()>();
    move |span| {
        let _ = (&sender, receiver.recv_timeout(span));
    }
}
