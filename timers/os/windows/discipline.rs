//! The period of the timer interrupt. The rate correction of the system time by the time service is
//! not read.

use std::io;

use windows_sys::Win32::System::SystemInformation::GetSystemTimeAdjustment;

use super::handle::check_status;
pub use crate::os::other::discipline::{discipline, trim};

/// The time between two timer interrupts in nanoseconds.
///
/// # Errors
/// When the system call fails.
pub fn declared_tick_ns() -> io::Result<i64> {
    let (mut adjustment, mut increment, mut disabled) = (0, 0, 0);
    // SAFETY: the pointers are valid for one integer each.
    check_status(unsafe {
        GetSystemTimeAdjustment(&raw mut adjustment, &raw mut increment, &raw mut disabled)
    })?;
    Ok(i64::from(increment) * 100)
}
