//! What systems in the manner of Unix have in common.

pub mod clocks;
pub mod files;
pub mod process;
pub mod signals;

pub mod limits {
    //! What a process may have of the system (getrlimit(2)).

    use std::io;

    use rustix::io::Errno;
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    use crate::os::Shortage;

    /// How many files this process may have open; `None` where that is not limited.
    #[must_use]
    pub fn open_files() -> Option<u64> {
        getrlimit(Resource::Nofile).current
    }

    /// Raises the limit of open files of this process, as far as it may.
    pub fn allow_files(files: u64) {
        let now = getrlimit(Resource::Nofile);
        let wanted = Rlimit { current: now.maximum.map_or(Some(files), |most| Some(most.min(files))), ..now };
        let _ = setrlimit(Resource::Nofile, wanted);
    }

    /// What there is too little of, where an error says that there is.
    #[must_use]
    pub fn shortage(error: &io::Error) -> Option<Shortage> {
        match Errno::from_io_error(error)? {
            Errno::MFILE => Some(Shortage::Files(open_files())),
            Errno::NFILE => Some(Shortage::FilesOfAll),
            Errno::AGAIN => Some(Shortage::Processes(getrlimit(Resource::Nproc).current)),
            Errno::NOMEM => Some(Shortage::Memory),
            _ => None,
        }
    }

    /// Where address space is limited (`ulimit -v`), has all threads that begin after this share one reserve of the allocator. glibc
    /// reserves 64 MB of address space for nearly each thread that allocates
    /// ([mallopt(3)](https://man7.org/linux/man-pages/man3/mallopt.3.html), `M_ARENA_MAX`), which is missing for others then.
    pub fn share_reserves() {
        #[cfg(target_env = "gnu")]
        if getrlimit(Resource::As).current.is_some() {
            // SAFETY: two plain numbers; the function takes its own lock.
            unsafe {
                libc::mallopt(libc::M_ARENA_MAX, 1);
            }
        }
    }
}

pub mod machine {
    //! What POSIX tells of the machine.

    use std::ffi::CStr;

    use crate::os::KernelName;

    /// What the kernel calls itself (uname(2)).
    #[must_use]
    pub fn kernel() -> KernelName {
        let uname = rustix::system::uname();
        let text =
            |part: &CStr| Some(part.to_string_lossy().into_owned()).filter(|text: &String| !text.is_empty());
        KernelName {
            name: text(uname.sysname()),
            release: text(uname.release()),
            version: text(uname.version()),
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub mod portable {
    //! The clocks of systems that are not Linux: by libc, which fails where there is none.

    use std::io;
    use std::mem::MaybeUninit;

    use super::clocks::{Route, clockid_t};
    use crate::Unavailable;

    /// The number of no clock.
    pub const ABSENT: clockid_t = clockid_t::MAX;

    /// The function of libc.
    pub struct Libc;

    impl Route for Libc {
        fn permitted(clock: clockid_t) -> Result<(), Unavailable> {
            if clock == ABSENT {
                Err(Unavailable::elsewhere("this system has no such clock"))
            } else {
                Ok(())
            }
        }
    }

    /// Whether the clock can be read.
    pub fn try_clock<R: Route>(clock: clockid_t, label: &str, since: &str) -> Result<(), Unavailable> {
        R::permitted(clock)?;
        match R::clock_gettime(clock, &mut MaybeUninit::uninit()) {
            0 => Ok(()),
            status => Err(refused(label, &R::error(status), since)),
        }
    }

    /// A call that the system refused, in its own words. The release of Linux that brought it says nothing here.
    pub fn refused(call: &str, error: &io::Error, _since: &str) -> Unavailable {
        Unavailable::because(format!("{call}: {error}"))
    }

    /// Nothing forbids reading the counter of the CPU.
    pub fn tsc_permitted() -> Result<(), Unavailable> {
        Ok(())
    }

    /// Nor reading the clocks.
    pub fn vdso_permitted() -> Result<(), Unavailable> {
        Ok(())
    }

    /// The cheapest system call there is: it looks at one word.
    #[inline(always)]
    pub fn cheapest_call() -> u64 {
        // SAFETY: no arguments, no preconditions.
        unsafe { libc::getppid() as u64 }
    }
}

#[cfg(not(target_os = "linux"))]
pub mod sysctl {
    //! What systems tell by sysctl(3) that Linux shows in files.

    use std::ffi::{CStr, c_int};
    use std::ptr;

    /// Means of the threads that ran or waited to run, over one, five and fifteen minutes.
    pub fn load() -> Option<[f64; 3]> {
        let mut means = [0.0; 3];
        // SAFETY: the pointer is valid for as many as are asked for.
        let found: c_int = unsafe { libc::getloadavg(means.as_mut_ptr(), 3) };
        (found == 3).then_some(means)
    }

    /// CPUs that are online.
    pub fn online() -> Option<u32> {
        // SAFETY: sysconf has no preconditions.
        u32::try_from(unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) }).ok().filter(|&cpus| cpus > 0)
    }

    /// What sysctl(3) says under a name.
    fn sysctl(name: &CStr) -> Option<Vec<u8>> {
        let mut value = vec![0_u8; 256];
        let mut length = value.len();
        // SAFETY: the name ends with NUL, the buffer is as long as it says, nothing is set.
        let status = unsafe {
            libc::sysctlbyname(name.as_ptr(), value.as_mut_ptr().cast(), &raw mut length, ptr::null_mut(), 0)
        };
        value.truncate(length);
        (status == 0).then_some(value)
    }

    /// A text of sysctl(3).
    pub fn text(name: &CStr) -> Option<String> {
        let bytes = sysctl(name)?;
        let text = String::from_utf8_lossy(bytes.split(|&byte| byte == 0).next()?).trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// A number of sysctl(3), which has 32 bits or 64.
    pub fn number(name: &CStr) -> Option<u64> {
        let bytes = sysctl(name)?;
        match bytes.len() {
            4 => Some(u32::from_ne_bytes(bytes.try_into().ok()?).into()),
            8 => Some(u64::from_ne_bytes(bytes.try_into().ok()?)),
            _ => None,
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) mod timer {
    //! Clocks of `clock_gettime` that one system alone has, as timers.

    macro_rules! clocks {
        ($infos:path; $($name:ident, $info:ident, $clock:expr;)*) => {$(
            pub(crate) struct $name;

            impl $crate::Timer for $name {
                const INFO: $crate::Info = { use $infos as infos; infos::$info };
                type Reading = libc::timespec;

                fn declared_resolution() -> Option<f64> {
                    $crate::os::unix::clocks::resolution($clock)
                }

                fn open() -> Result<Self, $crate::Unavailable> {
                    use $crate::os::unix::portable::{Libc, try_clock};
                    try_clock::<Libc>($clock, Self::INFO.label, "").map(|()| Self)
                }

                #[inline(always)]
                fn read(&self) -> libc::timespec {
                    use $crate::os::unix::clocks::Route;
                    let mut time = std::mem::MaybeUninit::uninit();
                    $crate::os::unix::portable::Libc::clock_gettime($clock, &mut time);
                    // SAFETY: `open` made the same call and it succeeded, so that it writes both fields.
                    unsafe { time.assume_init() }
                }

                fn ticks(&self, time: libc::timespec) -> $crate::Ticks {
                    $crate::Ticks(time.tv_sec.wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec) as u64)
                }
            }
        )*};
    }
    pub(crate) use clocks;
}
