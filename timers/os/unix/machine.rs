//! What POSIX tells of the machine.

use std::ffi::CStr;

use crate::os::KernelName;

/// What the kernel calls itself (uname(2)).
#[must_use]
pub fn kernel() -> KernelName {
    let uname = rustix::system::uname();
    let text =
        |part: &CStr| Some(part.to_string_lossy().into_owned()).filter(|text: &String| !text.is_empty());
    KernelName { name: text(uname.sysname()), release: text(uname.release()), version: text(uname.version()) }
}
