//! What a process may have of the system. Windows limits neither open files nor processes by itself.

use std::io;

use windows_sys::Win32::Foundation::{
    ERROR_COMMITMENT_LIMIT, ERROR_NO_SYSTEM_RESOURCES, ERROR_NOT_ENOUGH_MEMORY, ERROR_NOT_ENOUGH_QUOTA,
    ERROR_OUTOFMEMORY, ERROR_TOO_MANY_OPEN_FILES,
};

use crate::os::Shortage;
pub use crate::os::other::limits::{allow_files, open_files, share_reserves};

/// What there is too little of, where an error says that there is.
#[must_use]
pub fn shortage(error: &io::Error) -> Option<Shortage> {
    match error.raw_os_error()?.cast_unsigned() {
        ERROR_TOO_MANY_OPEN_FILES => Some(Shortage::Files(None)),
        // A job object made by another process may allow so many processes only.
        ERROR_NOT_ENOUGH_QUOTA => Some(Shortage::Processes(None)),
        ERROR_NOT_ENOUGH_MEMORY | ERROR_OUTOFMEMORY | ERROR_COMMITMENT_LIMIT | ERROR_NO_SYSTEM_RESOURCES => {
            Some(Shortage::Memory)
        }
        _ => None,
    }
}
