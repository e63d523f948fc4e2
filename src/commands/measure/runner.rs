//! Runs the measured commands: on a CPU, in a process group of their own, with a time limit.

use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use timers::Deadline;
use timers::os::process::kill_group;
use timers::os::{CpuTime, Pid};

use crate::hosts::children;
use crate::text::clipped;

/// Time between two checks of the time limit.
const LIMIT_CHECK_PERIOD: Duration = Duration::from_millis(50);

type Running = Arc<Mutex<Option<(Pid, Deadline)>>>;

/// Runs commands with a time limit.
pub(super) struct Runner {
    limit: Duration,
    running: Running,
    /// Closed when the runner is dropped; this ends the thread that checks the limit.
    _watched: mpsc::Sender<()>,
}

impl Runner {
    /// Creates a runner on `cpu`, or on any CPU, with the time limit of each run.
    ///
    /// # Errors
    /// When the CPU cannot be used, or no thread can be started.
    pub(super) fn new(cpu: Option<u32>, limit: Duration) -> Result<Self, String> {
        let running = Running::default();
        let (_watched, over) = mpsc::channel::<()>();
        let watched = Arc::clone(&running);
        // The thread is started before this one is bound to a CPU, because threads inherit the
        // binding.
        thread::Builder::new()
            .name("limit".into())
            .spawn(move || {
                while over.recv_timeout(LIMIT_CHECK_PERIOD) == Err(RecvTimeoutError::Timeout) {
                    end_if_late(&watched);
                }
            })
            .map_err(|error| format!("no thread to watch the limit: {error}"))?;
        if let Some(cpu) = cpu {
            timers::pin_to(cpu).map_err(|error| format!("--cpu {cpu}: {error}"))?;
        }
        Ok(Self {
            limit,
            running,
            _watched,
        })
    }

    /// Runs a command once and discards its output. Returns its CPU time if the system reports it.
    ///
    /// # Errors
    /// When the command cannot be started, fails, or exceeds the time limit.
    pub(super) fn once(&self, command: &[String]) -> Result<Option<CpuTime>, String> {
        let (program, arguments) = command
            .split_first()
            .ok_or("there is no command behind `--`")?;
        let mut process = Command::new(program);
        process
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut run = children::start_timed(&mut process)
            .map_err(|error| format!("`{}` cannot be run: {error}", clipped(program, 60)))?;
        let deadline = Deadline::after(self.limit);
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((run.group(), deadline));
        // The process is not reaped yet, so its process group id cannot be reused while the limit
        // thread may still kill the group.
        run.until_it_exits();
        let was_late = self
            .running
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
            .is_none();
        let status = run.end_group().ok_or("how it ended is not known")?;
        let failed = |why: String| {
            Err(format!(
                "`{}` {why}",
                clipped(&shell_words::join(command), 80)
            ))
        };
        if was_late {
            let limit = self.limit.as_secs();
            return failed(format!(
                "went on for longer than the limit of {limit} s: allow more with --limit"
            ));
        }
        if !status.success() {
            return failed(format!("failed ({status}): run it by hand to see why"));
        }
        Ok(run.cpu_time())
    }
}

fn end_if_late(running: &Running) {
    let mut running = running.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((group, _)) = running.take_if(|(_, deadline)| deadline.remaining().is_none()) {
        kill_group(group);
    }
}
