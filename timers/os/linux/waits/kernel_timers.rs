//! Timers that are armed by one call and waited for by another: `timerfd` and POSIX timers
//! (`timer_create`).
//!
//! What ticks: a high-resolution timer of CLOCK_MONOTONIC. At what granularity: nanoseconds. Who
//! may use them: any process. Caveats: each wait takes two calls. A periodic timer keeps its phase;
//! the number of missed expirations is known after the next one (`timerfd`: the count that is read,
//! POSIX: `timer_getoverrun`). A POSIX timer here sends its signal to the waiting thread
//! (`SIGEV_THREAD_ID`), neither to the process (`SIGEV_SIGNAL`) nor to a thread started by libc
//! (`SIGEV_THREAD`). The waiting thread keeps the signal blocked and takes it synchronously.
//! Sources: `timerfd_create(2)`, `timer_create(2)`, `timer_getoverrun(2)`.

use std::fs::File;
use std::io::Read;
use std::mem::{self, MaybeUninit};
use std::os::fd::AsRawFd;
use std::ptr;

use libc::{CLOCK_MONOTONIC, c_int, itimerspec, sigevent, sigset_t, timer_t};

use super::calls::{error_number, own, timespec};
use super::check_call;
use crate::Available;
use crate::waits::method::WaitMethod;

fn itimerspec(first_ns: u64, period_ns: u64) -> itimerspec {
    itimerspec {
        it_interval: timespec(period_ns),
        it_value: timespec(first_ns),
    }
}

/// A `timerfd`, waited for by `read(2)`.
pub struct Timerfd {
    timer: File,
    /// The number of expirations that the last read returned.
    expirations: [u8; 8],
}

impl Timerfd {
    pub fn new() -> Available<Self> {
        // SAFETY: the call takes no pointers.
        let made = unsafe { libc::timerfd_create(CLOCK_MONOTONIC, libc::TFD_CLOEXEC) };
        Ok(Self {
            timer: own("timerfd_create(CLOCK_MONOTONIC)", made)?.into(),
            expirations: [0; 8],
        })
    }
}

impl WaitMethod for Timerfd {
    fn start(&mut self, first_ns: u64, period_ns: u64) -> Option<i32> {
        let (timer, times) = (self.timer.as_raw_fd(), itimerspec(first_ns, period_ns));
        // SAFETY: the kernel reads one valid itimerspec; a null pointer for the old value is allowed.
        let status = unsafe { libc::timerfd_settime(timer, 0, &raw const times, ptr::null_mut()) };
        Some(error_number(status))
    }

    fn tick(&mut self, _due_ns: u64) -> i32 {
        let read = self.timer.read(&mut self.expirations);
        read.map_or_else(|error| error.raw_os_error().unwrap_or(0), |_| 0)
    }

    fn expirations(&mut self) -> u64 {
        u64::from_ne_bytes(self.expirations)
    }
}

/// A POSIX timer of CLOCK_MONOTONIC that sends a signal to the thread that created it.
pub struct TimerCreate {
    timer: timer_t,
    /// Its signal.
    signals: sigset_t,
}

impl TimerCreate {
    pub fn new() -> Available<Self> {
        let signal = libc::SIGRTMIN();
        let mut signals = MaybeUninit::uninit();
        // SAFETY: `sigemptyset` initialises the set and cannot fail for a valid pointer; a null pointer
        // for the old mask is allowed.
        let (number, signals) = unsafe {
            libc::sigemptyset(signals.as_mut_ptr());
            libc::sigaddset(signals.as_mut_ptr(), signal);
            let blocked = libc::pthread_sigmask(libc::SIG_BLOCK, signals.as_ptr(), ptr::null_mut());
            (blocked, signals.assume_init())
        };
        check_call("pthread_sigmask()", number)?;
        let mut timer = ptr::null_mut();
        // SAFETY: a sigevent consists of integers and a nullable pointer, so that all-zero bytes are a
        // valid value; the call reads it and writes one timer id.
        let made = unsafe {
            let mut event: sigevent = mem::zeroed();
            event.sigev_notify = libc::SIGEV_THREAD_ID;
            event.sigev_signo = signal;
            event.sigev_notify_thread_id = libc::gettid();
            libc::timer_create(CLOCK_MONOTONIC, &raw mut event, &raw mut timer)
        };
        check_call("timer_create(CLOCK_MONOTONIC)", error_number(made))?;
        Ok(Self { timer, signals })
    }

    /// Waits for the signal and takes it, until a time has passed unless the pointer is null.
    #[inline(always)]
    fn take_signal(&self, at_most: *const libc::timespec) -> c_int {
        // SAFETY: the set is initialised; a null pointer for the signal info is allowed, and the time is
        // null or valid.
        error_number(unsafe {
            libc::sigtimedwait(&raw const self.signals, ptr::null_mut(), at_most)
        })
    }
}

impl WaitMethod for TimerCreate {
    fn start(&mut self, first_ns: u64, period_ns: u64) -> Option<i32> {
        let times = itimerspec(first_ns, period_ns);
        // SAFETY: the timer exists as long as `self`; the kernel reads one valid itimerspec; a null
        // pointer for the old value is allowed.
        let status =
            unsafe { libc::timer_settime(self.timer, 0, &raw const times, ptr::null_mut()) };
        Some(error_number(status))
    }

    fn tick(&mut self, _due_ns: u64) -> i32 {
        self.take_signal(ptr::null())
    }

    fn expirations(&mut self) -> u64 {
        // SAFETY: the timer exists as long as `self`.
        let missed = unsafe { libc::timer_getoverrun(self.timer) };
        1 + u64::try_from(missed).unwrap_or(0)
    }
}

impl Drop for TimerCreate {
    fn drop(&mut self) {
        // SAFETY: the timer exists; only this drop deletes it, once.
        unsafe { libc::timer_delete(self.timer) };
        // A signal that is pending would end a wait for the next timer.
        while self.take_signal(&timespec(0)) == 0 {}
    }
}
