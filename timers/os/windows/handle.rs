//! Results and handles of calls, and functions that some versions of Windows or Wine lack. These
//! are looked up at run time, because a missing imported function keeps the program from starting.

use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};

use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::System::LibraryLoader::{GetProcAddress, LoadLibraryA};
use windows_sys::Win32::System::Threading::OpenProcess;

use crate::{Available, Unavailable};

/// Converts the result of a call: 0 means failure.
pub fn check_status(succeeded: i32) -> io::Result<()> {
    if succeeded == 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// A handle of a process; closed when dropped.
pub struct Handle(OwnedHandle);

impl Handle {
    /// Opens a process by its id, with the given access rights.
    pub fn open(process: u32, access: u32) -> io::Result<Self> {
        // SAFETY: the arguments are integers.
        own_handle(unsafe { OpenProcess(access, 0, process) }).map(Self)
    }

    /// The handle for calls; valid as long as `self`.
    pub fn raw(&self) -> HANDLE {
        self.0.as_raw_handle()
    }
}

/// Takes ownership of a new handle; null means failure.
pub fn own_handle(handle: HANDLE) -> io::Result<OwnedHandle> {
    if handle.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: callers pass a handle that a call just returned, so that it has no other owner.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}

/// Looks up a function by its exported name in one of the system's libraries. Both names end with
/// NUL.
///
/// # Errors
/// When the library has no function of this name.
///
/// # Safety
/// `F` must be a function pointer type with the documented signature of the function.
pub unsafe fn find_function<F: Copy>(library: &'static str, name: &'static str) -> Available<F> {
    const { assert!(size_of::<F>() == size_of::<usize>(), "a function pointer") };
    debug_assert!(library.ends_with('\0') && name.ends_with('\0'));
    // SAFETY: both names end with NUL. Loading a library of the system runs no unknown code, and
    // the library is never unloaded.
    let found = unsafe {
        let library = LoadLibraryA(library.as_ptr());
        (!library.is_null())
            .then(|| GetProcAddress(library, name.as_ptr()))
            .flatten()
    };
    match found {
        // SAFETY: both types are function pointers of the same size, and the caller guarantees the
        // signature.
        Some(function) => Ok(unsafe { std::mem::transmute_copy(&function) }),
        None => {
            let [library, name] = [library, name].map(|name| name.trim_end_matches('\0'));
            Err(Unavailable::because(format!(
                "{library} of this system has no {name}"
            )))
        }
    }
}
