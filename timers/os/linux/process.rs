//! Children, and all below them ([prctl(2)]).
//!
//! [prctl(2)]: https://man7.org/linux/man-pages/man2/prctl.2.html

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

pub use super::descendants::{all, end_all_with, listed};
pub use super::procfs::hidden;
pub use crate::os::unix::process::*;

/// Has the process of `command` killed when the *thread* that starts it ends: who calls this starts it from a thread that
/// stays. Where the system has no such thing, nothing changes.
pub fn ends_with_its_starter(command: &mut Command) {
    let starter = std::process::id();
    let requirement = move || {
        // SAFETY: plain numbers; where the call is refused, nothing changed and nothing is lost.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong) };
        // SAFETY: no arguments, no preconditions.
        let parent = unsafe { libc::getppid() };
        // A child that ended before the request was known would never be heard of.
        if u32::try_from(parent).is_ok_and(|parent| parent == starter) {
            Ok(())
        } else {
            Err(io::Error::from_raw_os_error(libc::ESRCH))
        }
    };
    // SAFETY: between fork and exec, only calls that are safe in a signal handler: prctl and getppid; nothing is
    // allocated, as an error of a number needs no memory.
    unsafe { command.pre_exec(requirement) };
}

/// Has this process killed when the *thread* that started it ends, which is one of process `parent`: asked for by the process itself it
/// allows it to be started in the fastest way there is, posix_spawn(3). Returns whether that process is still there.
#[must_use]
pub fn ends_with(parent: u32) -> bool {
    // SAFETY: plain numbers; where the call is refused, nothing changed and nothing is lost.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong) };
    // SAFETY: no arguments, no preconditions.
    let now = unsafe { libc::getppid() };
    // A starter that ended before the request was known would never be heard of.
    u32::try_from(now).is_ok_and(|now| now == parent)
}

/// Makes this process the parent of all its descendants whose own parents end, instead of init: so that none gets out of
/// reach by starting a session of its own. Where the system has no such thing, nothing changes.
pub fn adopt_descendants() {
    // SAFETY: plain numbers.
    unsafe {
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1 as libc::c_ulong);
    }
}
