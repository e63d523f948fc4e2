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

/// Allows this process so many open files, as far as it may allow itself.
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
