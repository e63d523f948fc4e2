//! The timeout of a socket.
//!
//! What ticks: the kernel's tick of 1/CONFIG_HZ, 1 to 10 ms (`schedule_timeout`). At what
//! granularity: requests are told in microseconds and kept in ticks, rounded up, with one more as
//! the first is a part of one; what is farther ahead is rounded more coarsely, by the levels of the
//! kernel's timer wheel. Who may use it: any process. Caveats: no time at all means to wait for
//! ever, so that a request of nothing asks for a microsecond. Sources: `socket(7)`,
//! `kernel/time/timer.c`.

use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixDatagram;

use libc::{c_void, socklen_t, timeval};

use super::{End, NEVER, refused, through_signals};
use crate::Unavailable;
use crate::waits::method::{Countdown, Method};
use crate::waits::{WaitInfo, linux};

/// A socket to which nothing is sent.
pub(crate) struct RcvTimeo {
    socket: OwnedFd,
    _other_end: UnixDatagram,
    /// The timeout that it has.
    timeout_ns: u64,
}

impl RcvTimeo {
    #[inline(always)]
    fn receive(&self) -> End {
        let mut byte = 0_u8;
        // SAFETY: the pointer is valid for one byte, and the descriptor is open as long as `self`
        // lives.
        let status = unsafe { libc::recv(self.socket.as_raw_fd(), (&raw mut byte).cast(), 1, 0) };
        End::of(status as i64, libc::EAGAIN)
    }

    #[inline(always)]
    fn set(&mut self, nanoseconds: u64) -> End {
        let time = super::timeval(nanoseconds.max(1));
        // SAFETY: the pointer is valid for a timeval, whose size is told.
        let status = unsafe {
            libc::setsockopt(
                self.socket.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_RCVTIMEO,
                (&raw const time).cast::<c_void>(),
                size_of::<timeval>() as socklen_t,
            )
        };
        self.timeout_ns = nanoseconds;
        End::of(status, NEVER)
    }
}

impl Method for RcvTimeo {
    const INFO: WaitInfo = linux::SO_RCVTIMEO;

    fn open() -> Result<Self, Unavailable> {
        let (socket, other) =
            UnixDatagram::pair().map_err(|error| refused("socketpair()", &error))?;
        let mut timeout = Self {
            socket: socket.into(),
            _other_end: other,
            timeout_ns: 0,
        };
        timeout
            .set(0)
            .opens("setsockopt(SO_RCVTIMEO)")
            .map(|()| timeout)
    }
}

impl Countdown for RcvTimeo {
    fn wait(&mut self, nanoseconds: u64) {
        // Set where it differs, as users do.
        if nanoseconds != self.timeout_ns {
            self.set(nanoseconds);
        }
        through_signals(|| self.receive());
    }
}
