//! FreeBSD. Nothing here ever ran on one: it is type-checked only.

pub(crate) use super::no_perf_event as perf_event;
pub(crate) use super::other::waits;
pub use super::other::{counters, discipline, scheduling};
pub use super::unix::{files, limits, signals};
pub(crate) use crate::posix::{Monotonic as Common, Monotonic as Unsteered, MonotonicSyscall as Undistorted};
pub(crate) use timers::{OWN, visit_own};

/// Children have groups.
pub mod process {
    pub use crate::os::other::process::{
        adopt_descendants, all, end_all_with, ends_with, ends_with_its_starter, hidden, listed,
    };
    pub use crate::os::unix::process::*;
}

pub mod affinity {
    //! Affinity of threads ([cpuset(2)]).
    //!
    //! [cpuset(2)]: https://man.freebsd.org/cgi/man.cgi?query=cpuset_setaffinity&sektion=2

    use std::io;

    use crate::os::AffinityError;

    /// The kernel has at most 1024 (MAXCPU).
    pub const MOST_CPUS: u32 = 1024;
    const WORD_BITS: usize = u64::BITS as usize;

    /// A set of CPUs as the kernel takes it: shorter ones are refused with ERANGE where a higher CPU is allowed.
    type Mask = [u64; MOST_CPUS as usize / WORD_BITS];

    /// The CPUs the calling thread may run on, in ascending order.
    pub fn allowed() -> Result<Vec<u32>, AffinityError> {
        let mut mask: Mask = [0; MOST_CPUS as usize / WORD_BITS];
        // SAFETY: the kernel writes at most the number of bytes it is told; -1 is the calling thread.
        let status = unsafe {
            libc::cpuset_getaffinity(
                libc::CPU_LEVEL_WHICH,
                libc::CPU_WHICH_TID,
                -1,
                size_of_val(&mask),
                mask.as_mut_ptr().cast(),
            )
        };
        if status != 0 {
            return Err(AffinityError::System {
                call: "cpuset_getaffinity",
                source: io::Error::last_os_error(),
            });
        }
        let set = |cpu: &u32| mask[*cpu as usize / WORD_BITS] >> (*cpu as usize % WORD_BITS) & 1 == 1;
        Ok((0..MOST_CPUS).filter(set).collect())
    }

    /// Has the calling thread, or all threads of a process, run on these CPUs only.
    pub fn allow(process: Option<u32>, cpus: &[u32]) -> io::Result<()> {
        let mut mask: Mask = [0; MOST_CPUS as usize / WORD_BITS];
        for &cpu in cpus {
            let word = mask.get_mut(cpu as usize / WORD_BITS).ok_or(io::ErrorKind::InvalidInput)?;
            *word |= 1 << (cpu as usize % WORD_BITS);
        }
        let (which, id) = match process {
            Some(process) => (libc::CPU_WHICH_PID, i64::from(process)),
            None => (libc::CPU_WHICH_TID, -1),
        };
        // SAFETY: the kernel reads the number of bytes it is told.
        let status = unsafe {
            libc::cpuset_setaffinity(
                libc::CPU_LEVEL_WHICH,
                which,
                id,
                size_of_val(&mask),
                mask.as_ptr().cast(),
            )
        };
        if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// The CPU the calling thread is on at this moment.
    pub fn current() -> Option<u32> {
        // SAFETY: no arguments, no preconditions.
        u32::try_from(unsafe { libc::sched_getcpu() }).ok()
    }

    /// Threads are not told from their process: it is moved as a whole.
    pub fn threads(_process: u32) -> Option<Vec<u32>> {
        None
    }

    /// Why the calling thread, which may run on `allowed`, could not be bound to `cpu`.
    pub fn explain(cpu: u32, allowed: &[u32], source: io::Error) -> AffinityError {
        match source.raw_os_error() {
            Some(libc::EINVAL) => AffinityError::Absent(cpu),
            Some(libc::EDEADLK) if !allowed.contains(&cpu) => {
                let allowed = allowed.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
                AffinityError::NotAllowed { cpu, allowed }
            }
            _ => AffinityError::System { call: "cpuset_setaffinity", source },
        }
    }
}

pub mod clocks {
    //! The clocks of POSIX, as FreeBSD has them. It calls some of its own by Linux' names too.

    use std::io;
    use std::mem::MaybeUninit;

