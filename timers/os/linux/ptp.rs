//! Clocks on devices, `/dev/ptp0` and so on: read as timers, and held against the system clock. `crate::ptp` says what they are.
//!
//! Nothing is changed: devices are opened for reading only, and no request that is made here sets anything.
//! Source: include/uapi/linux/ptp_clock.h, drivers/ptp/ptp_chardev.c of Linux.

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, RawFd};
use std::path::Path;

use libc::{
    PTP_MAX_SAMPLES, PTP_SYS_OFFSET, PTP_SYS_OFFSET_EXTENDED, PTP_SYS_OFFSET_PRECISE, ptp_clock_time,
    ptp_sys_offset, ptp_sys_offset_extended, ptp_sys_offset_precise,
};

use super::clocks::{Libc, Route, clockid_t, timespec};
use crate::os::unix::files::open_at_once;
use crate::os::{Bracket, DeviceOffset};
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
            0 => Ok(Self { clock, _device: device }),
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

/// How far the system clock is from that of a device.
///
/// # Errors
/// When it cannot be opened, or is no such clock.
pub fn offset(path: &Path) -> io::Result<DeviceOffset> {
    let device = open_at_once(path)?;
    let cross = cross(&device);
    // Every driver can do the last, by reading the device between two readings of the system clock.
    let brackets = extended(&device).or_else(|_| plain(&device));
    match (cross, brackets) {
        (Err(_), Err(why)) => Err(why),
        (cross, brackets) => Ok(DeviceOffset {
            cross_ns: cross.ok().flatten(),
            bracket: shortest(&brackets.unwrap_or_default()),
        }),
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

/// Three times: of the system, of the device, of the system.
type Triple = [ptp_clock_time; 3];

/// The hardware's own cross timestamp.
fn cross(device: &File) -> io::Result<Option<i64>> {
    // SAFETY: it is integers only, so all zeros are one.
    let mut request: ptp_sys_offset_precise = unsafe { MaybeUninit::zeroed().assume_init() };
    // SAFETY: the descriptor is open, and the request wants a pointer to this structure, which the kernel fills.
    answered(unsafe { libc::ioctl(device.as_raw_fd(), PTP_SYS_OFFSET_PRECISE, &raw mut request) })?;
    Ok(difference(&request.sys_realtime, &request.device))
}

/// Brackets that the driver makes, as tightly as it can.
fn extended(device: &File) -> io::Result<Vec<Triple>> {
    // SAFETY: it is integers only, so all zeros are one; the clock 0 is CLOCK_REALTIME, as it has to be in older kernels.
    let mut request: ptp_sys_offset_extended = unsafe { MaybeUninit::zeroed().assume_init() };
    request.n_samples = PTP_MAX_SAMPLES;
    // SAFETY: as in `cross`.
    answered(unsafe { libc::ioctl(device.as_raw_fd(), PTP_SYS_OFFSET_EXTENDED, &raw mut request) })?;
    Ok(request.ts.to_vec())
}

/// Brackets that the kernel makes around the driver: each ends where the next begins.
fn plain(device: &File) -> io::Result<Vec<Triple>> {
    // SAFETY: it is integers only, so all zeros are one.
    let mut request: ptp_sys_offset = unsafe { MaybeUninit::zeroed().assume_init() };
    request.n_samples = PTP_MAX_SAMPLES;
    // SAFETY: as in `cross`.
    answered(unsafe { libc::ioctl(device.as_raw_fd(), PTP_SYS_OFFSET, &raw mut request) })?;
    Ok(request.ts.windows(3).step_by(2).map(|times| [times[0], times[1], times[2]]).collect())
}

fn answered(status: libc::c_int) -> io::Result<()> {
    if status < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn shortest(triples: &[Triple]) -> Option<Bracket> {
    triples.iter().filter_map(bracket).min_by_key(|bracket| bracket.half_ns)
}

/// `None` where the system clock was set backwards meanwhile, or a driver answers with what is no time.
fn bracket([before, device, after]: &Triple) -> Option<Bracket> {
    let took = u64::try_from(difference(after, before)?).ok()?;
    let from_begin = difference(before, device)?;
    // Rounded up, so that it still holds.
    Some(Bracket { offset_ns: from_begin.checked_add_unsigned(took / 2)?, half_ns: took.div_ceil(2) })
}

/// Nanoseconds from `earlier` to `later`.
fn difference(later: &ptp_clock_time, earlier: &ptp_clock_time) -> Option<i64> {
    let seconds = later.sec.checked_sub(earlier.sec)?;
    seconds.checked_mul(1_000_000_000)?.checked_add(i64::from(later.nsec) - i64::from(earlier.nsec))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(sec: i64, nsec: u32) -> ptp_clock_time {
        ptp_clock_time { sec, nsec, reserved: 0 }
    }

    /// As include/uapi/linux/ptp_clock.h has them on every processor.
    #[test]
    fn structures_are_as_long_as_the_kernels() {
        assert_eq!(size_of::<ptp_clock_time>(), 16);
        assert_eq!(size_of::<ptp_sys_offset>(), 16 + 51 * 16);
        assert_eq!(size_of::<ptp_sys_offset_extended>(), 16 + 25 * 3 * 16);
        assert_eq!(size_of::<ptp_sys_offset_precise>(), 3 * 16 + 16);
    }

    #[test]
    fn clocks_of_descriptors_are_those_of_the_manual() {
        // clock_getres(2): ((~(clockid_t) (fd) << 3) | CLOCKFD)
        for (descriptor, clock) in [(0, -5), (3, -29), (1023, -8189)] {
            assert_eq!(dynamic(descriptor), clock);
        }
    }

    #[test]
    fn the_offset_is_that_of_the_system_clock_from_the_device() {
        let found = bracket(&[at(100, 500), at(99, 999_999_500), at(100, 700)]);
        assert_eq!(found, Some(Bracket { offset_ns: 1_100, half_ns: 100 }));
        let behind = bracket(&[at(63, 0), at(100, 0), at(63, 1)]);
        assert_eq!(behind, Some(Bracket { offset_ns: -37_000_000_000, half_ns: 1 }));
    }

    #[test]
    fn the_shortest_bracket_counts_and_odd_ones_do_not() {
        let set_back = [at(100, 700), at(100, 0), at(100, 500)];
        let long = [at(100, 0), at(100, 0), at(100, 900)];
        let short = [at(200, 0), at(100, 0), at(200, 10)];
        assert_eq!(shortest(&[set_back, long, short]).map(|bracket| bracket.half_ns), Some(5));
        assert_eq!(shortest(&[set_back]), None);
        let far = [at(i64::MAX, 0), at(i64::MIN, u32::MAX), at(i64::MAX, 1)];
        assert_eq!(bracket(&far), None);
    }

    #[test]
    fn what_is_no_such_clock_says_so() {
        for path in ["/dev/null", "/nonexistent", "/proc/self/exe"] {
            assert!(offset(Path::new(path)).is_err(), "{path}");
        }
        let why = refused("/dev/ptp0", &io::ErrorKind::NotFound.into());
        assert!(why.reason.starts_with("no such device") && why.remedy.is_some());
    }
}
