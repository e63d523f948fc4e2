//! Counters of perf events ([perf_event_open(2)]).
//!
//! [perf_event_open(2)]: https://man7.org/linux/man-pages/man2/perf_event_open.2.html

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd};

use perf_event_open_sys::bindings::{
    PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_SW_TASK_CLOCK, PERF_FLAG_FD_CLOEXEC, PERF_TYPE_HARDWARE,
    PERF_TYPE_SOFTWARE, perf_event_attr,
};

use crate::{Available, Unavailable, work};

/// Perf events, as pairs of type and config.
const CYCLES: (u32, u32) = (PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
const TASK_CLOCK: (u32, u32) = (PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);

/// An event that counts for the calling thread; closed when dropped.
pub struct OpenEvent(File);

impl OpenEvent {
    /// Opens an event that counts core cycles or the run time of the thread, and checks that it
    /// counts.
    pub fn open_checked(cycles: bool) -> Available<Self> {
        let event = Self::open(if cycles { CYCLES } else { TASK_CLOCK })?;
        event.check_increase().map(|()| event)
    }

    /// Opens an event that counts in kernel and user mode if permitted, else in user mode only.
    fn open((kind, config): (u32, u32)) -> Available<Self> {
        let mut attributes = perf_event_attr {
            type_: kind,
            config: config.into(),
            size: size_of::<perf_event_attr>() as u32,
            ..Default::default()
        };
        if kind == PERF_TYPE_HARDWARE {
            attributes.set_pinned(1);
        }
        Self::open_with(&mut attributes)
            .or_else(|error| match error.raw_os_error() {
                Some(libc::EACCES | libc::EPERM | libc::EOPNOTSUPP) => {
                    attributes.set_exclude_kernel(1);
                    attributes.set_exclude_hv(1);
                    Self::open_with(&mut attributes)
                }
                _ => Err(error),
            })
            .map_err(|error| explain_failure(&error))
    }

    /// Opens an event for the calling thread, on any CPU.
    #[allow(
        clippy::useless_conversion,
        reason = "flags are a long, of 32 bits or 64"
    )]
    fn open_with(attributes: &mut perf_event_attr) -> io::Result<Self> {
        // SAFETY: the attributes are initialised and contain their size; they request a plain
        // count, for which the kernel writes no memory of this process. Group -1 means none.
        let descriptor = unsafe {
            perf_event_open_sys::perf_event_open(attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC.into())
        };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor was just opened and has no other owner.
        Ok(Self(unsafe { File::from_raw_fd(descriptor) }))
    }

    /// Checks that the count increases: under some hypervisors it never does, and a pinned event
    /// without a hardware counter reads as end of file.
    fn check_increase(&self) -> Available {
        let count = || -> io::Result<u64> {
            let mut bytes = [0; 8];
            (&self.0).read_exact(&mut bytes)?;
            Ok(u64::from_ne_bytes(bytes))
        };
        let before = count();
        work::units(100_000);
        match (before, count()) {
            (Ok(before), Ok(after)) if after > before => Ok(()),
            (Ok(_), Ok(_)) => Err(Unavailable::because(
                "the event can be opened, but its count does not increase",
            )
            .remedy(
                "the hypervisor does not emulate the counter correctly; expose the host's PMU to the guest",
            )),
            _ => Err(Unavailable::because(
                "the event can be opened, but has no hardware counter: other events use all of them",
            )
            .remedy("stop other profilers, or free a counter with `sysctl kernel.nmi_watchdog=0`")),
        }
    }

    /// Reads the count by `read(2)`; `u64::MAX` if that fails or is at the end of the file.
    #[inline(always)]
    pub fn read(&self) -> u64 {
        let mut count = u64::MAX;
        // SAFETY: the descriptor is open as long as `self` lives, and the pointer is valid for 8
        // bytes. Not by `Read`, which would check the result in the timed region.
        unsafe {
            libc::read(
                self.0.as_raw_fd(),
                (&raw mut count).cast(),
                size_of::<u64>(),
            )
        };
        count
    }
}

/// Describes a failed `perf_event_open`: the system's message, the likely cause and a remedy.
fn explain_failure(error: &io::Error) -> Unavailable {
    let why = format!("perf_event_open: {error}");
    match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) => {
            let value = describe_setting("/proc/sys/kernel/perf_event_paranoid");
            Unavailable::because(format!("{why}; /proc/sys/kernel/perf_event_paranoid {value}")).remedy(
                "`sysctl kernel.perf_event_paranoid=1` as root, or the capability CAP_PERFMON; in a container also a \
                 seccomp profile that allows perf_event_open",
            )
        }
        Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV) => Unavailable::because(format!(
            "{why}; the CPU or the hypervisor offers no hardware performance counters"
        ))
        .remedy("in a virtual machine, expose the PMU to the guest"),
        Some(libc::ENOSYS) => Unavailable::because(format!(
            "{why}; the kernel was built without CONFIG_PERF_EVENTS, or seccomp hides it"
        ))
        .remedy("in a container, use a seccomp profile that allows perf_event_open"),
        _ => Unavailable::because(why),
    }
}

/// The value of a kernel setting, as in "is 2".
fn describe_setting(path: &str) -> String {
    match fs::read_to_string(path) {
        Ok(value) => format!("is {}", value.trim()),
        Err(_) => "does not exist".into(),
    }
}
