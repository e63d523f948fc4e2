//! Runs the measured command on a CPU, in its own process group, with a time limit.

use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use timers::Deadline;
use timers::os::process::kill_group;
use timers::os::{CpuTime, Pid};

use crate::commands::{CommandError, failed};
use crate::hosts::children;
use crate::text::clipped;

/// Time between two checks of the time limit.
const LIMIT_CHECK_PERIOD: Duration = Duration::from_millis(50);

/// The process group of the current run with its deadline; `None` if there is no run, or if its
/// time limit has ended it.
type CurrentRun = Arc<Mutex<Option<(Pid, Deadline)>>>;

/// Runs commands with a time limit.
pub(super) struct Runner {
    limit: Duration,
    running: CurrentRun,
    /// Closed when the runner is dropped; this ends the thread that checks the limit.
    _stop_limit_thread: mpsc::Sender<()>,
}

impl Runner {
    /// Creates a runner with a time limit for each run. The calling thread, and so the command, is
    /// bound to `cpu` if it is given.
    ///
    /// # Errors
    /// When the CPU cannot be used, or no thread can be started.
    pub(super) fn new(cpu: Option<u32>, limit: Duration) -> Result<Self, CommandError> {
        let running = CurrentRun::default();
        let (_stop_limit_thread, stopped) = mpsc::channel::<()>();
        let shared = Arc::clone(&running);
        // The thread is started before this one is bound to a CPU, because threads inherit the
        // binding.
        thread::Builder::new()
            .name("limit".into())
            .spawn(move || {
                let timed_out = Err(RecvTimeoutError::Timeout);
                while timers::receive(&stopped, LIMIT_CHECK_PERIOD) == timed_out {
                    end_if_late(&shared);
                }
            })
            .map_err(|error| {
                failed(format!(
                    "cannot start the thread that checks the time limit: {error}"
                ))
            })?;
        if let Some(cpu) = cpu {
            timers::pin_to(cpu).map_err(|error| failed(format!("--cpu {cpu}: {error}")))?;
        }
        Ok(Self {
            limit,
            running,
            _stop_limit_thread,
        })
    }

    /// Runs a command once and discards its output. Returns its CPU time if the system reports it.
    ///
    /// # Errors
    /// When the command cannot be started, fails, or exceeds the time limit.
    pub(super) fn run_once(&self, command: &[String]) -> Result<Option<CpuTime>, CommandError> {
        let (program, arguments) = command
            .split_first()
            .ok_or_else(|| failed("there is no command after `--`"))?;
        let mut process = Command::new(program);
        process
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut run = children::start_timed(&mut process).map_err(|error| {
            failed(format!("`{}` cannot be run: {error}", clipped(program, 60)))
        })?;
        let deadline = Deadline::after(self.limit);
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((run.group(), deadline));
        // This waits without reaping the process, so that its process group id cannot be reused
        // while the limit thread may still kill the group.
        run.wait_for_exit();
        let was_late = self
            .running
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
            .is_none();
        let status = run
            .end_group()
            .ok_or_else(|| failed("its exit status is unknown"))?;
        let run_failed = |why: String| {
            let command = clipped(&shell_words::join(command), 80);
            Err(failed(format!("`{command}` {why}")))
        };
        if was_late {
            let limit = self.limit.as_secs();
            return run_failed(format!(
                "ran for longer than the limit of {limit} s: allow more time with --limit"
            ));
        }
        if !status.success() {
            return run_failed(format!(
                "failed ({status}): run it without timermeter to see why"
            ));
        }
        Ok(run.cpu_time())
    }
}

/// Kills the process group of the current run if its deadline has passed.
fn end_if_late(running: &CurrentRun) {
    let mut running = running.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((group, _)) = running.take_if(|(_, deadline)| deadline.remaining().is_none()) {
        kill_group(group);
    }
}
