//! What Rust's standard library offers to wait, on every system.

use std::time::Duration;

use super::{Countdown, Means, WaitInfo};
use crate::Unavailable;

/// `std::thread::sleep`.
pub struct StdSleep;

impl Countdown for StdSleep {
    const INFO: WaitInfo = WaitInfo {
        id: "std-sleep",
        label: "std::thread::sleep",
        means: Means::Blocks,
        unit_ns: 1,
        slack: true,
    };

    fn open() -> Result<Self, Unavailable> {
        Ok(Self)
    }

    fn wait(&mut self, nanoseconds: u64) {
        std::thread::sleep(Duration::from_nanos(nanoseconds));
    }
}
