//! Panics of the standard library because a clock cannot be read.
//!
//! `Instant::now`, `SystemTime::now`, and waits with a time limit panic if the C library's clock
//! fails: in a sandbox, after a change of the clock source, or by a preloaded library. Code that may
//! reach them runs [`guarded`], so that a failed clock is an error and not a backtrace.

use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::thread;
use std::time::Duration;

use crate::os::{CalendarClock, CommonClock};
use crate::{Available, Deadline, Timer, Unavailable, pause};

/// Whether the standard library has panicked because of a clock.
static HAS_PANICKED: AtomicBool = AtomicBool::new(false);

/// Prints no message for panics of the standard library because of a clock. Other panics are printed
/// as before.
pub fn silence_clock_panics() {
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if is_clock_panic(panic) {
            HAS_PANICKED.store(true, Ordering::Relaxed);
        } else {
            print(panic);
        }
    }));
}

/// Whether the panic comes from the files of the standard library that read clocks.
fn is_clock_panic(panic: &PanicHookInfo) -> bool {
    panic.location().is_some_and(|location| {
        let file = location.file().replace('\\', "/");
        file.contains("library/std/src/sys/") && file.contains("time")
    })
}

/// Calls a function that may read clocks by the standard library.
///
/// # Errors
/// When the standard library panicked because a clock failed, after [`silence_clock_panics`]. Other
/// panics continue.
pub fn guarded<R>(call: impl FnOnce() -> R) -> Available<R> {
    panic::catch_unwind(AssertUnwindSafe(call)).map_err(|panic| {
        if !HAS_PANICKED.load(Ordering::Relaxed) {
            panic::resume_unwind(panic);
        }
        let clocks = CommonClock::availability().and_then(|()| CalendarClock::availability());
        let unknown = || Unavailable::because("a clock of the C library failed for a moment");
        clocks.err().unwrap_or_else(unknown)
    })
}

/// Receives a message within `limit`, as `Receiver::recv_timeout` does, also if the C library's
/// clock fails.
///
/// # Errors
/// When no message arrives in time, or all senders are gone.
pub fn receive<T>(receiver: &Receiver<T>, limit: Duration) -> Result<T, RecvTimeoutError> {
    const POLL_INTERVAL: Duration = Duration::from_millis(1);
    if !HAS_PANICKED.load(Ordering::Relaxed) {
        if let Ok(received) = guarded(|| receiver.recv_timeout(limit)) {
            return received;
        }
        // The panic left this thread marked as parked.
        thread::current().unpark();
        thread::park();
    }
    let deadline = Deadline::after(limit);
    loop {
        match receiver.try_recv() {
            Ok(message) => return Ok(message),
            Err(TryRecvError::Disconnected) => return Err(RecvTimeoutError::Disconnected),
            Err(TryRecvError::Empty) if deadline.remaining().is_none() => {
                return Err(RecvTimeoutError::Timeout);
            }
            Err(TryRecvError::Empty) => pause(POLL_INTERVAL),
        }
    }
}
