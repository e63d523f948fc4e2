//! Clocks on devices, which Linux offers as `/dev/ptp0`, `/dev/ptp1`, … (dynamic POSIX clocks).
//!
//! What ticks: an oscillator on a network card (IEEE 1588, the Precision Time Protocol) or on a
//! card with a GPS receiver, or the clock of the host of a virtual machine (`ptp_kvm`, Hyper-V).
//! `/sys/class/ptp/ptp0/clock_name` names it. At what rate: nanoseconds of this oscillator, which
//! `ptp4l`, `phc2sys` or the host trims.
//!
//! Who may read them: a process that may open the device, in most cases only root. A read is a
//! system call that reads the device: a register behind PCI Express, which takes 1 µs or more, or a
//! call to the hypervisor.
//!
//! How they lie: the device may be removed while it is open; the reading is then 0. Most cards
//! count TAI once `ptp4l` runs, and from an arbitrary epoch before. A process with write access to
//! the device may set the clock. Only the first four devices are listed as timers. Sources:
//! [Documentation/driver-api/ptp.rst] of Linux, clock_getres(2) ("Dynamic clocks").
//!
//! [Documentation/driver-api/ptp.rst]: https://docs.kernel.org/driver-api/ptp.html

use crate::entry::clocks;
use crate::{Counted, Family, Properties, ReadsBy};

const DEVICE: Properties = Properties {
    family: Some(Family::DeviceClock),
    counts: Some(Counted::Wall),
    settable: Some(true),
    slewed: Some(true),
    // Unknown, because the device may have its own power supply.
    runs_in_suspend: None,
    needs_fence: Some(false),
    reads_by: Some(ReadsBy::SystemCall),
    syscall_variant: None,
};

clocks! { "Linux", target_os = "linux";
    PtpClock<0>, "ptp0", "clock_gettime(/dev/ptp0)", Some(1.0), DEVICE;
    PtpClock<1>, "ptp1", "clock_gettime(/dev/ptp1)", Some(1.0), DEVICE;
    PtpClock<2>, "ptp2", "clock_gettime(/dev/ptp2)", Some(1.0), DEVICE;
    PtpClock<3>, "ptp3", "clock_gettime(/dev/ptp3)", Some(1.0), DEVICE;
}

#[cfg(target_os = "linux")]
use here::PtpClock;
#[cfg(target_os = "linux")]
mod here {
    use std::fs::File;
    use std::io;
    use std::mem::MaybeUninit;
    use std::os::fd::{AsRawFd, RawFd};
    use std::path::Path;

    use libc::{clockid_t, timespec};

    use crate::os::clocks::Libc;
    use crate::os::files::open_nonblocking;
    use crate::os::posix::{Route, nanoseconds, word_by_word};
    use crate::{Ticks, Timer, Unavailable};

    /// The clock of `/dev/ptpN`. The device stays open as long as this value lives.
    pub(super) struct PtpClock<const N: usize> {
        clock: clockid_t,
        _device: File,
    }

    impl<const N: usize> Timer for PtpClock<N>
    where
        Self: crate::Described,
    {
        type Reading = timespec;

        fn open() -> Result<Self, Unavailable> {
            let path = format!("/dev/ptp{N}");
            let device = open_nonblocking(Path::new(&path))
                .map_err(|error| explain_failure(&path, &error))?;
            let clock = clock_id(device.as_raw_fd());
            match Libc::clock_gettime(clock, &mut MaybeUninit::zeroed()) {
                0 => Ok(Self {
                    clock,
                    _device: device,
                }),
                status => Err(Unavailable::because(format!(
                    "clock_gettime of {path}: {}; the device is not a clock, or was removed",
                    Libc::error(status)
                ))),
            }
        }

        #[inline(always)]
        fn read(&self) -> timespec {
            // Initialised, unlike other clocks, because the call fails if the device was removed.
            let mut time = MaybeUninit::zeroed();
            Libc::clock_gettime(self.clock, &mut time);
            // SAFETY: a timespec of zeros is valid, and the kernel writes a valid one over it.
            word_by_word(unsafe { time.assume_init() })
        }

        fn ticks(&self, time: timespec) -> Ticks {
            nanoseconds(time)
        }
    }

    /// The clock id of an open device: FD_TO_CLOCKID of clock_getres(2).
    fn clock_id(descriptor: RawFd) -> clockid_t {
        const CLOCKFD: clockid_t = 3;
        (!descriptor << 3) | CLOCKFD
    }

    fn explain_failure(path: &str, error: &io::Error) -> Unavailable {
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
        fn descriptors_give_clock_ids() {
            // clock_getres(2): ((~(clockid_t) (fd) << 3) | CLOCKFD)
            for (descriptor, clock) in [(0, -5), (3, -29), (1023, -8189)] {
                assert_eq!(clock_id(descriptor), clock);
            }
        }

        #[test]
        fn explains_missing_device() {
            let why = explain_failure("/dev/ptp0", &io::ErrorKind::NotFound.into());
            assert!(why.reason.starts_with("no such device") && why.remedy.is_some());
        }
    }
}
