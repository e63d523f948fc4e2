//! The two clocks of Rust's standard library.
//!
//! What ticks: on Linux `Instant` is CLOCK_MONOTONIC and `SystemTime` is CLOCK_REALTIME
//! ([std::time]); on Windows the performance counter and the precise system time, on macOS
//! CLOCK_UPTIME_RAW and CLOCK_REALTIME. At what rate: that of these clocks, in nanoseconds. The
//! library reads them through libc, so through the vDSO if the clock source allows it. Who may read
//! them: any process. How they lie: as these clocks do; the cost is theirs plus a check of the
//! result, which panics if the call failed. `Instant` is documented never to go backwards; `SystemTime` steps when the clock is set.
//!
//! [std::time]: https://doc.rust-lang.org/std/time/struct.Instant.html#underlying-system-calls

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::entry::clocks;
use crate::os::{CalendarClock, CommonClock};
use crate::{Available, Described, Properties, Ticks, Timer};

/// The properties of the clock that `Instant` reads, without the id of a timer that reads it by the
/// system call.
const INSTANT: Properties = Properties {
    syscall_variant: None,
    ..CommonClock::INFO.properties
};

clocks! { "all systems", all();
    StdInstant, "instant", "std::time::Instant::now()", Some(1.0), INSTANT;
    StdSystemTime, "system-time", "std::time::SystemTime::now()", Some(1.0), Properties::CALENDAR;
}

/// The time of day in whole seconds since 1970, for documents; not for measurements. 0 if the clock
/// cannot be read.
pub fn date() -> i64 {
    let now = CalendarClock::open().map(|_| SystemTime::now());
    match now.unwrap_or(UNIX_EPOCH).duration_since(UNIX_EPOCH) {
        Ok(since) => since.as_secs() as i64,
        Err(before) => -before.duration().as_secs_f64().ceil() as i64,
    }
}

/// `Instant`, in nanoseconds since an origin before all readings, because the type is opaque.
pub struct StdInstant {
    origin: Instant,
}

impl Timer for StdInstant {
    type Reading = Instant;

    fn open() -> Available<Self> {
        CommonClock::availability()?;
        // The origin is one hour in the past, because differences saturate at zero and would hide a
        // backward step right after opening.
        let now = Instant::now();
        Ok(Self {
            origin: now.checked_sub(Duration::from_secs(3600)).unwrap_or(now),
        })
    }

    #[inline(always)]
    fn read(&self) -> Instant {
        Instant::now()
    }

    fn ticks(&self, reading: Instant) -> Ticks {
        Ticks(reading.saturating_duration_since(self.origin).as_nanos() as u64)
    }
}

/// `SystemTime`, in nanoseconds since 1970.
pub(crate) struct StdSystemTime;

impl Timer for StdSystemTime {
    type Reading = SystemTime;

    fn open() -> Available<Self> {
        CalendarClock::availability().map(|()| Self)
    }

    #[inline(always)]
    fn read(&self) -> SystemTime {
        SystemTime::now()
    }

    fn ticks(&self, reading: SystemTime) -> Ticks {
        // A time before 1970 is negative, in two's complement.
        Ticks(match reading.duration_since(UNIX_EPOCH) {
            Ok(after) => after.as_nanos() as u64,
            Err(before) => (before.duration().as_nanos() as u64).wrapping_neg(),
        })
    }
}
