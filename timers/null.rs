//! Reads nothing.
//!
//! What ticks: nothing. Who may read it: any process. How it lies: it does not; its cost is that of
//! the loop around it, which is what the prober takes off the cost of all others.

use crate::{Described, Info, Properties, Ticks, Timer, Unavailable};

/// The timer that reads nothing: the floor of the loops.
pub(crate) struct Null;

impl Described for Null {
    const INFO: Info = Info {
        id: "null",
        label: "reads nothing (floor of the loops)",
        ns_per_tick: None,
        properties: Properties::UNKNOWN,
    };
}

impl Timer for Null {
    type Reading = u64;

    fn open() -> Result<Self, Unavailable> {
        Ok(Self)
    }

    #[inline(always)]
    fn read(&self) -> u64 {
        0
    }

    fn ticks(&self, reading: u64) -> Ticks {
        Ticks(reading)
    }
}
