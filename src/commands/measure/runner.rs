//! Runs the measured command on a CPU, in its own process group, with a time limit.

use std::process::{Command, Stdio};
use std::time::Duration;

use timers::os::CpuTime;

use crate::agents::children::{self, ChildError};
use crate::commands::{CommandResult, failed};
use reporting::text::clipped;

/// Runs a command once and discards its output. Returns its CPU time if the system reports it.
///
/// # Errors
/// When the command cannot be started, fails, or exceeds the time limit.
pub fn run_once(command: &[String], limit: Duration) -> CommandResult<Option<CpuTime>> {
    let (program, arguments) = command
        .split_first()
        .ok_or_else(|| failed("there is no command after `--`"))?;
    let mut process = Command::new(program);
    process
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let run_failed = |why: String| {
        let command = clipped(&shell_words::join(command), 80);
        Err(failed(format!("`{command}` {why}")))
    };
    match children::run(&mut process, None, limit, 0) {
        Ok(ended) if ended.status.success() => Ok(ended.cpu),
        Ok(ended) => run_failed(format!(
            "failed ({}): run it without timermeter to see why",
            ended.status
        )),
        Err(ChildError::TookTooLong(limit)) => run_failed(format!(
            "ran for longer than the limit of {} s: allow more time with --budget",
            limit.as_secs()
        )),
        Err(error) => Err(failed(format!(
            "`{}` cannot be run: {error}",
            clipped(program, 60)
        ))),
    }
}
