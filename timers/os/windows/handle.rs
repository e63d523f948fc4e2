//! What calls return: whether they succeeded, and handles, which are closed when they are dropped.
//!
//! Functions that not every Windows has, nor every Wine: looked for while the program runs, as one
//! that is imported and missing keeps the program from starting.

use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};

use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::System::LibraryLoader::{GetProcAddress, LoadLibraryA};
use windows_sys::Win32::System::Threading::OpenProcess;

use crate::Unavailable;

/// Zero is a failure.
pub(in crate::os) fn checked(succeeded: i32) -> io::Result<()> {
    if succeeded == 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// A process by its number.
pub(in crate::os) struct Handle(OwnedHandle);

impl Handle {
    pub(in crate::os) fn open(process: u32, access: u32) -> io::Result<Self> {
        // SAFETY: plain numbers.
        owned(unsafe { OpenProcess(access, 0, process) }).map(Self)
    }

    pub(in crate::os) fn raw(&self) -> HANDLE {
        self.0.as_raw_handle()
    }
}

/// A handle that was just made for the caller; null is a failure.
pub(in crate::os) fn owned(handle: HANDLE) -> io::Result<OwnedHandle> {
    if handle.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it was just made for the caller, and has no other owner.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}

/// A function of a library that is named as it is exported, NUL at the end of both names. `F` has
/// to be its type.
///
/// # Errors
/// When the system has none of that name.
///
/// # Safety
/// `F` is a function pointer of the signature that the function is documented to have.
pub(in crate::os) unsafe fn find_function<F: Copy>(
    library: &'static str,
    name: &'static str,
) -> Result<F, Unavailable> {
    const { assert!(size_of::<F>() == size_of::<usize>(), "a function pointer") };
    debug_assert!(library.ends_with('\0') && name.ends_with('\0'));
    // SAFETY: both names end with NUL. The library is one of the system's own and stays loaded.
    let found = unsafe {
        let library = LoadLibraryA(library.as_ptr());
        (!library.is_null())
            .then(|| GetProcAddress(library, name.as_ptr()))
            .flatten()
    };
    match found {
        // SAFETY: both are function pointers, and the caller vouches for the signature.
        Some(function) => Ok(unsafe { std::mem::transmute_copy(&function) }),
        None => {
            let [library, name] = [library, name].map(|name| name.trim_end_matches('\0'));
            Err(Unavailable::because(format!(
                "{library} of this system has no {name}"
            )))
        }
    }
}