    use libc::c_long;
    pub use libc::{
        CLOCK_BOOTTIME, CLOCK_MONOTONIC, CLOCK_MONOTONIC_COARSE, CLOCK_PROCESS_CPUTIME_ID, CLOCK_REALTIME,
        CLOCK_REALTIME_COARSE, CLOCK_THREAD_CPUTIME_ID, RUSAGE_THREAD,
    };

    use crate::Unavailable;
    pub use crate::os::unix::clocks::*;
    pub use crate::os::unix::portable::*;

    /// Every clock is trimmed.
    pub const CLOCK_MONOTONIC_RAW: clockid_t = ABSENT;
    /// Of sys/_clock_id.h, since FreeBSD 15.
    pub const CLOCK_TAI: clockid_t = 16;

    /// Nanoseconds in what `clock` counts: CLOCKS_PER_SEC is 128 there.
    pub const CLOCK_UNIT_NS: f64 = 1e9 / 128.0;
    /// CLOCK_MONOTONIC does not count a sleep.
    pub const MONOTONIC_RUNS_IN_SUSPEND: bool = false;

    /// Of sys/syscall.h.
    const SYS_CLOCK_GETTIME: i32 = 232;

    /// The system call past the page that the kernel shares.
    pub struct Kernel;

    impl Route for Kernel {
        #[inline(always)]
        fn clock_gettime(clock: clockid_t, time: &mut MaybeUninit<timespec>) -> c_long {
            // SAFETY: the pointer is valid for a timespec.
            c_long::from(unsafe { libc::syscall(SYS_CLOCK_GETTIME, clock, time.as_mut_ptr()) })
        }

        fn error(_status: c_long) -> io::Error {
            io::Error::last_os_error()
        }

        fn permitted(clock: clockid_t) -> Result<(), Unavailable> {
            Libc::permitted(clock)
        }
    }
}

pub mod machine {
    //! What FreeBSD tells of the machine.

    use crate::os::MachineFacts;
    // Nothing is shown in files that are there on each, and a program cannot be forbidden to read a counter.
    pub use crate::os::other::machine::{files, kernel_log, regain_counter};
    pub use crate::os::unix::machine::kernel;
    use crate::os::unix::sysctl::{load, number, online, text};

    /// What the system tells by sysctl(3).
    #[must_use]
    pub fn told(_cpu: Option<u32>) -> MachineFacts {
        let release = text(c"kern.osrelease");
        MachineFacts {
            os_name: Some(release.map_or_else(|| "FreeBSD".into(), |release| format!("FreeBSD {release}"))),
            clock_source: text(c"kern.timecounter.hardware").map(as_linux_calls_it),
            load: load(),
            cpu_model: text(c"hw.model"),
            nominal: number(c"hw.clockrate").map(|megahertz| (megahertz as f64 * 1e6, "hw.clockrate")),
            online: online(),
            ..MachineFacts::default()
        }
    }

    fn as_linux_calls_it(timecounter: String) -> String {
        match timecounter.as_str() {
            "TSC" | "TSC-low" => "tsc".into(),
            "HPET" => "hpet".into(),
            "ACPI-fast" | "ACPI-safe" => "acpi_pm".into(),
            "i8254" => "pit".into(),
            "kvmclock" => "kvm-clock".into(),
            _ => timecounter,
        }
    }
}

mod timers {
    //! FreeBSD's clocks as timers; `crate::freebsd` says what they are.

    crate::os::unix::timer::clocks! { crate::freebsd;
        MonotonicPrecise, MONOTONIC_PRECISE, libc::CLOCK_MONOTONIC_PRECISE;
        MonotonicFast, MONOTONIC_FAST, libc::CLOCK_MONOTONIC_FAST;
        RealtimePrecise, REALTIME_PRECISE, libc::CLOCK_REALTIME_PRECISE;
        RealtimeFast, REALTIME_FAST, libc::CLOCK_REALTIME_FAST;
        Uptime, UPTIME_TIME, libc::CLOCK_UPTIME;
        UptimePrecise, UPTIME_PRECISE, libc::CLOCK_UPTIME_PRECISE;
        UptimeFast, UPTIME_FAST, libc::CLOCK_UPTIME_FAST;
        Second, SECOND, libc::CLOCK_SECOND;
        Virtual, VIRTUAL, libc::CLOCK_VIRTUAL;
        Prof, PROF, libc::CLOCK_PROF;
    }

    crate::catalogue::list![
        MonotonicPrecise,
        MonotonicFast,
        RealtimePrecise,
        RealtimeFast,
        Uptime,
        UptimePrecise,
        UptimeFast,
        Second,
        Virtual,
        Prof,
    ];
}
