//! Clocks on devices, `/dev/ptp0` and so on: read as timers. `crate::ptp` says what they are.
//!
//! Nothing is changed: devices are opened for reading only.

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, RawFd};
use std::path::Path;

use super::clocks::{Libc, Route, clockid_t, timespec};
use crate::os::unix::files::open_at_once;
use crate::posix::{nanoseconds, word_by_word};
use crate::{Info, Ticks, Timer, Unavailable, ptp};

/// The clock of `/dev/ptpN`. It stays open as long as it is read.
pub(crate) struct PtpClock<const N: usize> {
    clock: clockid_t,
    _device: File,
}

impl<const N: usize> Timer for PtpClock<N> {
    const INFO: Info = ptp::ALL[N];
    type Reading = timespec;

    fn open() -> Result<Self, Unavailable> {
        let path = format!("/dev/ptp{N}");
        let device = open_at_once(Path::new(&path)).map_err(|error| refused(&path, &error))?;
        let clock = dynamic(device.as_raw_fd());
        match Libc::clock_gettime(clock, &mut MaybeUninit::zeroed()) {
            0 => Ok(Self {
                clock,
                _device: device,
            }),
            status => {
                let error = Libc::error(status);
                Err(Unavailable::because(format!(
                    "clock_gettime of {path}: {error}; it is no clock, or gone"
                )))
            }
        }
    }

    #[inline(always)]
    fn read(&self) -> timespec {
        // Set to zero, unlike other clocks: this call fails when the device is taken away.
        let mut time = MaybeUninit::zeroed();
        Libc::clock_gettime(self.clock, &mut time);
        // SAFETY: all zeros are a timespec, over which the kernel has written.
        word_by_word(unsafe { time.assume_init() })
    }

    fn ticks(&self, time: timespec) -> Ticks {
        nanoseconds(time)
    }
}

/// FD_TO_CLOCKID of clock_getres(2): the clock that an open device is.
fn dynamic(descriptor: RawFd) -> clockid_t {
    const CLOCKFD: clockid_t = 3;
    (!descriptor << 3) | CLOCKFD
}

fn refused(path: &str, error: &io::Error) -> Unavailable {
    let why = format!("{path}: {error}");
    match error.kind() {
        io::ErrorKind::NotFound => Unavailable::because("no such device").remedy(
            "a network card with a clock (`ethtool -T`), or in a virtual machine `modprobe ptp_kvm`; a container has to be given \
             the device",
        ),
        io::ErrorKind::PermissionDenied => Unavailable::because(why)
            .remedy("run as root, or let a udev rule give it to your group: SUBSYSTEM==\"ptp\", GROUP=\"…\", MODE=\"0640\""),
        _ => Unavailable::because(why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_of_descriptors_are_those_of_the_manual() {
        // clock_getres(2): ((~(clockid_t) (fd) << 3) | CLOCKFD)
        for (descriptor, clock) in [(0, -5), (3, -29), (1023, -8189)] {
            assert_eq!(dynamic(descriptor), clock);
        }
    }

    #[test]
    fn what_is_no_such_clock_says_so() {
        let why = refused("/dev/ptp0", &io::ErrorKind::NotFound.into());
        assert!(why.reason.starts_with("no such device") && why.remedy.is_some());
    }
}
