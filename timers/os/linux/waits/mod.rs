//! The calls that wait. What they are stands in `waits/systems.rs`.

mod io_uring;
mod kernel_timer;
mod locks;
mod polls;
mod process_timer;
mod signals;
mod sleeps;
mod socket;
mod timerfd;

use std::io;
use std::mem::MaybeUninit;

use libc::{c_int, c_long, timespec, timeval};

use crate::Unavailable;
use crate::subject::{Answer, Fault};
use crate::waits::WaitEntry;
use crate::waits::observe::methods;

pub(crate) const OWN: &[WaitEntry] = methods![
    sleeps::Nanosleep: waits relative;
    sleeps::Monotonic: waits relative;
    sleeps::Realtime: waits;
    sleeps::Boottime: waits;
    sleeps::MonotonicAbsolute: waits periods;
    sleeps::RealtimeAbsolute: waits periods;
    sleeps::BoottimeAbsolute: waits periods;
    sleeps::Usleep: waits;
    polls::Poll: waits relative;
    polls::Ppoll: waits;
    polls::Select: waits;
    polls::Pselect: waits;
    polls::EpollWait: waits relative;
    polls::EpollPwait2: waits;
    locks::Futex: waits;
    locks::Condition: waits;
    locks::Semaphore: waits;
    signals::Sigtimedwait: waits;
    socket::RcvTimeo: waits;
    timerfd::Timerfd: waits arms periods;
    signals::TimerCreate: waits arms periods;
    process_timer::Setitimer: waits arms periods;
    io_uring::Timeout: waits arms;
];

const SECOND_NS: u64 = 1_000_000_000;

/// As the kernel itself has it, on every processor.
#[repr(C)]
struct KernelTimespec {
    seconds: i64,
    nanoseconds: i64,
}

impl KernelTimespec {
    fn of(nanoseconds: u64) -> Self {
        // The quotient has 35 bits.
        Self {
            seconds: (nanoseconds / SECOND_NS) as i64,
            nanoseconds: (nanoseconds % SECOND_NS) as i64,
        }
    }
}

/// As libc has it; what does not fit is cut to the most that does.
#[allow(clippy::useless_conversion, reason = "seconds have 32 bits or 64")]
fn timespec(nanoseconds: u64) -> timespec {
    let mut time = zeroed_timespec();
    time.tv_sec = (nanoseconds / SECOND_NS)
        .try_into()
        .unwrap_or(i32::MAX.into());
    // Below 10^9.
    time.tv_nsec = (nanoseconds % SECOND_NS) as _;
    time
}

/// Some have padding.
fn zeroed_timespec() -> timespec {
    // SAFETY: integers, for which zeros are a value.
    unsafe { MaybeUninit::<timespec>::zeroed().assume_init() }
}

/// In microseconds, rounded up.
fn timeval(nanoseconds: u64) -> timeval {
    let time = timespec(nanoseconds.div_ceil(1_000).saturating_mul(1_000));
    timeval {
        tv_sec: time.tv_sec,
        tv_usec: (time.tv_nsec / 1_000) as _,
    }
}

/// In milliseconds, rounded up; the most that such a call takes is 24 days.
fn milliseconds(nanoseconds: u64) -> c_int {
    c_int::try_from(nanoseconds.div_ceil(1_000_000)).unwrap_or(c_int::MAX)
}

/// What a call that waits came back for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The time was over, or what it was told to wait for is there.
    Over,
    /// The number of an error.
    Error(c_int),
}

impl End {
    const INTERRUPTED: Self = Self::Error(libc::EINTR);

    /// Of one that says by its result whether it succeeded, and by `errno` why not: `timeout` where
    /// the time was over.
    #[inline(always)]
    fn of(status: impl Into<i64>, timeout: c_int) -> Self {
        if status.into() >= 0 {
            return Self::Over;
        }
        // SAFETY: libc gives each thread one.
        Self::of_number(unsafe { *libc::__errno_location() }, timeout)
    }

    /// Of one that returns the number of the error.
    #[inline(always)]
    fn of_number(number: c_int, timeout: c_int) -> Self {
        if number == 0 || number == timeout {
            Self::Over
        } else {
            Self::Error(number)
        }
    }

    /// Whether a call can be made, of which this is the first try.
    fn opens(self, call: &str) -> Result<(), Unavailable> {
        match self {
            Self::Over | Self::INTERRUPTED => Ok(()),
            Self::Error(number) => Err(refused(call, &io::Error::from_raw_os_error(number))),
        }
    }

    /// Whether a periodic timer runs, which this began.
    fn starts(self, call: &str) -> Answer<()> {
        self.opens(call).map_err(|why| Fault::Refused(why.reason))
    }
}

/// What has no name for a time that is over.
const NEVER: c_int = 0;

/// Waits again when a signal came between: for the whole time, as a wait that is late is no fault
/// and one that is early is.
#[inline(always)]
fn through_signals(mut wait: impl FnMut() -> End) {
    while wait() == End::INTERRUPTED {}
}

/// A call that the system refused, in its own words.
fn refused(call: &str, error: &io::Error) -> Unavailable {
    let why = Unavailable::because(format!("{call}: {error}"));
    match error.raw_os_error() {
        Some(libc::ENOSYS) => why.remedy(
            "the kernel is too old for the call, or a seccomp filter (of a container, a sandbox) hides it",
        ),
        Some(libc::EPERM | libc::EACCES) => {
            why.remedy("a seccomp filter (of a container, a sandbox) may forbid the call; run outside it")
        }
        Some(libc::EMFILE) => why.remedy("raise the limit of open files (`ulimit -n`)"),
        _ => why,
    }
}

/// The result of a call that has one, or what went wrong.
fn checked<T: Copy + Into<i64>>(call: &str, status: T) -> Result<T, Unavailable> {
    if status.into() >= 0 {
        Ok(status)
    } else {
        Err(refused(call, &io::Error::last_os_error()))
    }
}

/// Of all processors, what came since Linux 5.1 has the same number, counted from where theirs
/// begin.
const fn number_since_5_1(number: c_long) -> c_long {
    libc::SYS_io_uring_setup - 425 + number
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::clocks::wide;
    use crate::waits::linux;

    #[test]
    fn what_is_told_elsewhere_is_what_is_here() {
        let own: Vec<_> = OWN
            .iter()
            .map(|entry| (entry.info, entry.answers))
            .collect();
        assert_eq!(own, linux::ALL);
    }

    #[test]
    fn requests_are_rounded_up_and_cut_where_they_do_not_fit() {
        assert_eq!([0, 1, 1_000_000, 1_000_001].map(milliseconds), [0, 1, 1, 2]);
        assert_eq!(milliseconds(u64::MAX), c_int::MAX);
        let parts = |time: timeval| (wide(time.tv_sec), wide(time.tv_usec));
        assert_eq!(
            [1, 1_000, 999_999_001].map(timeval).map(parts),
            [(0, 1), (0, 1), (1, 0)]
        );
        let time = timespec(3_000_000_007);
        assert_eq!((wide(time.tv_sec), wide(time.tv_nsec)), (3, 7));
        let most = wide(timespec(u64::MAX).tv_sec);
        assert!(
            most == i64::from(i32::MAX) || most == 18_446_744_073,
            "{most}"
        );
    }
}
