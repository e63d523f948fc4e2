//! The parts that Linux and macOS have in common.

pub mod files;
pub mod handoff;
pub mod process;
mod standard;

/// `time(2)`: whole seconds since 1970.
#[inline(always)]
pub fn time() -> i64 {
    // SAFETY: the pointer may be null; the function then only returns the time.
    crate::os::posix::widen(unsafe { libc::time(std::ptr::null_mut()) })
}

pub mod rest {
    //! Waits.

    use std::time::Duration;

    use rustix::event::{PollFd, Timespec, poll};
    use rustix::io::Errno;

    /// Waits for about `span`; may return early.
    pub fn wait(span: Duration) {
        wait_for(&mut [], span);
    }

    /// Waits for a file to be readable or to end, for about `span` at most; may return early. The calls
    /// take a relative time, because a preloaded library may distort the C library's clock, from
    /// which the waits of `std` compute an absolute one.
    pub fn wait_for(files: &mut [PollFd<'_>], span: Duration) {
        /// The longest wait; a year is more than some kernels take.
        const MAX: Duration = Duration::from_secs(3_600);
        /// How long the caller waits before it looks again, where a sandbox refuses poll(2).
        /// *Judgement*.
        const LONGEST_SLEEP: Duration = Duration::from_millis(1);
        let span = span.min(MAX);
        let waited = Timespec::try_from(span).map(|span| poll(files, Some(&span)));
        if !matches!(waited, Ok(Ok(_) | Err(Errno::INTR))) {
            let span = span.min(LONGEST_SLEEP).subsec_nanos();
            let span = libc::timespec {
                tv_sec: 0,
                tv_nsec: span as _,
            };
            // SAFETY: the first pointer is valid, and the second may be null.
            unsafe { libc::nanosleep(&span, std::ptr::null_mut()) };
        }
    }
}

pub mod limits {
    //! Resource limits of a process (getrlimit(2)). A limit that the system does not report, as in a
    //! sandbox that refuses the call, is unknown.

    use std::mem::MaybeUninit;

    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    type Resource = libc::__rlimit_resource_t;
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    type Resource = libc::c_int;

    /// The soft and the hard limit; `None` if unknown.
    fn limits(resource: Resource) -> Option<libc::rlimit> {
        let mut limits = MaybeUninit::uninit();
        // SAFETY: the pointer is valid for one rlimit.
        let status = unsafe { libc::getrlimit(resource, limits.as_mut_ptr()) };
        // SAFETY: the call succeeded, so that it filled the structure.
        (status == 0).then(|| unsafe { limits.assume_init() })
    }

    /// The soft limit; `None` if it is unknown or there is none.
    #[allow(clippy::unnecessary_cast, reason = "32-bit systems have short limits")]
    fn limit(resource: Resource) -> Option<u64> {
        let limit = limits(resource)?.rlim_cur;
        (limit != libc::RLIM_INFINITY).then_some(limit as u64)
    }

    /// The number of files that this process may have open; `None` if not limited or unknown.
    pub fn max_open_files() -> Option<u64> {
        limit(libc::RLIMIT_NOFILE)
    }

    /// Raises the limit of open files of this process to `files`, or as far as permitted.
    pub fn raise_file_limit(files: u64) {
        if let Some(mut wanted) = limits(libc::RLIMIT_NOFILE) {
            wanted.rlim_cur = (files as libc::rlim_t).min(wanted.rlim_max);
            // SAFETY: the pointer is valid for one rlimit.
            unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const wanted) };
        }
    }

    /// If the address space is limited (`ulimit -v`), makes all threads share one arena of the
    /// allocator. Otherwise glibc reserves 64 MB of address space for nearly each thread that
    /// allocates ([mallopt(3)](https://man7.org/linux/man-pages/man3/mallopt.3.html),
    /// `M_ARENA_MAX`), so that the limit is reached early.
    pub fn share_allocator_arena() {
        #[cfg(target_env = "gnu")]
        if limit(libc::RLIMIT_AS).is_some() {
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

    /// Release and version of the kernel (uname(2)).
    pub fn kernel() -> KernelName {
        let uname = rustix::system::uname();
        let text = |part: &CStr| {
            Some(part.to_string_lossy().into_owned()).filter(|text: &String| !text.is_empty())
        };
        KernelName {
            release: text(uname.release()),
            version: text(uname.version()),
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub mod portable {
    //! What macOS has of the parts of other systems.

    pub mod affinity {
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

    /// Children have process groups, as on Linux; this program reads nothing else about processes
    /// on these systems.
    pub mod process {
        pub use crate::os::other::process::{
            ProcessGroup, descendants, kill_by_environment, why_descendants_unknown,
        };
        pub use crate::os::unix::process::*;
    }

    pub mod machine {
        //! The name of the kernel; this program reads no other facts of the machine on these
        //! systems.

        pub use crate::os::other::machine::*;
        pub use crate::os::unix::machine::kernel;
    }

    pub mod clocks {
        //! The route to POSIX clocks through libc, which fails for clocks that the system lacks.

        use std::io;

        use libc::clockid_t;

        pub use crate::os::other::clocks::*;
        use crate::os::posix::Route;
        pub use crate::os::unix::time;
        use crate::{Available, Unavailable};

        /// An id for a clock that the system lacks, which no real clock has.
        pub const fn absent(number: clockid_t) -> clockid_t {
            clockid_t::MAX - number
        }

        /// Reads clocks by the function of libc.
        pub struct Libc;

        impl Route for Libc {
            fn permitted(clock: clockid_t) -> Available {
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
            Unavailable::failed_call(call, error)
        }

        /// Makes the cheapest system call, getppid, which reads one word.
        #[inline(always)]
        pub fn cheapest_call() -> u64 {
            // SAFETY: the call has no arguments and no preconditions.
            unsafe { libc::getppid() as u64 }
        }
    }
}
