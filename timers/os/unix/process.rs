//! Child processes and their process groups (waitid(2), [wait4(2)], kill(2)).
//!
//! [wait4(2)]: https://man7.org/linux/man-pages/man2/wait4.2.html

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::Duration;

use rustix::io::{Errno, retry_on_intr};
use rustix::process::{
    Pid as Raw, Signal, WaitId, WaitIdOptions, getpid, kill_process_group, test_kill_process,
    test_kill_process_group, waitid,
};

use crate::os::{Pid, handoff};

/// Waits for the exit of a child, without reaping it.
const UNTIL_EXIT: WaitIdOptions = WaitIdOptions::EXITED.union(WaitIdOptions::NOWAIT);

/// Makes the process of `command` the leader of a new process group, which can be killed as a
/// whole.
pub fn prepare_group(command: &mut Command) {
    command.process_group(0);
}

/// Whether another process has to kill the process groups if this process is killed.
pub const NEEDS_GUARD: bool = true;

/// Starts a command prepared by [`prepare_group`], with the affinity of the calling thread.
///
/// # Errors
/// When the process cannot be started.
pub fn spawn(command: &mut Command) -> io::Result<Child> {
    command.spawn()
}

/// Restores the default action of SIGCHLD: if the parent program set the signal to be ignored, the
/// system reaps children by itself, and can reuse their ids at once.
pub fn keep_exited_children() {
    // SAFETY: the default action of a signal calls no function of this process.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
}

/// Kills a process group; has no effect if the group is empty.
pub fn kill_group(group: Pid) {
    let _ = raw(group).map(|group| kill_process_group(group, Signal::KILL));
}

/// Whether a process group consists of processes that this process may not signal.
pub fn has_unkillable(group: Pid) -> bool {
    raw(group).is_some_and(|group| test_kill_process_group(group) == Err(Errno::PERM))
}

/// Whether a sandbox refuses kill(2) to this process, which may otherwise signal itself.
pub(in crate::os) fn kill_is_refused() -> bool {
    test_kill_process(getpid()).is_err()
}

/// Why a process of this group, which was killed, still runs; for the end of a sentence about the process.
pub fn why_left(group: Pid) -> &'static str {
    if kill_is_refused() {
        "runs in a sandbox that refuses kill(2)"
    } else if has_unkillable(group) {
        "runs as another user"
    } else {
        "does not react to SIGKILL"
    }
}

/// Whether a child has exited; `true` if it was reaped. Does not reap the child, so that its id and
/// its group id are not reused.
pub fn has_exited(child: Pid) -> bool {
    raw(child).is_some_and(|child| {
        matches!(
            waitid(WaitId::Pid(child), UNTIL_EXIT.union(WaitIdOptions::NOHANG)),
            Ok(Some(_)) | Err(Errno::CHILD)
        )
    })
}

/// Waits for at most `limit` until a child has exited, without reaping it. Returns whether it has.
#[must_use]
pub fn wait_for_exit(child: Pid, limit: Duration) -> bool {
    let Ok((ended, end)) = handoff::channel::<()>() else {
        return has_exited(child);
    };
    // In another thread, because the call has no time limit.
    let wait = move || {
        let _ended = ended;
        let _ = raw(child).map(|child| retry_on_intr(|| waitid(WaitId::Pid(child), UNTIL_EXIT)));
    };
    if thread::Builder::new().spawn(wait).is_ok() {
        let _ = end.receive(limit);
    }
    has_exited(child)
}

/// The signal that ended a process; `None` if it exited by itself.
pub fn signal(status: ExitStatus) -> Option<i32> {
    status.signal()
}

/// The name of a signal in `signal.h`, as in `SIGKILL`; `None` if unknown.
#[cfg(feature = "signals")]
pub use signal_hook::low_level::signal_name;

/// The name of a signal; `None` because this build has no list of them.
#[cfg(not(feature = "signals"))]
pub fn signal_name(_signal: i32) -> Option<&'static str> {
    None
}

/// The id in the type of rustix; `None` for 0.
pub(in crate::os) fn raw(process: Pid) -> Option<Raw> {
    Raw::from_raw(process.0.cast_signed())
}

#[cfg(test)]
mod tests {
    #![allow(
        unused_qualifications,
        reason = "Linux has functions of its own, other systems those of this file"
    )]

    use std::process::Stdio;

    use super::*;
    use crate::os::process;

    #[test]
    fn waits_have_limits() {
        let waits: [fn(Pid, Duration) -> bool; 2] = [wait_for_exit, process::wait_for_exit];
        for wait_for_exit in waits {
            let mut command = Command::new("cat");
            command.stdin(Stdio::piped()).stdout(Stdio::null());
            prepare_group(&mut command);
            let mut child = command.spawn().expect("cat starts");
            let id = Pid::from_child(&child);
            assert!(!wait_for_exit(id, Duration::ZERO) && !has_exited(id));
            drop(child.stdin.take());
            assert!(wait_for_exit(id, Duration::MAX) && has_exited(id));
            assert!(wait_for_exit(id, Duration::ZERO), "it was not reaped");
            assert!(child.wait().unwrap().success());
            assert!(wait_for_exit(id, Duration::ZERO), "it was reaped");
        }
    }

    #[test]
    fn killed_group_ends() {
        let mut command = Command::new("sleep");
        prepare_group(command.arg("3100"));
        let mut child = command.spawn().expect("sleep starts");
        let id = Pid::from_child(&child);
        assert!(!kill_is_refused() && !process::has_unkillable(id));
        process::kill_group(id);
        assert!(process::wait_for_exit(id, Duration::MAX));
        assert_eq!(signal(child.wait().unwrap()), Some(libc::SIGKILL));
    }
}
