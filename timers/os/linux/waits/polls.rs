//! Waiting for files, of which there are none: `poll`, `ppoll`, `select`, `pselect`, `epoll_wait`,
//! `epoll_pwait2`.
//!
//! What ticks: a high-resolution timer. At what granularity: `poll` and `epoll_wait` are asked in
//! milliseconds, `select` in microseconds, the others in nanoseconds. Who may use them: any
//! process; `epoll_pwait2` came with Linux 5.11. Caveats: the kernel wakes the thread up to 0.1 %
//! of the request late (0.5 % for one with a positive nice value) where that is more than the timer
//! slack, 100 ms at most (`select_estimate_resolution`); a request of nothing returns at once. Those
//! of milliseconds end after 24 days at the latest. Sources: `poll(2)`, `select(2)`,
//! `epoll_wait(2)`, `fs/select.c`.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;

use super::{
    End, KernelTimespec, NEVER, checked, milliseconds, number_since_5_1, through_signals, timespec,
    timeval,
};
use crate::Unavailable;
use crate::waits::method::{Countdown, Method};
use crate::waits::{WaitInfo, linux};

macro_rules! calls {
    ($($name:ident, $info:ident, |$nanoseconds:ident| $call:expr;)*) => {$(
        #[doc = concat!("`", stringify!($name), "` without files.")]
        pub(crate) struct $name;

        impl $name {
            #[inline(always)]
            fn call($nanoseconds: u64) -> End {
                $call
            }
        }

        impl Method for $name {
            const INFO: WaitInfo = linux::$info;

            fn open() -> Result<Self, Unavailable> {
                Self::call(0).opens(Self::INFO.label).map(|()| Self)
            }
        }

        impl Countdown for $name {
            fn wait(&mut self, nanoseconds: u64) {
                through_signals(|| Self::call(nanoseconds));
            }
        }
    )*};
}

calls! {
    Poll, POLL, |nanoseconds| {
        // SAFETY: no files, so that the pointer is not used.
        End::of(unsafe { libc::poll(ptr::null_mut(), 0, milliseconds(nanoseconds)) }, NEVER)
    };
    Ppoll, PPOLL, |nanoseconds| {
        let time = timespec(nanoseconds);
        // SAFETY: no files, so that the pointer is not used; the time is read; no mask of signals.
        End::of(unsafe { libc::ppoll(ptr::null_mut(), 0, &raw const time, ptr::null()) }, NEVER)
    };
    Select, SELECT, |nanoseconds| {
        let mut time = timeval(nanoseconds);
        let none = ptr::null_mut;
        // SAFETY: no sets of files; what is left of the time is written to where it was.
        End::of(unsafe { libc::select(0, none(), none(), none(), &raw mut time) }, NEVER)
    };
    Pselect, PSELECT, |nanoseconds| {
        let time = timespec(nanoseconds);
        let none = ptr::null_mut;
        // SAFETY: no sets of files; the time is read; no mask of signals.
        End::of(unsafe { libc::pselect(0, none(), none(), none(), &raw const time, ptr::null()) }, NEVER)
    };
}

/// An instance of epoll that watches nothing.
struct Epoll(OwnedFd);

impl Epoll {
    fn new() -> Result<Self, Unavailable> {
        // SAFETY: plain numbers.
        let descriptor = checked("epoll_create1()", unsafe {
            libc::epoll_create1(libc::EPOLL_CLOEXEC)
        })?;
        // SAFETY: it was just opened and has no other owner.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(descriptor) }))
    }

    #[inline(always)]
    fn wait(&self, nanoseconds: u64) -> End {
        let mut event = libc::epoll_event { events: 0, u64: 0 };
        // SAFETY: the pointer is valid for one event, and the descriptor is open as long as `self`
        // lives.
        let status = unsafe {
            libc::epoll_wait(
                self.0.as_raw_fd(),
                &raw mut event,
                1,
                milliseconds(nanoseconds),
            )
        };
        End::of(status, NEVER)
    }

    /// By the call itself, which libraries of C have only lately.
    #[inline(always)]
    fn pwait2(&self, nanoseconds: u64) -> End {
        let mut event = libc::epoll_event { events: 0, u64: 0 };
        let time = KernelTimespec::of(nanoseconds);
        let no_mask = ptr::null::<libc::sigset_t>();
        // SAFETY: as above; the time is read; no mask of signals, whose size then says nothing.
        let status = unsafe {
            libc::syscall(
                number_since_5_1(441),
                self.0.as_raw_fd(),
                &raw mut event,
                1,
                &raw const time,
                no_mask,
                0_usize,
            )
        };
        End::of(status, NEVER)
    }
}

/// `epoll_wait` on nothing.
pub(crate) struct EpollWait(Epoll);

impl Method for EpollWait {
    const INFO: WaitInfo = linux::EPOLL_WAIT;

    fn open() -> Result<Self, Unavailable> {
        let epoll = Epoll::new()?;
        epoll.wait(0).opens(Self::INFO.label).map(|()| Self(epoll))
    }
}

impl Countdown for EpollWait {
    fn wait(&mut self, nanoseconds: u64) {
        through_signals(|| self.0.wait(nanoseconds));
    }
}

/// `epoll_pwait2` on nothing.
pub(crate) struct EpollPwait2(Epoll);

impl Method for EpollPwait2 {
    const INFO: WaitInfo = linux::EPOLL_PWAIT2;

    fn open() -> Result<Self, Unavailable> {
        let epoll = Epoll::new()?;
        epoll
            .pwait2(0)
            .opens(Self::INFO.label)
            .map(|()| Self(epoll))
    }
}

impl Countdown for EpollPwait2 {
    fn wait(&mut self, nanoseconds: u64) {
        through_signals(|| self.0.pwait2(nanoseconds));
    }
}
