//! The two clocks of Rust's standard library.
//!
//! What ticks: on Linux `Instant` is CLOCK_MONOTONIC and `SystemTime` is CLOCK_REALTIME
//! ([std::time]); on Windows the performance counter and the precise system time, on macOS
//! CLOCK_UPTIME_RAW and CLOCK_REALTIME. At what rate: in nanoseconds, as those clocks; the library
//! asks for them through libc, so through the vDSO where the clock source allows. Who may read
//! them: any process. How they lie: as the clocks beneath them; the cost is theirs plus the check
//! of the result. `Instant` never goes backwards by promise, `SystemTime` follows whatever sets the
//! clock.
//!
//! [std::time]: https://doc.rust-lang.org/std/time/struct.Instant.html#underlying-system-calls

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::entry::clocks;
use crate::os::Common;
use crate::os::clocks::vdso_permitted;
use crate::{Described, Properties, Ticks, Timer, Unavailable};

/// As the clock that it reads, which has no name of its own here for the way through the kernel.
const INSTANT: Properties = Properties {
    syscall_variant: None,
    ..Common::INFO.properties
};

clocks! { "all systems", all();
    StdInstant, "instant", "std::time::Instant::now()", Some(1.0), INSTANT;
    StdSystemTime, "system-time", "std::time::SystemTime::now()", Some(1.0), Properties::CALENDAR;
}

/// The date, as the clock is set: to be written down, and never to measure with.
#[allow(
    clippy::disallowed_methods,
    reason = "this crate is where clocks are read"
)]
#[must_use]
pub fn date() -> SystemTime {
    SystemTime::now()
}

/// `Instant`: opaque, so it is counted from one that lies before all readings.
pub struct StdInstant {
    origin: Instant,
}

impl Timer for StdInstant {
    type Reading = Instant;

    #[allow(
        clippy::disallowed_methods,
        reason = "this crate is where clocks are read"
    )]
    fn open() -> Result<Self, Unavailable> {
        vdso_permitted()?;
        // An hour before the opening: differences saturate at zero, and a clock that steps
        // backwards at once shall not hide behind that.
        let now = Instant::now();
        Ok(Self {
            origin: now.checked_sub(Duration::from_secs(3600)).unwrap_or(now),
        })
    }

    #[allow(
        clippy::disallowed_methods,
        reason = "this crate is where clocks are read"
    )]
    #[inline(always)]
    fn read(&self) -> Instant {
        Instant::now()
    }

    fn ticks(&self, reading: Instant) -> Ticks {
        Ticks(reading.saturating_duration_since(self.origin).as_nanos() as u64)
    }
}

/// `SystemTime`, counted from 1970.
pub(crate) struct StdSystemTime;

impl Timer for StdSystemTime {
    type Reading = SystemTime;

    fn open() -> Result<Self, Unavailable> {
        vdso_permitted()?;
        Ok(Self)
    }

    #[allow(
        clippy::disallowed_methods,
        reason = "this crate is where clocks are read"
    )]
    #[inline(always)]
    fn read(&self) -> SystemTime {
        SystemTime::now()
    }

    fn ticks(&self, reading: SystemTime) -> Ticks {
        // A clock that stands before 1970 counts down to it, in two's complement.
        Ticks(match reading.duration_since(UNIX_EPOCH) {
            Ok(after) => after.as_nanos() as u64,
            Err(before) => (before.duration().as_nanos() as u64).wrapping_neg(),
        })
    }
}
