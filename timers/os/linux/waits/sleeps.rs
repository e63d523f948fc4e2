//! `nanosleep`, `clock_nanosleep`, `usleep`.
//!
//! What ticks: a high-resolution timer of the clock that is named; `nanosleep` and `usleep` are of
//! CLOCK_MONOTONIC here, whatever POSIX says. At what granularity: nanoseconds, but for `usleep`.
//! Who may use them: any process. Caveats: an absolute wait reads the clock first, which stands in
//! what is observed; one of CLOCK_REALTIME ends early or late when the clock is set, a relative one
//! does not. A loop of absolute waits catches up with what it missed; one of relative waits puts it
//! off and runs slow. `usleep` ends after 71 minutes at the latest. Sources: `nanosleep(2)`,
//! `clock_nanosleep(2)`, `usleep(3)`.

use std::mem::MaybeUninit;
use std::ptr;

use libc::{CLOCK_BOOTTIME, CLOCK_MONOTONIC, CLOCK_REALTIME, clockid_t, useconds_t};

use super::{End, NEVER, SECOND_NS, through_signals, timespec};
use crate::Unavailable;
use crate::os::clocks::wide;
use crate::subject::Answer;
use crate::waits::method::{Countdown, Method, Periodic};
use crate::waits::{WaitInfo, linux};

/// `nanosleep`.
pub(crate) struct Nanosleep;

impl Method for Nanosleep {
    const INFO: WaitInfo = linux::NANOSLEEP;

    fn open() -> Result<Self, Unavailable> {
        nanosleep(0).opens("nanosleep()").map(|()| Self)
    }
}

impl Countdown for Nanosleep {
    fn wait(&mut self, nanoseconds: u64) {
        through_signals(|| nanosleep(nanoseconds));
    }
}

#[inline(always)]
fn nanosleep(nanoseconds: u64) -> End {
    let time = timespec(nanoseconds);
    // SAFETY: the kernel reads a timespec; what is left is not asked for.
    End::of(
        unsafe { libc::nanosleep(&raw const time, ptr::null_mut()) },
        NEVER,
    )
}

/// `usleep`.
pub(crate) struct Usleep;

impl Method for Usleep {
    const INFO: WaitInfo = linux::USLEEP;

    fn open() -> Result<Self, Unavailable> {
        usleep(0).opens("usleep()").map(|()| Self)
    }
}

impl Countdown for Usleep {
    fn wait(&mut self, nanoseconds: u64) {
        through_signals(|| usleep(nanoseconds));
    }
}

#[inline(always)]
fn usleep(nanoseconds: u64) -> End {
    let time = useconds_t::try_from(nanoseconds.div_ceil(1_000)).unwrap_or(useconds_t::MAX);
    // SAFETY: a plain number.
    End::of(unsafe { libc::usleep(time) }, NEVER)
}

#[inline(always)]
fn clock_nanosleep(clock: clockid_t, flags: i32, nanoseconds: u64) -> End {
    let time = timespec(nanoseconds);
    // SAFETY: the kernel reads a timespec; what is left is not asked for.
    let number = unsafe { libc::clock_nanosleep(clock, flags, &raw const time, ptr::null_mut()) };
    End::of_number(number, NEVER)
}

macro_rules! relative {
    ($($name:ident, $info:ident, $clock:ident;)*) => {$(
        #[doc = concat!("`", stringify!($clock), "`, for a span.")]
        pub(crate) struct $name;

        impl Method for $name {
            const INFO: WaitInfo = linux::$info;

            fn open() -> Result<Self, Unavailable> {
                clock_nanosleep($clock, 0, 0).opens(Self::INFO.label).map(|()| Self)
            }
        }

        impl Countdown for $name {
            fn wait(&mut self, nanoseconds: u64) {
                through_signals(|| clock_nanosleep($clock, 0, nanoseconds));
            }
        }
    )*};
}

relative! {
    Monotonic, CLOCK_NANOSLEEP_MONOTONIC, CLOCK_MONOTONIC;
    Realtime, CLOCK_NANOSLEEP_REALTIME, CLOCK_REALTIME;
    Boottime, CLOCK_NANOSLEEP_BOOTTIME, CLOCK_BOOTTIME;
}

/// Nanoseconds of a clock that is known to be there.
#[inline(always)]
pub(super) fn now(clock: clockid_t) -> u64 {
    let mut time = MaybeUninit::uninit();
    // SAFETY: the pointer is valid for a timespec, which is written, as the clock is known.
    let time = unsafe {
        libc::clock_gettime(clock, time.as_mut_ptr());
        time.assume_init()
    };
    (wide(time.tv_sec) as u64)
        .wrapping_mul(SECOND_NS)
        .wrapping_add(wide(time.tv_nsec) as u64)
}

/// How to wait for a point in time.
#[derive(Clone, Copy, Default)]
struct Grid {
    /// The end of the last period, in nanoseconds of the clock.
    last_ns: u64,
    period_ns: u64,
}

macro_rules! absolute {
    ($($name:ident, $info:ident, $clock:ident;)*) => {$(
        #[doc = concat!("`", stringify!($clock), "`, for a point in time.")]
        pub(crate) struct $name(Grid);

        impl Method for $name {
            const INFO: WaitInfo = linux::$info;

            fn open() -> Result<Self, Unavailable> {
                let tried = clock_nanosleep($clock, libc::TIMER_ABSTIME, 0);
                tried.opens(Self::INFO.label).map(|()| Self(Grid::default()))
            }
        }

        impl Countdown for $name {
            fn wait(&mut self, nanoseconds: u64) {
                let end = now($clock).saturating_add(nanoseconds);
                through_signals(|| clock_nanosleep($clock, libc::TIMER_ABSTIME, end));
            }
        }

        impl Periodic for $name {
            fn start(&mut self, period_ns: u64) -> Answer<()> {
                self.0 = Grid { last_ns: now($clock), period_ns };
                Ok(())
            }

            fn tick(&mut self) {
                let end = self.0.last_ns.saturating_add(self.0.period_ns);
                self.0.last_ns = end;
                through_signals(|| clock_nanosleep($clock, libc::TIMER_ABSTIME, end));
            }
        }
    )*};
}

absolute! {
    MonotonicAbsolute, CLOCK_NANOSLEEP_MONOTONIC_ABSOLUTE, CLOCK_MONOTONIC;
    RealtimeAbsolute, CLOCK_NANOSLEEP_REALTIME_ABSOLUTE, CLOCK_REALTIME;
    BoottimeAbsolute, CLOCK_NANOSLEEP_BOOTTIME_ABSOLUTE, CLOCK_BOOTTIME;
}
