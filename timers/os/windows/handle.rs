//! What calls return: whether they succeeded, and handles, which are closed when they are dropped.

use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};

use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::System::Threading::OpenProcess;

/// Zero is a failure.
pub(super) fn checked(succeeded: i32) -> io::Result<()> {
    if succeeded == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// A process by its number.
pub(super) struct Handle(OwnedHandle);

impl Handle {
    pub(super) fn of(process: u32, access: u32) -> io::Result<Self> {
        // SAFETY: plain numbers.
        owned(unsafe { OpenProcess(access, 0, process) }).map(Self)
    }

    pub(super) fn raw(&self) -> HANDLE {
        self.0.as_raw_handle()
    }
}

/// A handle that was just made for the caller; null is a failure.
pub(super) fn owned(handle: HANDLE) -> io::Result<OwnedHandle> {
    if handle.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it was just made for the caller, and has no other owner.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}
