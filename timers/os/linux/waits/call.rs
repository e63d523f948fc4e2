//! What the calls that wait have in common: times in their units, and what became of them.

use std::io;
use std::mem::MaybeUninit;

use libc::{c_int, c_long, clockid_t};

use crate::Unavailable;
use crate::os::posix::nanoseconds;
use crate::waits::method::Method;

const SECOND_NS: u64 = 1_000_000_000;

/// As the kernel itself has it, on every processor.
#[repr(C)]
pub(super) struct KernelTimespec {
    seconds: i64,
    nanoseconds: i64,
}

impl KernelTimespec {
    pub(super) fn after(nanoseconds: u64) -> Self {
        // The quotient has 35 bits.
        Self {
            seconds: (nanoseconds / SECOND_NS) as i64,
            nanoseconds: (nanoseconds % SECOND_NS) as i64,
        }
    }
}

/// As libc has it; what does not fit is cut to the most that does.
#[allow(clippy::useless_conversion, reason = "seconds have 32 bits or 64")]
pub(super) fn timespec(nanoseconds: u64) -> libc::timespec {
    // SAFETY: integers, some with padding, for which zeros are a value.
    let mut time: libc::timespec = unsafe { MaybeUninit::zeroed().assume_init() };
    let seconds = (nanoseconds / SECOND_NS).try_into();
    time.tv_sec = seconds.unwrap_or(i32::MAX.into());
    // Below 10^9.
    time.tv_nsec = (nanoseconds % SECOND_NS) as _;
    time
}

/// In microseconds, rounded up.
pub(super) fn timeval(nanoseconds: u64) -> libc::timeval {
    let time = timespec(nanoseconds.div_ceil(1_000).saturating_mul(1_000));
    libc::timeval {
        tv_sec: time.tv_sec,
        tv_usec: (time.tv_nsec / 1_000) as _,
    }
}

/// In milliseconds, rounded up; the most that such a call takes is 24 days.
pub(super) fn milliseconds(nanoseconds: u64) -> c_int {
    c_int::try_from(nanoseconds.div_ceil(1_000_000)).unwrap_or(c_int::MAX)
}

/// Nanoseconds of a clock that is known to be there.
#[inline(always)]
pub(super) fn now(clock: clockid_t) -> u64 {
    let mut time = MaybeUninit::uninit();
    // SAFETY: the pointer is valid for a timespec, which is written, as the clock is known.
    nanoseconds(unsafe {
        libc::clock_gettime(clock, time.as_mut_ptr());
        time.assume_init()
    })
    .0
}

/// A method to wait that is one call.
pub(super) trait Call: Sized + 'static {
    /// What the call needs.
    fn prepare() -> Result<Self, Unavailable>;

    /// Waits, until a signal comes. The number of the error, which a timeout may be; 0 if none.
    fn wait_once(&mut self, nanoseconds: u64) -> c_int;
}

/// A call that is made again when a signal ended it: for the whole time, as a wait that is late is
/// no fault and one that is early is.
pub(super) struct Repeated<T>(T);

impl<T: Call> Method for Repeated<T> {
    fn open(label: &'static str) -> Result<Self, Unavailable> {
        let mut call = T::prepare()?;
        opened(label, call.wait_once(0)).map(|()| Self(call))
    }

    fn wait(&mut self, nanoseconds: u64) {
        through_signals(|| self.0.wait_once(nanoseconds));
    }
}

/// Calls that need nothing: their names, and the number of the error that one ended with.
macro_rules! calls {
    ($($(#[$doc:meta])* $name:ident, |$nanoseconds:ident| $call:expr;)*) => {$(
        $(#[$doc])*
        pub(super) struct $name;

        impl Call for $name {
            fn prepare() -> Result<Self, crate::Unavailable> {
                Ok(Self)
            }

            #[inline(always)]
            fn wait_once(&mut self, $nanoseconds: u64) -> libc::c_int {
                $call
            }
        }
    )*};
}
pub(super) use calls;

/// Waits again when a signal came between.
#[inline(always)]
pub(super) fn through_signals(mut wait: impl FnMut() -> c_int) -> c_int {
    loop {
        match wait() {
            libc::EINTR => {}
            number => return number,
        }
    }
}

/// The number of the error of a call that says by its result whether there was one; 0 if none.
#[inline(always)]
pub(super) fn error_number(status: impl Into<i64>) -> c_int {
    if status.into() >= 0 {
        return 0;
    }
    // SAFETY: libc gives each thread one.
    unsafe { *libc::__errno_location() }
}

/// Whether a call can be made, whose first try ended with this number.
pub(super) fn opened(call: &str, number: c_int) -> Result<(), Unavailable> {
    match number {
        0 | libc::EINTR | libc::ETIMEDOUT | libc::EAGAIN => Ok(()),
        number => Err(refused(call, &io::Error::from_raw_os_error(number))),
    }
}

/// A call that the system refused, in its own words.
pub(super) fn refused(call: &str, error: &io::Error) -> Unavailable {
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
pub(super) fn checked<T: Copy + Into<i64>>(call: &str, status: T) -> Result<T, Unavailable> {
    opened(call, error_number(status)).map(|()| status)
}

/// Of all processors, what came since Linux 5.1 has the same number, counted from where theirs
/// begin.
pub(super) const fn number_since_5_1(number: c_long) -> c_long {
    libc::SYS_io_uring_setup - 425 + number
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::posix::wide;

    #[test]
    fn requests_round_up_and_saturate() {
        assert_eq!([0, 1, 1_000_000, 1_000_001].map(milliseconds), [0, 1, 1, 2]);
        assert_eq!(milliseconds(u64::MAX), c_int::MAX);
        let parts = |time: libc::timeval| (wide(time.tv_sec), wide(time.tv_usec));
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
