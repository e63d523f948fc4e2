//! The implementation for Windows, also used under Wine.

pub mod affinity;
pub mod discipline;
pub mod files;
pub(super) mod handle;
pub mod machine;
pub mod process;
mod settings;

pub use super::other::attempt;
pub use super::other::{counters, emulator, scheduling};
pub use super::windows_timers::here::{
    FileTimePrecise as CalendarClock, NtQpc as UndistortedClock, Qpc as CommonClock,
    Qpc as UntrimmedClock,
};

pub mod clocks {
    //! The calls that read clocks: `time` of the C runtime, and the cheapest system call.

    use super::super::windows_timers::here::NtQpc;
    use crate::Timer;
    pub use crate::os::other::clocks::*;

    unsafe extern "C" {
        fn _time64(time: *mut i64) -> i64;
    }

    /// `time`: whole seconds since 1970.
    #[inline(always)]
    pub fn time() -> i64 {
        // SAFETY: the pointer may be null; the function then only returns the time.
        unsafe { _time64(std::ptr::null_mut()) }
    }

    /// Makes the cheapest documented system call, NtQueryPerformanceCounter.
    pub fn cheapest_call() -> u64 {
        NtQpc::open().map_or(0, |clock| clock.read() as u64)
    }
}

pub mod rest {
    //! Waits for nothing but time.

    pub use std::thread::sleep as wait;
}

pub mod limits {
    //! Resource limits of a process. Windows itself limits neither open files nor processes.

    use std::io;

    use windows_sys::Win32::Foundation::{
        ERROR_COMMITMENT_LIMIT, ERROR_NO_SYSTEM_RESOURCES, ERROR_NOT_ENOUGH_MEMORY,
        ERROR_NOT_ENOUGH_QUOTA, ERROR_OUTOFMEMORY, ERROR_TOO_MANY_OPEN_FILES,
    };

    use crate::os::Shortage;

    /// The number of files that this process may have open; `None` because it is not limited.
    pub fn max_open_files() -> Option<u64> {
        None
    }

    /// Does nothing, because the number of open files is not limited.
    pub fn raise_file_limit(_files: u64) {}

    /// The limit of memory; `None` because only a job object of another process sets one.
    pub fn memory_limit() -> Option<crate::os::ProcessMemoryLimit> {
        None
    }

    /// Does nothing, because address space is not limited.
    pub fn share_allocator_arena() {}

    /// The exhausted resource that an error reports; `None` for other errors.
    pub fn shortage(error: &io::Error) -> Option<Shortage> {
        match error.raw_os_error()?.cast_unsigned() {
            ERROR_TOO_MANY_OPEN_FILES => Some(Shortage::Files(None)),
            // A job object created by another process may limit the number of processes.
            ERROR_NOT_ENOUGH_QUOTA => Some(Shortage::Processes(None)),
            ERROR_NOT_ENOUGH_MEMORY
            | ERROR_OUTOFMEMORY
            | ERROR_COMMITMENT_LIMIT
            | ERROR_NO_SYSTEM_RESOURCES => Some(Shortage::Memory),
            _ => None,
        }
    }
}
