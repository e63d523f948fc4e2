//! The kernel, and where it shows its files.

use std::path::PathBuf;

use crate::os::Told;
pub use crate::os::unix::machine::kernel;

/// The folder that holds `proc`, `sys` and `etc`; `None` where a system has no such files.
#[must_use]
pub fn files() -> Option<PathBuf> {
    Some("/".into())
}

/// What the system tells by calls: Linux tells the rest by files.
#[must_use]
pub fn told(_cpu: Option<u32>) -> Told {
    // SAFETY: a plain number; what is not known is 0.
    let vdso = unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) };
    Told { vdso: Some(vdso != 0), ..Told::default() }
}

pub use super::permission::regain_counter;
