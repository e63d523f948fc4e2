//! Measures an operation in a fresh process.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::{CommandError, failed};
use crate::hosts::children;
use crate::hosts::tool::{RunError, run_to_end};
use crate::measure::worker::{Outcome, Request, answer};

/// Time allowed beyond the limit for starting the process and finishing the current samples.
const GRACE: Duration = Duration::from_secs(10);
/// Maximum length of an answer, in bytes; the rest of a longer answer is not read.
const MAX_ANSWER_BYTES: u64 = 64 << 20;

/// Measures one operation in a fresh process. The process is ended if it takes much longer than its
/// limit.
///
/// # Errors
/// When the process cannot be started or its answer cannot be read. Errors of the measurement are
/// part of the outcome.
pub fn run(request: &Request) -> Result<Outcome, CommandError> {
    let without_answer = |reason: String| Ok(Outcome::Failed { reason });
    let failed = |why: String| CommandError::Failed(format!("the process that measures: {why}"));
    let text = serde_json::to_string(request).map_err(|error| failed(error.to_string()))?;
    let (program, words) = children::this_program().map_err(|error| failed(error.to_string()))?;
    let mut command = Command::new(program);
    // The process exits when its input is closed, so its input is a pipe, which stays open.
    command
        .args(words)
        .args(["measure-worker", &text])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let limit = request.goal.limit;
    let time = limit.saturating_mul(3).saturating_add(GRACE);
    let ended = run_to_end(command, time, MAX_ANSWER_BYTES);
    if children::interrupted() {
        return Err(CommandError::Interrupted);
    }
    match ended {
        Ok(ended) if ended.status.success() => serde_json::from_slice(&ended.stdout)
            .map_err(|error| failed(format!("its answer cannot be read: {error}"))),
        Ok(ended) => without_answer(format!("its process ended with {}", ended.status)),
        Err(RunError::TookTooLong(_)) => without_answer(format!(
            "it was ended, as it went on for long after its limit of {} s",
            limit.as_secs()
        )),
        Err(error) => Err(failed(error.to_string())),
    }
}

/// Answers one request; runs in the fresh process.
///
/// # Errors
/// When the request cannot be read or the answer cannot be written.
pub fn serve(request: &str, output: &mut dyn std::io::Write) -> Result<(), CommandError> {
    let request: Request = serde_json::from_str(request).map_err(|error| {
        CommandError::Usage(format!("this is no request of `measure`: {error}"))
    })?;
    // If the parent process ends, it closes this input, and the answer is no longer needed.
    std::thread::spawn(|| {
        let mut nothing = [0_u8; 1];
        if matches!(std::io::stdin().read(&mut nothing), Ok(0)) {
            std::process::exit(1);
        }
    });
    serde_json::to_writer(&mut *output, &answer(&request)).map_err(failed)?;
    Ok(output.flush()?)
}
