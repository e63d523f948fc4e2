//! A timer that reads nothing, which shows the cost of the measuring loops themselves.
//!
//! What ticks: nothing. Who may read it: any process. How it lies: not at all. Its cost is that of
//! the loop around it, which is subtracted from the cost of the other timers.

use crate::{Available, Described, Info, Properties, Ticks, Timer};

/// The timer that reads nothing.
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

    fn open() -> Available<Self> {
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
