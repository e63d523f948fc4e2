//! The clock of the crate [quanta], as an example of a calibrated counter.
//!
//! What ticks: the time-stamp counter if the CPU has an invariant one and RDTSCP, the virtual
//! counter CNTVCT_EL0 on 64-bit Arm, else CLOCK_MONOTONIC. At what rate: `now()` converts it to
//! nanoseconds of CLOCK_MONOTONIC by a multiplication and a shift, calibrated once when the first
//! clock of the process is created; `raw()` returns the counter itself. (Without such a counter
//! `raw()` is CLOCK_MONOTONIC in nanoseconds. No unit is declared for it here, because the crate
//! does not report which of the two it reads.) Who may read it: any process, as for `rdtsc`.
//!
//! How it lies: the calibration ends after at most 200 ms, so the rate is wrong by some parts per
//! million, and later corrections of CLOCK_MONOTONIC by NTP have no effect on it. A counter value
//! before the calibration reads as the time of the calibration. The instruction is the bare
//! `rdtsc`, which does not wait for earlier instructions. If the TSC faults (`prctl(PR_SET_TSC)`),
//! the crate crashes, so `open` checks the permission first.
//!
//! [quanta]: https://docs.rs/quanta/0.13

use crate::deadline::check_common_clock;
use crate::entry::clocks;
use crate::{Available, Properties, Ticks, Timer};

clocks! { "all systems", all();
    Quanta, "quanta", "quanta::Clock::now()", Some(1.0), Properties::COUNTER;
    QuantaRaw, "quanta-raw", "quanta::Clock::raw()", None, Properties::COUNTER;
}

/// `now()`: scaled to nanoseconds.
pub(crate) struct Quanta {
    clock: quanta::Clock,
    /// The zero of the ticks, because `quanta::Instant` is opaque.
    origin: quanta::Instant,
}

impl Timer for Quanta {
    type Reading = quanta::Instant;

    fn open() -> Available<Self> {
        check_common_clock()?;
        let clock = quanta::Clock::new();
        // Documented to be the zero of all instants while quanta's upkeep thread does not run; with
        // that thread it would be a time not later than now.
        let origin = clock.recent();
        Ok(Self { clock, origin })
    }

    /// Checks that reading does not crash, without the calibration, which takes 10 to 200 ms. The
    /// calibration loops by CLOCK_MONOTONIC, and does not end if that fails or stands still.
    fn availability() -> Available {
        check_common_clock()
    }

    #[inline(always)]
    fn read(&self) -> quanta::Instant {
        self.clock.now()
    }

    fn ticks(&self, reading: quanta::Instant) -> Ticks {
        Ticks(reading.saturating_duration_since(self.origin).as_nanos() as u64)
    }
}

/// `raw()`: the unscaled counter.
pub(crate) struct QuantaRaw {
    clock: quanta::Clock,
}

impl Timer for QuantaRaw {
    type Reading = u64;

    fn open() -> Available<Self> {
        check_common_clock()?;
        Ok(Self {
            clock: quanta::Clock::new(),
        })
    }

    fn availability() -> Available {
        check_common_clock()
    }

    #[inline(always)]
    fn read(&self) -> u64 {
        self.clock.raw()
    }

    fn ticks(&self, reading: u64) -> Ticks {
        Ticks(reading)
    }
}
