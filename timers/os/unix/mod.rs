//! The parts that Linux, macOS and FreeBSD have in common.

pub mod files;
pub mod process;
pub mod signals;

/// `time(2)`: whole seconds since 1970.
#[inline(always)]
pub fn time() -> i64 {
    // SAFETY: the pointer may be null; the function then only returns the time.
    crate::os::posix::widen(unsafe { libc::time(std::ptr::null_mut()) })
}

pub mod limits {
    //! Resource limits of a process (getrlimit(2)).

    use std::io;

    use rustix::io::Errno;
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    use crate::os::Shortage;

    /// The number of files that this process may have open; `None` if not limited.
    #[must_use]
    pub fn max_open_files() -> Option<u64> {
        getrlimit(Resource::Nofile).current
    }

    /// Raises the limit of open files of this process to `files`, or as far as permitted.
    pub fn raise_file_limit(files: u64) {
        let now = getrlimit(Resource::Nofile);
        let wanted = Rlimit {
            current: now
                .maximum
                .map_or(Some(files), |maximum| Some(maximum.min(files))),
            ..now
        };
        let _ = setrlimit(Resource::Nofile, wanted);
    }

    /// The exhausted resource that an error reports; `None` for other errors.
    #[must_use]
    pub fn shortage(error: &io::Error) -> Option<Shortage> {
        match Errno::from_io_error(error)? {
            Errno::MFILE => Some(Shortage::Files(max_open_files())),
            Errno::NFILE => Some(Shortage::FilesOfAll),
            Errno::AGAIN => Some(Shortage::Processes(getrlimit(Resource::Nproc).current)),
            Errno::NOMEM => Some(Shortage::Memory),
            _ => None,
        }
    }

    /// If the address space is limited (`ulimit -v`), makes all threads share one arena of the
    /// allocator. Otherwise glibc reserves 64 MB of address space for nearly each thread that
    /// allocates ([mallopt(3)](https://man7.org/linux/man-pages/man3/mallopt.3.html),
    /// `M_ARENA_MAX`), so that the limit is reached early.
    pub fn share_allocator_arena() {
        #[cfg(target_env = "gnu")]
        if getrlimit(Resource::As).current.is_some() {
            // SAFETY: the arguments are integers, and the function is thread-safe.
            unsafe {
                libc::mallopt(libc::M_ARENA_MAX, 1);
            }
        }
    }
}

pub mod machine {
    //! Facts about the machine that POSIX provides.

    use std::ffi::CStr;

    use crate::os::KernelName;

    /// Name, release and version of the kernel (uname(2)).
    #[must_use]
    pub fn kernel() -> KernelName {
        let uname = rustix::system::uname();
        let text = |part: &CStr| {
            Some(part.to_string_lossy().into_owned()).filter(|text: &String| !text.is_empty())
        };
        KernelName {
            name: text(uname.sysname()),
            release: text(uname.release()),
            version: text(uname.version()),
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub mod portable {
    //! The parts that macOS and FreeBSD have in common.

    pub(crate) mod affinity {
        //! Threads cannot be bound to CPUs by this program.

        use std::io;

        use crate::os::AffinityError;
        use crate::os::other::unsupported;

        /// The most CPUs that a list of CPUs may name.
        pub const MAX_CPUS: u32 = 1 << 20;

        pub fn allowed() -> Result<Vec<u32>, AffinityError> {
            unsupported().map_err(explain_failure)
        }

        pub fn allow(_thread: Option<u32>, _cpus: &[u32]) -> io::Result<()> {
            unsupported()
        }

        pub fn current() -> Option<u32> {
            None
        }

        pub fn threads(_process: u32) -> Option<Vec<u32>> {
            None
        }

        pub fn explain(_cpu: u32, _allowed: &[u32], source: io::Error) -> AffinityError {
            explain_failure(source)
        }

        fn explain_failure(source: io::Error) -> AffinityError {
            AffinityError::System {
                call: "affinity of threads",
                source,
            }
        }
    }

    pub mod discipline {
        //! The rate correction of the kernel's clocks, which this program does not read on these
        //! systems.

        use std::io;

        pub use crate::os::other::discipline::{discipline, trim};
        use crate::os::other::unsupported;

        /// The source of [`declared_tick_ns`]; empty because there is none.
        pub const DECLARED_TICK: &str = "";

        /// The time between two kernel ticks in nanoseconds.
        ///
        /// # Errors
        /// Always: this program does not read it on these systems.
        pub fn declared_tick_ns() -> io::Result<i64> {
            unsupported()
        }
    }

    /// Children have process groups, as on Linux; this program reads nothing else about processes
    /// on these systems.
    pub mod process {
        pub use crate::os::other::process::{
            adopt_descendants, all_with_parents, kill_by_environment, kill_with_parent,
            kill_with_starter, listed_children, why_descendants_unknown,
        };
        pub use crate::os::unix::process::*;
    }

    pub mod machine {
        //! The name of the kernel; this program reads no other facts of the machine on these
        //! systems.

        use crate::os::MachineFacts;
        pub use crate::os::other::machine::{kernel_log, regain_counter, system_root};
        pub use crate::os::unix::machine::kernel;

        /// Facts about the machine; all of them unknown.
        #[must_use]
        pub fn facts(_cpu: Option<u32>) -> MachineFacts {
            MachineFacts::default()
        }
    }

    pub mod clocks {
        //! The route to POSIX clocks through libc, which fails for clocks that the system lacks.

        use std::io;

        use libc::clockid_t;

        use crate::Unavailable;
        pub use crate::os::other::clocks::*;
        use crate::os::posix::Route;
        pub use crate::os::unix::time;

        /// An id for a clock that the system lacks, which no real clock has.
        pub const fn absent(number: clockid_t) -> clockid_t {
            clockid_t::MAX - number
        }

        /// Reads clocks by the function of libc.
        pub struct Libc;

        impl Route for Libc {
            fn permitted(clock: clockid_t) -> Result<(), Unavailable> {
                if clock > absent(10) {
                    Err(Unavailable::elsewhere(
                        "this operating system does not have the clock",
                    ))
                } else {
                    Ok(())
                }
            }
        }

        /// Describes a failed call by the system's error message.
        pub fn explain_failure(call: &str, error: &io::Error) -> Unavailable {
            Unavailable::because(format!("{call}: {error}"))
        }

        /// Makes the cheapest system call, getppid, which reads one word.
        #[inline(always)]
        pub fn cheapest_call() -> u64 {
            // SAFETY: the call has no arguments and no preconditions.
            unsafe { libc::getppid() as u64 }
        }
    }
}
