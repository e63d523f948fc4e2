//! macOS' clocks as timers; `crate::apple` says what they are.

use std::mem::MaybeUninit;

use crate::os::unix::clocks::{Route, resolution};
use crate::os::unix::portable::{Libc, try_clock};
use crate::posix::nanoseconds;
use crate::{Info, Ticks, Timer, Unavailable, apple as infos};

/// What `mach_timebase_info` tells: a tick is `numerator` / `denominator` nanoseconds.
#[repr(C)]
struct Timebase {
    numerator: u32,
    denominator: u32,
}

unsafe extern "C" {
    // No arguments, no preconditions.
    safe fn mach_absolute_time() -> u64;
    fn mach_timebase_info(info: *mut Timebase) -> i32;
}

/// `mach_absolute_time`.
pub(crate) struct Absolute;

impl Timer for Absolute {
    const INFO: Info = infos::ABSOLUTE;
    type Reading = u64;

    fn ns_per_tick() -> Option<f64> {
        let mut info = Timebase {
            numerator: 0,
            denominator: 0,
        };
        // SAFETY: the pointer is valid.
        let status = unsafe { mach_timebase_info(&raw mut info) };
        (status == 0 && info.numerator > 0 && info.denominator > 0)
            .then(|| f64::from(info.numerator) / f64::from(info.denominator))
    }

    fn open() -> Result<Self, Unavailable> {
        Ok(Self)
    }

    #[inline(always)]
    fn read(&self) -> u64 {
        mach_absolute_time()
    }

    fn ticks(&self, reading: u64) -> Ticks {
        Ticks(reading)
    }
}

/// `clock_gettime(CLOCK_UPTIME_RAW)`.
pub(crate) struct UptimeRaw;

impl Timer for UptimeRaw {
    const INFO: Info = infos::UPTIME_RAW;
    type Reading = libc::timespec;

    fn declared_resolution() -> Option<f64> {
        resolution(libc::CLOCK_UPTIME_RAW)
    }

    fn open() -> Result<Self, Unavailable> {
        try_clock::<Libc>(libc::CLOCK_UPTIME_RAW, Self::INFO.label, "").map(|()| Self)
    }

    #[inline(always)]
    fn read(&self) -> libc::timespec {
        let mut time = MaybeUninit::uninit();
        Libc::clock_gettime(libc::CLOCK_UPTIME_RAW, &mut time);
        // SAFETY: `open` made the same call and it succeeded, so that it writes both fields.
        unsafe { time.assume_init() }
    }

    fn ticks(&self, time: libc::timespec) -> Ticks {
        nanoseconds(time)
    }
}

crate::catalogue::list![Absolute, UptimeRaw];
