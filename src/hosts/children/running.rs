//! Starts processes, and defines the handle of a running process, which ends the process and
//! everything that it started.

use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus};

use timers::Deadline;
use timers::os::process;
use timers::os::{CpuTime, Pid};

use super::groups::{CHECK_INTERVAL, MAX_CHECKS, ProcessGroups, owns_descendants};
use super::guard::end_marked;
use super::{Placement, StartError};

/// A running process. Dropping the value ends the process and everything that it started.
#[derive(Debug)]
pub struct RunningProcess {
    child: Child,
    group: Pid,
    status: Option<ExitStatus>,
    cpu: Option<CpuTime>,
    /// Whether the process was killed and did not end.
    is_left: bool,
}

/// Starts a process with the given placement; without a CPU, wherever this process may run.
///
/// # Errors
/// When the process cannot be started; the error states the reason.
pub fn start(
    mut command: Command,
    placement: impl Into<Placement>,
) -> Result<RunningProcess, StartError> {
    let placement = placement.into();
    start_with(&mut command, |command| placement.spawn(command))
}

/// Like [`start`], but from the calling thread and as fast as the system can, for a run that is
/// timed.
///
/// # Errors
/// When the process cannot be started; the error states the reason.
pub fn start_timed(command: &mut Command) -> Result<RunningProcess, StartError> {
    start_with(command, |command| Ok(process::spawn(command)?))
}

fn start_with(
    command: &mut Command,
    spawn: impl FnOnce(&mut Command) -> Result<Child, StartError>,
) -> Result<RunningProcess, StartError> {
    // The lock is held until the process is listed: an interruption comes either before the start
    // or finds the process in the list.
    let mut groups = ProcessGroups::lock();
    groups.prepare(None)?;
    process::prepare_group(command)?;
    let child = spawn(command)?;
    Ok(RunningProcess {
        group: groups.add(&child),
        child,
        status: None,
        cpu: None,
        is_left: false,
    })
}

impl RunningProcess {
    /// The process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Takes the pipes of the process; `None` for a pipe that does not exist or was already taken.
    pub fn pipes(&mut self) -> (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>) {
        (
            self.child.stdin.take(),
            self.child.stdout.take(),
            self.child.stderr.take(),
        )
    }

    /// Whether the process has exited. It is not reaped, so its process group can still be ended.
    #[must_use]
    pub fn has_exited(&self) -> bool {
        self.status.is_some() || process::has_exited(self.group)
    }

    /// Waits until the process has exited, without reaping it.
    pub fn wait_for_exit(&self) {
        if self.status.is_none() {
            process::wait_for_exit(self.group);
        }
    }

    /// The process group that the process leads; another thread can end it with
    /// [`process::kill_group`].
    #[must_use]
    pub fn group(&self) -> Pid {
        self.group
    }

    /// Whether the process still runs although it was killed: it runs as another user, so that this
    /// program may not signal it.
    #[must_use]
    pub fn is_left(&self) -> bool {
        self.is_left
    }

    /// Ends the process and everything that it started, immediately. The returned status describes
    /// the process's own exit only if it [had exited](Self::has_exited) before; it is `None` if the
    /// process [does not end](Self::is_left).
    pub fn end(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() && !self.is_left && owns_descendants() {
            let descendants = process::descendants(self.group);
            self.end_group();
            end_marked(&descendants);
        }
        self.end_group()
    }

    /// Ends only the process group, for a run that is timed. Descendants that left the group are
    /// ended later.
    pub fn end_group(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() && !self.is_left {
            process::kill_group(self.group);
            self.is_left = !self.ends();
            let mut groups = ProcessGroups::lock();
            groups.forget(self.group);
            if self.is_left {
                groups.leave(self.group);
                return None;
            }
            drop(groups);
            if let Ok((status, cpu)) = process::wait(&mut self.child) {
                (self.status, self.cpu) = (Some(status), cpu);
            }
            if process::has_unkillable(self.group) {
                ProcessGroups::lock().leave(self.group);
            }
        }
        self.status
    }

    /// Waits for the end of the process, which was killed, but at most as long as for other
    /// processes. Returns whether it has ended.
    fn ends(&self) -> bool {
        let limit = Deadline::after(CHECK_INTERVAL * MAX_CHECKS);
        let mut pause = CHECK_INTERVAL / 32;
        while !self.has_exited() {
            if limit.remaining().is_none() {
                return false;
            }
            timers::pause(pause);
            pause = (2 * pause).min(CHECK_INTERVAL);
        }
        true
    }

    /// The CPU time of the process, once it has ended; `None` if the system does not account for
    /// it.
    #[must_use]
    pub fn cpu_time(&self) -> Option<CpuTime> {
        self.cpu
    }
}

impl Drop for RunningProcess {
    fn drop(&mut self) {
        self.end();
    }
}
