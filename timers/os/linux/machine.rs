//! The kernel, and where it shows its files.

use std::path::PathBuf;

use crate::os::Told;
pub use crate::os::unix::machine::kernel;

/// The folder that holds `proc`, `sys` and `etc`; `None` where a system has no such files.
#[must_use]
pub fn files() -> Option<PathBuf> {
    Some("/".into())
}

/// What the system tells by calls: Linux tells it by files.
#[must_use]
pub fn told(_cpu: Option<u32>) -> Told {
    Told::default()
}
