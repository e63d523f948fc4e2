//! `nanosleep`, `clock_nanosleep`, `usleep`.
//!
//! What ticks: a high-resolution timer of the named clock; on Linux `nanosleep` and `usleep` use
//! CLOCK_MONOTONIC, although POSIX specifies CLOCK_REALTIME. At what granularity: nanoseconds
//! (`usleep`: microseconds). Who may use them: any process. Caveats: an absolute wait reads the
//! clock first, and this read is part of the measured time; an absolute wait on CLOCK_REALTIME ends
//! early or late when the clock is set, a relative wait does not. A loop of absolute waits catches
//! up after a late wake-up; in a loop of relative waits lateness accumulates. `usleep` waits 71
//! minutes at most. Sources: `nanosleep(2)`, `clock_nanosleep(2)`, `usleep(3)`.

use crate::waits::method::methods;

// A `Call` is made again if a signal ended it early.
methods! { "Linux", target_os = "linux";
    Nanosleep, "nanosleep", "nanosleep()", WAITS_AND_PERIODS;
    Relative<CLOCK_MONOTONIC>, "clock-nanosleep-monotonic", "clock_nanosleep(CLOCK_MONOTONIC, 0)", WAITS_AND_PERIODS;
    Relative<CLOCK_REALTIME>, "clock-nanosleep-realtime", "clock_nanosleep(CLOCK_REALTIME, 0)", WAITS;
    Relative<CLOCK_BOOTTIME>, "clock-nanosleep-boottime", "clock_nanosleep(CLOCK_BOOTTIME, 0)", WAITS;
    Absolute<CLOCK_MONOTONIC>, "clock-nanosleep-monotonic-absolute", "clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME)", WAITS_AND_PERIODS;
    Absolute<CLOCK_REALTIME>, "clock-nanosleep-realtime-absolute", "clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME)", WAITS_AND_PERIODS;
    Absolute<CLOCK_BOOTTIME>, "clock-nanosleep-boottime-absolute", "clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME)", WAITS_AND_PERIODS;
    Usleep, "usleep", "usleep()", WAITS, unit_ns: 1_000;
}

/// Checks that `std::thread::sleep` works: on Linux it panics if a sandbox refuses
/// `clock_nanosleep`.
pub(crate) fn check_thread_sleep(_label: &'static str) -> crate::Available {
    #[cfg(target_os = "linux")]
    <Relative<CLOCK_MONOTONIC> as crate::waits::method::WaitMethod>::open(_label)?;
    Ok(())
}

/// Checks that waits of the standard library with a deadline end: on Linux it computes the deadline
/// by the C library's clock.
pub(crate) fn check_thread_deadlines(_label: &'static str) -> crate::Available {
    #[cfg(target_os = "linux")]
    crate::os::linux_waits::call::check_deadlines(CLOCK_MONOTONIC)?;
    Ok(())
}

// The types that the table names. They exist only on Linux; on other systems each row of the table
// states that its method exists only on Linux.
#[cfg(target_os = "linux")]
use here::*;
#[cfg(target_os = "linux")]
mod here {
    use std::ptr;

    pub(super) use libc::{CLOCK_BOOTTIME, CLOCK_MONOTONIC, CLOCK_REALTIME};
    use libc::{c_int, clockid_t, useconds_t};

    use crate::Available;
    use crate::os::linux_waits::call::{
        Call, calls, check_deadlines, check_first_call, error_number, now, repeat_after_signals,
        timespec,
    };
    use crate::subject::Answer;
    use crate::waits::method::WaitMethod;

    calls! {
        Nanosleep, |nanoseconds| {
            let time = timespec(nanoseconds);
            // SAFETY: the kernel reads one valid timespec; a null pointer for the rest is allowed.
            error_number(unsafe { libc::nanosleep(&raw const time, ptr::null_mut()) })
        };
        Usleep, |nanoseconds| {
            let time = useconds_t::try_from(nanoseconds.div_ceil(1_000)).unwrap_or(useconds_t::MAX);
            // SAFETY: the call takes no pointers.
            error_number(unsafe { libc::usleep(time) })
        };
    }

    #[inline(always)]
    fn clock_nanosleep(clock: clockid_t, flags: c_int, nanoseconds: u64) -> c_int {
        let time = timespec(nanoseconds);
        // SAFETY: the kernel reads one valid timespec; a null pointer for the rest is allowed.
        unsafe { libc::clock_nanosleep(clock, flags, &raw const time, ptr::null_mut()) }
    }

    /// `clock_nanosleep` with a relative time.
    pub struct Relative<const CLOCK: clockid_t>;

    impl<const CLOCK: clockid_t> Call for Relative<CLOCK> {
        fn prepare() -> Available<Self> {
            Ok(Self)
        }

        #[inline(always)]
        fn wait_once(&mut self, nanoseconds: u64) -> c_int {
            clock_nanosleep(CLOCK, 0, nanoseconds)
        }
    }

    /// `clock_nanosleep` with an absolute time (`TIMER_ABSTIME`).
    pub struct Absolute<const CLOCK: clockid_t> {
        /// The end of the last period, in nanoseconds of the clock.
        last_ns: u64,
    }

    impl<const CLOCK: clockid_t> Absolute<CLOCK> {
        /// Waits until the given time of the clock.
        #[inline(always)]
        fn wait_until(end_ns: u64) -> c_int {
            repeat_after_signals(|| clock_nanosleep(CLOCK, libc::TIMER_ABSTIME, end_ns))
        }
    }

    impl<const CLOCK: clockid_t> WaitMethod for Absolute<CLOCK> {
        fn open(label: &'static str) -> Available<Self> {
            check_deadlines(CLOCK)?;
            check_first_call(label, Self::wait_until(0)).map(|()| Self { last_ns: 0 })
        }

        fn wait(&mut self, nanoseconds: u64) {
            Self::wait_until(now(CLOCK).saturating_add(nanoseconds));
        }

        fn start(&mut self, _period_ns: u64) -> Answer<bool> {
            self.last_ns = now(CLOCK);
            Ok(true)
        }

        fn tick(&mut self, period_ns: u64) {
            self.last_ns = self.last_ns.saturating_add(period_ns);
            Self::wait_until(self.last_ns);
        }
    }
}
