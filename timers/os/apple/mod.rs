//! macOS. Nothing here ever ran on one: it is type-checked only.

mod timers;

pub(crate) use super::no_perf_event as perf_event;
pub(crate) use super::other::waits;
pub use super::other::{affinity, counters, discipline, scheduling};
pub use super::unix::{files, limits, signals};
pub(crate) use timers::{
    Absolute as Undistorted, OWN, UptimeRaw as Common, UptimeRaw as Unsteered, visit_own,
};

/// Threads cannot be bound to CPUs, so that none is chosen; children have groups.
pub mod process {
    pub use crate::os::other::process::{
        adopt_descendants, all, end_all_with, ends_with, ends_with_its_starter, hidden, listed,
    };
    pub use crate::os::unix::process::*;
}

pub mod clocks {
    //! The clocks of POSIX, as macOS has them.

    use std::io;
    use std::mem::MaybeUninit;

    use libc::c_long;
    pub use libc::{
        CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_PROCESS_CPUTIME_ID, CLOCK_REALTIME,
        CLOCK_THREAD_CPUTIME_ID,
    };

    use crate::Unavailable;
    pub use crate::os::unix::clocks::*;
    pub use crate::os::unix::portable::*;

    /// Clocks that macOS has not.
    pub const CLOCK_BOOTTIME: clockid_t = ABSENT;
    pub const CLOCK_MONOTONIC_COARSE: clockid_t = ABSENT;
    pub const CLOCK_REALTIME_COARSE: clockid_t = ABSENT;
    pub const CLOCK_TAI: clockid_t = ABSENT;
    /// `thread_info` tells what others ask `getrusage` for.
    pub const RUSAGE_THREAD: i32 = i32::MIN;

    /// Nanoseconds in what `clock` counts.
    pub const CLOCK_UNIT_NS: f64 = 1e3;
    /// CLOCK_UPTIME_RAW does not (clock_gettime(3)).
    pub const MONOTONIC_RUNS_IN_SUSPEND: bool = true;

    /// There is no system call that reads a clock: nothing opens by it.
    pub struct Kernel;

    impl Route for Kernel {
        fn clock_gettime(_clock: clockid_t, _time: &mut MaybeUninit<timespec>) -> c_long {
            -1
        }

        fn error(_status: c_long) -> io::Error {
            io::ErrorKind::Unsupported.into()
        }

        fn permitted(_clock: clockid_t) -> Result<(), Unavailable> {
            Err(Unavailable::elsewhere("this system has no system call that programs may read clocks by"))
        }
    }
}

pub mod machine {
    //! What macOS tells of the machine.

    use std::ffi::CString;

    // Nothing is shown in files that are there on each, and a program cannot be forbidden to read a counter.
    pub use crate::os::other::machine::{files, kernel_log, regain_counter};
    pub use crate::os::unix::machine::kernel;
    use crate::os::unix::sysctl::{load, number, online, text};
    use crate::os::{MachineFacts, ToldKind};

    /// What the system tells by sysctl(3).
    #[must_use]
    pub fn told(_cpu: Option<u32>) -> MachineFacts {
        let release = text(c"kern.osproductversion");
        let translated = number(c"sysctl.proc_translated") == Some(1);
        let in_a_guest = number(c"kern.hv_vmm_present") == Some(1);
        MachineFacts {
            os_name: Some(release.map_or_else(|| "macOS".into(), |release| format!("macOS {release}"))),
            emulator: translated.then(|| "Rosetta 2".into()).or(in_a_guest.then(|| "a hypervisor".into())),
            load: load(),
            cpu_model: text(c"machdep.cpu.brand_string"),
            // Macs with Apple's processors declare none.
            nominal: number(c"hw.cpufrequency").map(|hertz| (hertz as f64, "hw.cpufrequency")),
            online: online(),
            kinds: kinds(),
            ..MachineFacts::default()
        }
    }

    /// Kinds of cores, the most capable first. Which CPU is of which kind is not told, nor would it help: no thread can be bound to one.
    fn kinds() -> Option<Vec<ToldKind>> {
        let of_level = |level: u64, what: &str| CString::new(format!("hw.perflevel{level}.{what}")).ok();
        let kind = |level| {
            let count = u32::try_from(number(&of_level(level, "logicalcpu")?)?).ok()?;
            Some(ToldKind { name: text(&of_level(level, "name")?)?, count, cpus: None })
        };
        (0..number(c"hw.nperflevels")?).map(kind).collect()
    }
}
