//! `measure-worker`, a hidden command: measures one operation in a fresh process. `measure` calls
//! [`run`], which starts the process; the process calls [`serve`], which answers the request.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::{CommandError, CommandResult, failed, usage};
use crate::agents::children::{self, ChildError, Placement};
use crate::measure::worker::{WorkerOutcome, WorkerRequest, answer};

/// Time allowed beyond three times the time limit, for starting the process and finishing the
/// current samples.
const GRACE: Duration = Duration::from_secs(10);
/// Maximum length of an answer, in bytes; the rest of a longer answer is not read.
const MAX_ANSWER_BYTES: u64 = 64 << 20;

/// Measures one operation in a fresh process. The process is killed if it takes longer than
/// three times the time limit of the measurement plus [`GRACE`].
///
/// # Errors
/// When the process cannot be started or its answer cannot be read. Errors of the measurement are
/// part of the outcome.
pub fn run(request: &WorkerRequest) -> CommandResult<WorkerOutcome> {
    let cannot_measure = |reason: String| Ok(WorkerOutcome::Failed { reason });
    let text = serde_json::to_string(request).map_err(worker_error)?;
    let (program, args) = children::this_program().map_err(worker_error)?;
    let mut command = Command::new(program);
    // The process exits when its input is closed. Its input is therefore a pipe, which `run`
    // keeps open until the process has exited.
    command
        .args(args)
        .args(["measure-worker", &text])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let limit = request.goal.limit;
    let time = limit.saturating_mul(3).saturating_add(GRACE);
    let ended = children::run(&mut command, Placement::default(), time, MAX_ANSWER_BYTES);
    if children::interrupted() {
        return Err(CommandError::Interrupted);
    }
    match ended {
        Ok(ended) if ended.status.success() => serde_json::from_slice(&ended.stdout)
            .map_err(|error| worker_error(format!("its answer cannot be read: {error}"))),
        Ok(ended) => cannot_measure(format!("its process ended with {}", ended.status)),
        Err(ChildError::TookTooLong(_)) => cannot_measure(format!(
            "it was killed, because it ran for much longer than its limit of {} s: allow more time with --budget",
            limit.as_secs()
        )),
        Err(error) => Err(worker_error(error)),
    }
}

/// The error for a process that could not measure.
fn worker_error(why: impl std::fmt::Display) -> CommandError {
    failed(format!("the process that measures failed: {why}"))
}

/// Answers one request, in the fresh process.
///
/// # Errors
/// When the request cannot be read or the answer cannot be written.
pub fn serve(request: &str, output: &mut dyn std::io::Write) -> CommandResult<bool> {
    let request: WorkerRequest = serde_json::from_str(request)
        .map_err(|error| usage(format!("this is not a request of `measure`: {error}")))?;
    // The input is closed when the parent process ends; the answer is then no longer needed.
    let end_with_parent = || {
        let mut buffer = [0_u8; 1];
        if matches!(std::io::stdin().read(&mut buffer), Ok(0)) {
            std::process::exit(1);
        }
    };
    // Without the thread, this process ends when it has answered.
    let _ = std::thread::Builder::new().spawn(end_with_parent);
    serde_json::to_writer(&mut *output, &answer(&request)).map_err(failed)?;
    output.flush()?;
    Ok(true)
}
