//! Children and their groups (waitid(2), [wait4(2)], kill(2)).
//!
//! [wait4(2)]: https://man7.org/linux/man-pages/man2/wait4.2.html

use std::io;
use std::mem::MaybeUninit;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

use rustix::process::{
    Pid as Raw, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid,
};

use crate::os::{CpuTime, Pid};

/// Has the process of `command` lead a group of its own, which can be ended as a whole.
///
/// # Errors
/// Where the system has no such thing, so that what it starts could not be ended.
pub fn lead_group(command: &mut Command) -> io::Result<()> {
    command.process_group(0);
    Ok(())
}

/// Whether another process has to end the groups when this one is killed.
pub const NEEDS_GUARD: bool = true;

/// Starts what [`lead_group`] prepared, where the calling thread may run.
///
/// # Errors
/// What the system said.
pub fn spawn(command: &mut Command) -> io::Result<Child> {
    command.spawn()
}

/// Ends a group. Nothing happens when it is empty.
pub fn kill_group(group: Pid) {
    let _ = raw(group).map(|group| kill_process_group(group, Signal::KILL));
}

/// Ends a child that no other thread waits for, and waits for it. Nothing happens where the kernel
/// knows no child of that number: until a child is waited for, its number means no other process.
pub fn end_child(process: Pid) {
    let Some(number) = raw(process) else { return };
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    if waitid(WaitId::Pid(number), look).is_ok() {
        let _ = kill_process(number, Signal::KILL);
        waits(process, WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
    }
}

/// Whether a child is over. It is not waited for, so that its number and its group stay its own.
#[must_use]
pub fn has_exited(child: Pid) -> bool {
    waits(
        child,
        WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT,
    )
}

/// Returns once a child is over, as above.
pub fn until_it_exits(child: Pid) {
    waits(child, WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
}

/// Waits for a child, once. Returns how it ended, and the CPU time that it took, where the system
/// counts that.
///
/// # Errors
/// When it is no child any more.
pub fn wait(child: &mut Child) -> io::Result<(ExitStatus, Option<CpuTime>)> {
    // As the standard library does: a reader is not to wait for what is not written any more.
    drop(child.stdin.take());
    let (mut status, mut usage) = (0, MaybeUninit::<libc::rusage>::zeroed());
    // SAFETY: both are places that are written to, and the number is that of a child that was not
    // waited for.
    while unsafe {
        libc::wait4(
            child.id().cast_signed(),
            &raw mut status,
            0,
            usage.as_mut_ptr(),
        )
    } < 0
    {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    // SAFETY: plain numbers, for which zero bytes are as good as what the kernel wrote.
    let usage = unsafe { usage.assume_init() };
    let time = |time: libc::timeval| Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1_000);
    let cpu = CpuTime {
        user: time(usage.ru_utime),
        system: time(usage.ru_stime),
    };
    Ok((ExitStatus::from_raw(status), Some(cpu)))
}

/// The signal that ended a process.
#[must_use]
pub fn signal(status: ExitStatus) -> Option<i32> {
    status.signal()
}

/// As `signal.h` calls it: `SIGKILL`.
#[must_use]
pub fn signal_name(signal: i32) -> Option<&'static str> {
    signal_hook::low_level::signal_name(signal)
}

fn waits(child: Pid, options: WaitIdOptions) -> bool {
    raw(child).is_some_and(|child| matches!(waitid(WaitId::Pid(child), options), Ok(Some(_))))
}

pub(in crate::os) fn raw(process: Pid) -> Option<Raw> {
    Raw::from_raw(process.0.cast_signed())
}
