//! What Rust's standard library offers to wait, on every system.
//!
//! What ticks: on Linux the high-resolution timers of the kernel, through `clock_nanosleep`
//! (`sleep`) and a futex (the others); on Windows a high-resolution waitable timer where there is
//! one (`sleep`), else the tick of 15.625 ms. At what granularity: requests are told in
//! nanoseconds. Who may use them: any process. Caveats: the kernel's timer slack applies to all of
//! them; `sleep` of nothing returns at once. Sources: [std::thread], [std::sync].
//!
//! [std::thread]: https://doc.rust-lang.org/std/thread/fn.sleep.html
//! [std::sync]: https://doc.rust-lang.org/std/sync/struct.Condvar.html
//!
//! `Nothing` does not wait: what its waits take is what the loop around a wait takes.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::Duration;

use super::method::{Countdown, Method};
use super::{FLOOR_ID, Means, WaitInfo};
use crate::Unavailable;

const fn info(id: &'static str, label: &'static str) -> WaitInfo {
    WaitInfo {
        id,
        label,
        means: Means::Blocks,
        unit_ns: 1,
        slack: true,
    }
}

/// `std::thread::sleep`.
pub(crate) struct Sleep;

impl Method for Sleep {
    const INFO: WaitInfo = info("std-sleep", "std::thread::sleep()");

    fn open() -> Result<Self, Unavailable> {
        Ok(Self)
    }
}

impl Countdown for Sleep {
    fn wait(&mut self, nanoseconds: u64) {
        thread::sleep(Duration::from_nanos(nanoseconds));
    }
}

/// `std::thread::park_timeout`, which is not ended before its time.
pub(crate) struct ParkTimeout;

impl Method for ParkTimeout {
    const INFO: WaitInfo = info("std-park-timeout", "std::thread::park_timeout()");

    fn open() -> Result<Self, Unavailable> {
        Ok(Self)
    }
}

impl Countdown for ParkTimeout {
    fn wait(&mut self, nanoseconds: u64) {
        thread::park_timeout(Duration::from_nanos(nanoseconds));
    }
}

/// `std::sync::Condvar::wait_timeout` on a condition that never comes true.
pub(crate) struct CondvarWaitTimeout {
    never: Mutex<()>,
    condition: Condvar,
}

impl Method for CondvarWaitTimeout {
    const INFO: WaitInfo = info(
        "std-condvar-wait-timeout",
        "std::sync::Condvar::wait_timeout()",
    );

    fn open() -> Result<Self, Unavailable> {
        Ok(Self {
            never: Mutex::new(()),
            condition: Condvar::new(),
        })
    }
}

impl Countdown for CondvarWaitTimeout {
    fn wait(&mut self, nanoseconds: u64) {
        // No other thread has the lock, so that it is not poisoned.
        if let Ok(guard) = self.never.lock() {
            let _ = self
                .condition
                .wait_timeout(guard, Duration::from_nanos(nanoseconds));
        }
    }
}

/// `std::sync::mpsc::Receiver::recv_timeout`, to which nothing is sent.
pub(crate) struct RecvTimeout {
    _sender: Sender<()>,
    receiver: Receiver<()>,
}

impl Method for RecvTimeout {
    const INFO: WaitInfo = info(
        "std-recv-timeout",
        "std::sync::mpsc::Receiver::recv_timeout()",
    );

    fn open() -> Result<Self, Unavailable> {
        let (sender, receiver) = channel();
        Ok(Self {
            _sender: sender,
            receiver,
        })
    }
}

impl Countdown for RecvTimeout {
    fn wait(&mut self, nanoseconds: u64) {
        let _ = self
            .receiver
            .recv_timeout(Duration::from_nanos(nanoseconds));
    }
}

/// The floor of the loop.
pub(crate) struct Nothing;

impl Method for Nothing {
    /// It blocks, so that all is done around it that is done around others.
    const INFO: WaitInfo = WaitInfo {
        id: FLOOR_ID,
        label: "does not wait (floor of the loop)",
        means: Means::Blocks,
        unit_ns: 1,
        slack: false,
    };

    fn open() -> Result<Self, Unavailable> {
        Ok(Self)
    }
}

impl Countdown for Nothing {
    fn wait(&mut self, _nanoseconds: u64) {}
}
