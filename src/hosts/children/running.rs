//! Defines the handle of a running process, which ends the process and everything that it started.

use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, ExitStatus};

use timers::os::process;
use timers::os::{CpuTime, Pid};

use super::descendants::{descendants_of, end_orphans};
use super::{lock_own_children, owns_descendants};

/// A running process. Dropping the value ends the process and everything that it started.
#[derive(Debug)]
pub struct Running {
    child: Child,
    group: Pid,
    status: Option<ExitStatus>,
    cpu: Option<CpuTime>,
}

impl Running {
    /// The handle of a process that was just started and leads the process group `group`.
    pub(super) fn new(child: Child, group: Pid) -> Self {
        Self {
            child,
            group,
            status: None,
            cpu: None,
        }
    }

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

    /// Ends the process and everything that it started, immediately. The returned status describes
    /// the process's own exit only if it [had exited](Self::has_exited) before.
    pub fn end(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() {
            let descendants = if owns_descendants() {
                descendants_of(self.group)
            } else {
                Vec::new()
            };
            self.end_group();
            if owns_descendants() {
                end_orphans(&descendants);
            }
        }
        self.status
    }

    /// Ends only the process group, for a run that is timed. Descendants that left the group are
    /// ended later.
    pub fn end_group(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() {
            let mut own_children = lock_own_children();
            process::kill_group(self.group);
            own_children.forget(self.group);
            drop(own_children);
            if let Ok((status, cpu)) = process::wait(&mut self.child) {
                (self.status, self.cpu) = (Some(status), cpu);
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

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}
