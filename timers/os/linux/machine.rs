//! The kernel, and where it shows its files.

use std::ffi::CStr;
use std::path::PathBuf;

use crate::os::KernelName;

/// The folder that holds `proc`, `sys` and `etc`; `None` where a system has no such files.
#[must_use]
pub fn files() -> Option<PathBuf> {
    Some("/".into())
}

/// What the kernel calls itself (uname(2)).
#[must_use]
pub fn kernel() -> KernelName {
    let uname = rustix::system::uname();
    let text =
        |part: &CStr| Some(part.to_string_lossy().into_owned()).filter(|text: &String| !text.is_empty());
    KernelName { name: text(uname.sysname()), release: text(uname.release()), version: text(uname.version()) }
}
