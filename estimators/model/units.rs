//! Units as types, so that nanoseconds are never mistaken for cycles.

use serde::{Deserialize, Serialize};

macro_rules! unit {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub f64);
    };
}

unit!(
    /// Nanoseconds of real time.
    Nanos
);
unit!(
    /// CPU cycles, at a stated frequency.
    Cycles
);
unit!(
    /// Events in a second.
    Hertz
);

impl Nanos {
    /// As cycles of a CPU that runs at `frequency`.
    #[must_use]
    pub fn cycles(self, frequency: Hertz) -> Cycles {
        Cycles(self.0 * frequency.0 * 1e-9)
    }
}

impl Cycles {
    /// As time on a CPU that runs at `frequency`.
    #[must_use]
    pub fn nanos(self, frequency: Hertz) -> Nanos {
        Nanos(self.0 / frequency.0 * 1e9)
    }
}
