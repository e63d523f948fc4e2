//! Results and handles of calls.

use std::io;
use std::os::windows::io::{FromRawHandle, OwnedHandle};

use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::System::Threading::OpenProcess;

/// Converts the result of a call: 0 means failure.
pub fn check_status(succeeded: i32) -> io::Result<()> {
    if succeeded == 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// Opens a process by its id, with the given access rights.
pub fn open_process(process: u32, access: u32) -> io::Result<OwnedHandle> {
    // SAFETY: the arguments are integers.
    own_handle(unsafe { OpenProcess(access, 0, process) })
}

/// Takes ownership of a new handle; null means failure.
pub fn own_handle(handle: HANDLE) -> io::Result<OwnedHandle> {
    if handle.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: callers pass a handle that a call just returned, so that it has no other owner.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}
