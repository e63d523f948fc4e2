//! A timer that reads nothing: code without a read in it.

use crate::{Available, Described, Info, Properties, Ticks, Timer};

/// The timer that reads nothing, for the loop without a read.
pub(crate) struct Null;

impl Described for Null {
    const INFO: Info = Info {
        id: "null",
        label: "reads nothing",
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
