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
//! How they lie: a read fails if the device was removed while it is open, or if the driver allows
//! no further read for a while. Amazon's network card (driver `ena`) answers 125 reads a second;
//! more of them fail, block the device, and thereby harm the time service of the machine. Most
//! cards count TAI once `ptp4l` runs, and from an arbitrary epoch before. A process with write
//! access to the device may set the clock. Only the first four devices are listed as timers.
//! Sources: [Documentation/driver-api/ptp.rst] and `drivers/net/ethernet/amazon/ena` of Linux,
//! clock_getres(2) ("Dynamic clocks").
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

/// The largest number of reads a second of a device whose driver allows few reads, or is unknown.
/// *Judgement*: less than half of the 125 reads that Amazon's driver allows, because the time
/// service of the machine reads the device too.
pub const MAX_DEVICE_READS_PER_S: u32 = 50;

/// Beginnings of the names of drivers and devices, and whether the device may be read at any rate.
const DEVICES: [(&str, bool); 10] = [
    // Amazon's network card.
    ("ena", false),
    // Registers of Intel's network cards.
    ("e1000e", true),
    ("igb", true),
    ("igc", true),
    ("ixgbe", true),
    ("i40e", true),
    ("ice", true),
    // A page of memory that the hypervisor shares, and the counter.
    ("vmclock", true),
    // Calls to the hypervisor.
    ("KVM virtual PTP", true),
    ("hyperv", true),
];

/// The name of the driver of the clock with this id, as in `ena`, or of the device if it has no
/// driver, as in `KVM virtual PTP`. `None` if the kernel does not report one.
pub fn device_name(id: &str) -> Option<String> {
    name_in("/sys/class/ptp", id)
}

/// Whether the device of the clock with this id may be read more often than
/// [`MAX_DEVICE_READS_PER_S`]; false if the device is not known.
pub fn allows_many_reads(id: &str) -> bool {
    device_name(id).is_some_and(|name| allows_many(&name))
}

fn name_in(folder: &str, id: &str) -> Option<String> {
    ALL.iter().find(|entry| entry.info.id == id)?;
    let driver = std::fs::read_link(format!("{folder}/{id}/device/driver")).ok();
    let driver = driver.and_then(|path| Some(path.file_name()?.to_str()?.to_owned()));
    let name = || std::fs::read_to_string(format!("{folder}/{id}/clock_name")).ok();
    let name = driver.or_else(name)?;
    let name = name.trim();
    let is_printable = !name.is_empty() && name.chars().all(|c| (' '..='~').contains(&c));
    is_printable.then(|| name.to_owned())
}

