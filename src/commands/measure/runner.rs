//! Runs the measured command on a CPU, in its own process group, with a time limit.

use std::process::{Command, Stdio};
use std::time::Duration;

use timers::os::CpuTime;

use crate::agents::children;
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
    let mut run = children::start_timed(&mut process)
        .map_err(|error| failed(format!("`{}` cannot be run: {error}", clipped(program, 60))))?;
    let exited = run.wait_for_exit(limit);
    let status = run.end_group();
    let run_failed = |why: String| {
        let command = clipped(&shell_words::join(command), 80);
        Err(failed(format!("`{command}` {why}")))
    };
    if !exited {
        let limit = limit.as_secs();
        return run_failed(format!(
            "ran for longer than the limit of {limit} s: allow more time with --budget"
        ));
    }
    let status = status.ok_or_else(|| failed("its exit status is unknown"))?;
    if !status.success() {
        return run_failed(format!(
            "failed ({status}): run it without timermeter to see why"
        ));
    }
    Ok(run.cpu_time())
}
