//! Starts processes, and defines the handle of a running process, which ends the process and
//! everything that it started.

use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus};
use std::time::Duration;

use timers::os::process;
use timers::os::{CpuTime, Pid};

use super::groups::{ProcessGroups, owns_descendants};
use super::guard::{MAX_END_TIME, end_marked};
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
    groups.prepare()?;
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

    /// Waits for at most `limit` until the process has exited, without reaping it. Returns whether
    /// it has.
    #[must_use]
    pub fn wait_for_exit(&self, limit: Duration) -> bool {
        self.status.is_some() || process::wait_for_exit(self.group, limit)
    }

    /// Why the process still runs although it was killed, as a predicate; `None` if it has ended.
    #[must_use]
    pub fn why_left(&self) -> Option<&'static str> {
        self.is_left.then(|| process::why_left(self.group))
    }

    /// Ends the process and everything that it started, immediately: closes the pipes that were not
    /// taken, and kills it. The returned status describes the process's own exit only if it
    /// [had exited](Self::has_exited) before; it is `None` if the process
    /// [does not end](Self::why_left).
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
            drop(self.pipes());
            process::kill_group(self.group);
            self.is_left = !self.wait_for_exit(MAX_END_TIME);
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
