//! `timerfd`.
//!
//! What ticks: a high-resolution timer of CLOCK_MONOTONIC. At what granularity: nanoseconds. Who
//! may use it: any process. Caveats: each wait takes two calls, one that arms and one that reads. A
//! periodic one stays on its grid; what was missed is read as a count with the next expiration. A
//! request of nothing would disarm it, so that it asks for a nanosecond. Source:
//! `timerfd_create(2)`.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;

use libc::itimerspec;

use super::kernel_timer::KernelTimer;
use super::{End, NEVER, checked, through_signals, timespec};
use crate::Unavailable;
use crate::waits::method::Method;
use crate::waits::{WaitInfo, linux};

/// A timer that is read.
pub(crate) struct Timerfd {
    timer: OwnedFd,
    /// What the last read told.
    expirations: u64,
}

impl KernelTimer for Timerfd {
    #[inline(always)]
    fn set(&self, first_ns: u64, period_ns: u64) -> End {
        let times = itimerspec {
            it_interval: timespec(period_ns),
            it_value: timespec(first_ns),
        };
        // SAFETY: the times are read, the former ones are not asked for; the descriptor is open as
        // long as `self` lives.
        let status = unsafe {
            libc::timerfd_settime(self.timer.as_raw_fd(), 0, &raw const times, ptr::null_mut())
        };
        End::of(status, NEVER)
    }

    #[inline(always)]
    fn expire(&mut self) {
        let (descriptor, count) = (self.timer.as_raw_fd(), &raw mut self.expirations);
        through_signals(|| {
            // SAFETY: the pointer is valid for eight bytes, and the descriptor is open as long as
            // `self` lives.
            let status = unsafe { libc::read(descriptor, count.cast(), size_of::<u64>()) };
            End::of(status as i64, NEVER)
        });
    }

    #[inline(always)]
    fn stood_for(&mut self) -> u64 {
        self.expirations
    }
}

impl Method for Timerfd {
    const INFO: WaitInfo = linux::TIMERFD;

    fn open() -> Result<Self, Unavailable> {
        // SAFETY: plain numbers.
        let made = unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_CLOEXEC) };
        let descriptor = checked("timerfd_create(CLOCK_MONOTONIC)", made)?;
        let timer = Self {
            // SAFETY: it was just opened and has no other owner.
            timer: unsafe { OwnedFd::from_raw_fd(descriptor) },
            expirations: 0,
        };
        timer.set(0, 0).opens("timerfd_settime()").map(|()| timer)
    }
}
