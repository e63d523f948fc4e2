//! Does not wait.
//!
//! What ticks: nothing. Who may use it: any process. Caveats: none; what its waits take is what the loop around a wait takes.

use super::method::{Countdown, Method};
use super::{FLOOR_ID, Means, WaitInfo};
use crate::Unavailable;

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
