//! Timeouts of `poll`, `ppoll`, `select`, `pselect`, `epoll_wait` and `epoll_pwait2` on an empty
//! set of files.
//!
//! What ticks: a high-resolution timer. At what granularity: timeouts of `poll` and `epoll_wait`
//! are in milliseconds, of `select` in microseconds, of the other calls in nanoseconds. Who may use
//! them: any process; `epoll_pwait2` since Linux 5.11. Caveats: the kernel wakes the thread up to
//! 0.1 % of the request late (0.5 % for a thread with a positive nice value) if that exceeds the
//! timer slack, 100 ms at most (`select_estimate_resolution`); a request of 0 ns returns
//! immediately. Calls with a timeout in milliseconds wait 24 days at most. Sources: `poll(2)`,
//! `select(2)`, `epoll_wait(2)`, `fs/select.c`.

use crate::waits::method::methods;

methods! { "Linux", target_os = "linux";
    Poll, "poll", "poll()", WAITS_AND_PERIODS, unit_ns: 1_000_000;
    Ppoll, "ppoll", "ppoll()", WAITS;
    Select, "select", "select()", WAITS, unit_ns: 1_000;
    Pselect, "pselect", "pselect()", WAITS;
    Epoll<false>, "epoll-wait", "epoll_wait()", WAITS_AND_PERIODS, unit_ns: 1_000_000;
    Epoll<true>, "epoll-pwait2", "epoll_pwait2()", WAITS;
}

#[cfg(target_os = "linux")]
use here::*;
#[cfg(target_os = "linux")]
mod here {
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
    use std::ptr;

    use libc::{c_int, sigset_t};

    use crate::Available;
    use crate::os::linux_waits::call::{
        Call, KernelTimespec, calls, check_status, error_number, milliseconds, number_since_5_1,
        timespec, timeval,
    };

    calls! {
        Poll, |nanoseconds| {
            // SAFETY: with a count of 0 files the kernel does not use the null pointer.
            error_number(unsafe { libc::poll(ptr::null_mut(), 0, milliseconds(nanoseconds)) })
        };
        Ppoll, |nanoseconds| {
            let time = timespec(nanoseconds);
            // SAFETY: with a count of 0 files the kernel does not use the null pointer; it reads
            // one valid timespec; a null signal mask is allowed.
            error_number(unsafe { libc::ppoll(ptr::null_mut(), 0, &raw const time, ptr::null()) })
        };
        Select, |nanoseconds| {
            let mut time = timeval(nanoseconds);
            let none = ptr::null_mut;
            // SAFETY: null file sets are allowed; the kernel reads and writes one valid timeval.
            error_number(unsafe { libc::select(0, none(), none(), none(), &raw mut time) })
        };
        Pselect, |nanoseconds| {
            let time = timespec(nanoseconds);
            let none = ptr::null_mut;
            // SAFETY: null file sets and a null signal mask are allowed; the kernel reads one valid
            // timespec.
            error_number(unsafe { libc::pselect(0, none(), none(), none(), &raw const time, ptr::null()) })
        };
    }

    /// An epoll instance that watches no file. `epoll_pwait2` is called by its number, because
    /// older C libraries have no function for this call.
    pub struct Epoll<const BY_PWAIT2: bool>(OwnedFd);

    impl<const BY_PWAIT2: bool> Call for Epoll<BY_PWAIT2> {
        fn prepare() -> Available<Self> {
            // SAFETY: the call takes no pointers.
            let descriptor = check_status("epoll_create1()", unsafe {
                libc::epoll_create1(libc::EPOLL_CLOEXEC)
            })?;
            // SAFETY: the descriptor was just opened and has no other owner.
            Ok(Self(unsafe { OwnedFd::from_raw_fd(descriptor) }))
        }

        #[inline(always)]
        fn wait_once(&mut self, nanoseconds: u64) -> c_int {
            let mut event = libc::epoll_event { events: 0, u64: 0 };
            let (epoll, event) = (self.0.as_raw_fd(), &raw mut event);
            if BY_PWAIT2 {
                let time = KernelTimespec::after(nanoseconds);
                let no_mask = ptr::null::<sigset_t>();
                // SAFETY: the event pointer is valid for one event, the descriptor is open as long
                // as `self` lives, and the kernel reads one valid timespec. A null signal mask is
                // allowed; its size is ignored.
                error_number(unsafe {
                    libc::syscall(
                        number_since_5_1(441),
                        epoll,
                        event,
                        1,
                        &raw const time,
                        no_mask,
                        0_usize,
                    )
                })
            } else {
                // SAFETY: the pointer is valid for one event, and the descriptor is open as long as
                // `self` lives.
                error_number(unsafe {
                    libc::epoll_wait(epoll, event, 1, milliseconds(nanoseconds))
                })
            }
        }
    }
}
