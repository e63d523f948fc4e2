//! How the system steers its clocks. The time service trims the system time, which is not what
//! adjtimex(2) would tell; the timer interrupt is declared.

use std::io;

use windows_sys::Win32::System::SystemInformation::GetSystemTimeAdjustment;

use super::handle::checked;
pub use crate::os::other::discipline::{discipline, trim};

/// Where the tick is declared.
pub const DECLARED_TICK: &str = "GetSystemTimeAdjustment()";

/// The time between two timer interrupts.
///
/// # Errors
/// What the system said.
pub fn declared_tick_ns() -> io::Result<i64> {
    let (mut adjustment, mut increment, mut disabled) = (0, 0, 0);
    // SAFETY: the pointers are valid.
    checked(unsafe {
        GetSystemTimeAdjustment(&raw mut adjustment, &raw mut increment, &raw mut disabled)
    })?;
    Ok(i64::from(increment) * 100)
}
