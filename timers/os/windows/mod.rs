//! The implementation for Windows, also used under Wine: clocks, children, files, signals, affinity.

pub mod affinity;
pub mod files;
pub(super) mod handle;
pub mod handoff;
pub mod process;

pub use super::other::{attempt, counters, discipline, emulator, library, scheduling};
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
        NtQpc.read() as u64
    }
}

pub mod rest {
    //! Waits for nothing but time.

    pub use std::thread::sleep as wait;
}

#[allow(missing_docs, reason = "documented in the folder of Unix")]
pub mod limits {
    //! Windows limits neither open files nor processes.

    pub fn max_open_files() -> Option<u64> {
        None
    }

    pub fn raise_file_limit(_files: u64) {}

    pub fn share_allocator_arena() {}
}

pub mod machine {
    //! The version of Windows, and the detection of Wine.

    use std::ffi::{CStr, c_char};

    use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleA, GetProcAddress};
    use windows_sys::Win32::System::SystemInformation::OSVERSIONINFOW;

    use crate::os::KernelName;
    pub use crate::os::other::machine::*;

    #[link(name = "ntdll")]
    unsafe extern "system" {
        fn RtlGetVersion(info: *mut OSVERSIONINFOW) -> i32;
    }

    /// The version of the kernel, with its build.
    pub fn kernel() -> KernelName {
        let mut info = OSVERSIONINFOW {
            dwOSVersionInfoSize: size_of::<OSVERSIONINFOW>() as u32,
            ..OSVERSIONINFOW::default()
        };
        // SAFETY: the pointer is valid for one structure, which contains its size.
        unsafe { RtlGetVersion(&raw mut info) };
        let version = [info.dwMajorVersion, info.dwMinorVersion, info.dwBuildNumber];
        KernelName {
            release: Some(version.map(|part| part.to_string()).join(".")),
            version: None,
        }
    }

    /// Name and version of Wine; `None` on Windows, whose ntdll lacks the function.
    pub fn subsystem() -> Option<String> {
        // SAFETY: both names end with NUL, and each process has the library.
        let get_version = unsafe {
            let library = GetModuleHandleA(c"ntdll.dll".as_ptr().cast());
            GetProcAddress(library, c"wine_get_version".as_ptr().cast())
        }?;
        // SAFETY: the signature is that of Wine's ntdll.
        let get_version: unsafe extern "C" fn() -> *const c_char =
            unsafe { std::mem::transmute(get_version) };
        // SAFETY: the function returns a constant text that ends with NUL.
        let version = unsafe { CStr::from_ptr(get_version()) };
        Some(format!("Wine {}", version.to_string_lossy()))
    }
}
