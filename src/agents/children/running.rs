//! Starts processes, and defines the handle of a running process, which ends the process and
//! everything that it started.

use std::io::Read;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus};
use std::time::Duration;

use timers::os::handoff::{self, Receiver};
use timers::os::{Pid, process};

use super::groups::{ProcessGroups, owns_descendants};
use super::guard::{MAX_END_TIME, end_marked};
use super::{Placement, StartError};
use crate::agents::lines::in_thread;

/// Maximum wait for the output of a process that has ended. The wait is only needed if a process
/// that it left behind, and that cannot be ended, holds the pipe open.
const OUTPUT_GRACE: Duration = Duration::from_secs(2);

/// A running process. Dropping the value ends the process and everything that it started.
#[derive(Debug)]
pub struct RunningProcess {
    child: Child,
    group: Pid,
    status: Option<ExitStatus>,
    /// Whether the process was killed and did not end.
    is_left: bool,
}

/// Starts a process with the given placement, from a thread of its own.
///
/// # Errors
/// When the process cannot be started; the error states the reason.
pub fn start(command: &mut Command, placement: Placement) -> Result<RunningProcess, StartError> {
    // The lock is held until the process is listed: an interruption comes either before the start
    // or finds the process in the list.
    let mut groups = ProcessGroups::lock();
    groups.prepare()?;
    process::prepare_group(command);
    let child = placement.spawn(command)?;
    Ok(RunningProcess {
        group: groups.add(&child),
        child,
        status: None,
        is_left: false,
    })
}

/// How a process ended, and its output.
pub struct Ended {
    /// The exit status.
    pub status: ExitStatus,
    /// The standard output; empty if it is not a pipe.
    pub stdout: Vec<u8>,
    /// The standard error; empty if it is not a pipe.
    pub stderr: Vec<u8>,
}

/// The reason why a process gave no result.
#[derive(Debug, thiserror::Error)]
pub enum ChildError {
    /// The process could not be started.
    #[error(transparent)]
    NotStarted(#[from] StartError),
    /// The process was ended because it took longer than this limit.
    #[error("it did not end within {} s", .0.as_secs())]
    TookTooLong(Duration),
    /// The process failed.
    #[error("{0}")]
    Failed(String),
}

/// [Starts](start) a process and waits until it exits. A standard input that is a pipe stays open
/// until then. Reads at most `max_bytes` from each output that is a pipe.
///
/// # Errors
/// When the process did not run to its end within `limit`, or its result is unknown.
pub fn run(
    command: &mut Command,
    placement: Placement,
    limit: Duration,
    max_bytes: u64,
) -> Result<Ended, ChildError> {
    let mut running = start(command, placement)?;
    let (input, stdout, stderr) = running.pipes();
    let [stdout, stderr] = [read(stdout, max_bytes)?, read(stderr, max_bytes)?];
    let took_too_long = !running.wait_for_exit(limit);
    drop(input);
    // Ending the process also ends those that it left behind.
    let status = running.end();
    if took_too_long {
        return Err(ChildError::TookTooLong(limit));
    }
    let failed = |why: &str| ChildError::Failed(why.into());
    let receive = |output: Receiver<Vec<u8>>| {
        let output = output.receive(OUTPUT_GRACE);
        output.map_err(|_| failed("a process that it started keeps its output open"))
    };
    Ok(Ended {
        status: status.ok_or_else(|| failed("how it ended is not known"))?,
        stdout: receive(stdout)?,
        stderr: receive(stderr)?,
    })
}

/// Reads a pipe to its end in a thread, but at most `max_bytes`. A read error ends the output early.
fn read(
    pipe: Option<impl Read + Send + 'static>,
    max_bytes: u64,
) -> Result<Receiver<Vec<u8>>, StartError> {
    let (sender, output) = handoff::channel()?;
    let Some(pipe) = pipe else {
        let _ = sender.send(Vec::new());
        return Ok(output);
    };
    in_thread(move || {
        let mut bytes = Vec::new();
        let _ = pipe.take(max_bytes).read_to_end(&mut bytes);
        // The receiver is gone if the caller no longer waits.
        let _ = sender.send(bytes);
    })?;
    Ok(output)
}

impl RunningProcess {
    /// The process id.
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

    /// Ends the process group, without descendants that left it.
    fn end_group(&mut self) -> Option<ExitStatus> {
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
            self.status = self.child.wait().ok();
            if process::has_unkillable(self.group) {
                ProcessGroups::lock().leave(self.group);
            }
        }
        self.status
    }
}

impl Drop for RunningProcess {
    fn drop(&mut self) {
        self.end();
    }
}
