//! The clock of the crate [quanta], as an example of a calibrated counter.
//!
//! What ticks: the time-stamp counter where the CPU has an invariant one and RDTSCP, the virtual
//! counter CNTVCT_EL0 on 64-bit Arm, else CLOCK_MONOTONIC. At what rate: `now()` scales it to
//! nanoseconds of CLOCK_MONOTONIC by a multiplication and a shift that were calibrated once, when
//! the first clock of the process was made; `raw()` is the counter as it is. (Without such a
//! counter `raw()` is CLOCK_MONOTONIC in nanoseconds; no unit is declared for it here, as nothing
//! tells which of the two it is.) Who may read it: any process, as for `rdtsc`.
//!
//! How it lies: the calibration ends after at most 200 ms, so the rate is off by some parts in a
//! million, and no later correction of CLOCK_MONOTONIC by NTP reaches it. A counter before the
//! point of calibration reads as that point. The instruction is the bare `rdtsc`, which waits for
//! nothing before it. Under a TSC that faults (`prctl(PR_SET_TSC)`) it crashes rather than fall
//! back, so `open` asks for permission first.
//!
//! [quanta]: https://docs.rs/quanta/0.13

use crate::entry::clocks;
use crate::os::clocks::vdso_permitted;
use crate::{Properties, Ticks, Timer, Unavailable};

clocks! { "all systems", all();
    Quanta, "quanta", "quanta::Clock::now()", Some(1.0), Properties::COUNTER;
    QuantaRaw, "quanta-raw", "quanta::Clock::raw()", None, Properties::COUNTER;
}

/// `now()`: scaled to nanoseconds.
pub(crate) struct Quanta {
    clock: quanta::Clock,
    /// `quanta::Instant` is opaque, so it is counted from one.
    origin: quanta::Instant,
}

impl Timer for Quanta {
    type Reading = quanta::Instant;

    fn open() -> Result<Self, Unavailable> {
        vdso_permitted()?;
        let clock = quanta::Clock::new();
        // Documented to be the zero of all instants as long as quanta's upkeep thread does not run;
        // if it did, it would still be no later than now.
        let origin = clock.recent();
        Ok(Self { clock, origin })
    }

    /// Whether reading would crash, without the 10 to 200 ms that the calibration takes. What it
    /// calibrates against is CLOCK_MONOTONIC, so that has to be readable too; where that is, so is the
    /// counter.
    fn availability() -> Result<(), Unavailable> {
        vdso_permitted()
    }

    #[inline(always)]
    fn read(&self) -> quanta::Instant {
        self.clock.now()
    }

    fn ticks(&self, reading: quanta::Instant) -> Ticks {
        Ticks(reading.saturating_duration_since(self.origin).as_nanos() as u64)
    }
}

/// `raw()`: the counter as it is.
pub(crate) struct QuantaRaw {
    clock: quanta::Clock,
}

impl Timer for QuantaRaw {
    type Reading = u64;

    fn open() -> Result<Self, Unavailable> {
        vdso_permitted()?;
        Ok(Self {
            clock: quanta::Clock::new(),
        })
    }

    fn availability() -> Result<(), Unavailable> {
        vdso_permitted()
    }

    #[inline(always)]
    fn read(&self) -> u64 {
        self.clock.raw()
    }

    fn ticks(&self, reading: u64) -> Ticks {
        Ticks(reading)
    }
}