fn allows_many(name: &str) -> bool {
    let device = DEVICES.iter().find(|(known, _)| name.starts_with(known));
    device.is_some_and(|(_, allows)| *allows)
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

    use crate::failures::{checked, record_value};
    use crate::os::clocks::Libc;
    use crate::os::files::open_nonblocking;
    use crate::os::posix::{Route, latest_time, nanoseconds, word_by_word, wrong_nanoseconds};
    use crate::{Available, Described, Ticks, Timer, Unavailable, record_failure};

    /// The clock of `/dev/ptpN`. The device stays open as long as this value lives.
    pub struct PtpClock<const N: usize> {
        clock: clockid_t,
        _device: File,
    }

    impl<const N: usize> PtpClock<N> {
        /// Opens the device without reading the clock.
        fn open_unread() -> Available<Self> {
            let path = format!("/dev/ptp{N}");
            open_nonblocking(Path::new(&path))
                .map(Self::of_device)
                .map_err(|error| explain_failure(&path, &error))
        }

        fn of_device(device: File) -> Self {
            Self {
                clock: clock_id(device.as_raw_fd()),
                _device: device,
            }
        }
    }

    impl<const N: usize> Timer for PtpClock<N>
    where
        Self: Described,
    {
        type Reading = timespec;

        fn open() -> Available<Self> {
            checked(Self::open_unread()?)
        }

        /// Does not read the clock, because some drivers allow few reads.
        fn availability() -> Available {
            Self::open_unread().map(drop)
        }

        #[inline(always)]
        fn read(&self) -> timespec {
            let mut time = MaybeUninit::uninit();
            let status = Libc::clock_gettime(self.clock, &mut time);
            if status != 0 {
                record_failure::<Self>(Unavailable::because(format!(
                    "clock_gettime of /dev/ptp{N}: {}; the device is not a clock, was removed, or its driver allows no further read for a while",
                    Libc::error(status)
                )));
                return latest_time();
            }
            // SAFETY: the call succeeded, so that both fields are written.
            word_by_word(unsafe { time.assume_init() })
        }

        fn ticks(&self, time: timespec) -> Ticks {
            if let Some(wrong) = wrong_nanoseconds(time) {
                record_value::<Self>(wrong);
            }
            Ticks(nanoseconds(time) as u64)
        }
    }

    /// The clock id of an open device: FD_TO_CLOCKID of clock_getres(2).
    fn clock_id(descriptor: RawFd) -> clockid_t {
        const CLOCKFD: clockid_t = 3;
        (!descriptor << 3) | CLOCKFD
    }

    fn explain_failure(path: &str, error: &io::Error) -> Unavailable {
        let why = Unavailable::failed_call(path, error);
        match error.kind() {
            io::ErrorKind::NotFound => Unavailable::because("no such device").remedy(
                "a network card with a clock (`ethtool -T`), or in a virtual machine `modprobe ptp_kvm`; a container has to be given \
                 the device",
            ),
            io::ErrorKind::PermissionDenied => why
                .remedy("run as root, or let a udev rule give it to your group: SUBSYSTEM==\"ptp\", GROUP=\"…\", MODE=\"0640\""),
            _ => why,
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::failure;

        #[test]
        fn descriptors_give_clock_ids() {
            // clock_getres(2): ((~(clockid_t) (fd) << 3) | CLOCKFD)
            for (descriptor, clock) in [(0, -5), (3, -29), (1023, -8189)] {
                assert_eq!(clock_id(descriptor), clock);
            }
        }

        #[test]
        fn failed_read_is_an_error() {
            let device = File::open("/dev/null").expect("there is one");
            // No machine of a test has this device.
            let clock = PtpClock::<3>::of_device(device);
            assert_eq!(failure("ptp3"), None);
            clock.read();
            let why = failure("ptp3").expect("the device is no clock");
            let reason = why.reason;
            assert!(
                reason.starts_with("clock_gettime of /dev/ptp3: "),
                "{reason}"
            );
        }

        #[test]
        fn explains_missing_device() {
            let why = explain_failure("/dev/ptp0", &io::ErrorKind::NotFound.into());
            assert!(why.reason.starts_with("no such device") && why.remedy.is_some());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_known_by_name() {
        let sys = std::env::temp_dir().join(format!("ptp-names-{}", std::process::id()));
        let folder = sys.to_str().expect("its name is text");
        for (id, name, known, many) in [
            ("ptp0", "ena-ptp-05\n", Some("ena-ptp-05"), false),
            ("ptp1", "vmclock0\n", Some("vmclock0"), true),
            ("ptp2", "KVM virtual PTP\n", Some("KVM virtual PTP"), true),
            ("ptp3", "another\n", Some("another"), false),
            ("ptp3", "\u{1b}[0m\n", None, false),
            ("monotonic", "vmclock0\n", None, false),
        ] {
            std::fs::create_dir_all(sys.join(id)).expect("a folder");
            std::fs::write(sys.join(id).join("clock_name"), name).expect("a file");
            let read = name_in(folder, id);
            assert_eq!(read.as_deref(), known, "{id}");
            assert_eq!(read.is_some_and(|name| allows_many(&name)), many, "{id}");
        }
        // The driver has priority.
        #[cfg(unix)]
        for (driver, many) in [("e1000e", true), ("ena", false), ("enetc", false)] {
            let device = sys.join("ptp0/device");
            std::fs::create_dir_all(&device).expect("a folder");
            let _ = std::fs::remove_file(device.join("driver"));
            std::os::unix::fs::symlink(format!("../bus/{driver}"), device.join("driver"))
                .expect("a link");
            assert_eq!(name_in(folder, "ptp0").as_deref(), Some(driver));
            assert_eq!(allows_many(driver), many, "{driver}");
        }
        std::fs::remove_dir_all(&sys).expect("it can be removed");
        assert_eq!(name_in(folder, "ptp0"), None);
    }
}
