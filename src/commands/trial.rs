//! Measures an operation in a fresh process.

use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use super::{CommandError, failed};
use crate::hosts::children::{self, StartError};
use crate::measure::worker::{Outcome, Request, answer};

/// Time allowed beyond the limit for starting the process and finishing the current samples.
const GRACE: Duration = Duration::from_secs(10);
/// Largest answer that is read, in bytes.
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
    command
        .args(words)
        .args(["measure-worker", &text])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut running = children::start(command, None).map_err(|error| match error {
        StartError::Interrupted => CommandError::Interrupted,
        error => failed(error.to_string()),
    })?;
    // The process exits when its input is closed, so the input is kept open until the answer
    // arrives.
    let (_input, output, _) = running.pipes();
    let Some(output) = output else {
        return Err(failed("it has no output".into()));
    };
    let (sender, receiver) = mpsc::channel();
    let read = move || {
        let mut answer = String::new();
        let read = output
            .take(MAX_ANSWER_BYTES)
            .read_to_string(&mut answer)
            .map(|_| answer);
        // The receiver is gone if the limit has passed; then the answer is dropped.
        let _ = sender.send(read);
    };
    std::thread::Builder::new()
        .spawn(read)
        .map_err(|error| failed(error.to_string()))?;
    let limit = request.goal.limit;
    let answer = receiver.recv_timeout(limit.saturating_mul(3).saturating_add(GRACE));
    if answer.is_ok() {
        running.until_it_exits();
    }
    let status = running
        .end()
        .ok_or_else(|| failed("how it ended is not known".into()))?;
    if children::interrupted() {
        return Err(CommandError::Interrupted);
    }
    match answer {
        Ok(Ok(answer)) if status.success() => serde_json::from_str(&answer)
            .map_err(|error| failed(format!("its answer cannot be read: {error}"))),
        Ok(_) => without_answer(format!("its process ended with {status}")),
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => without_answer(format!(
            "it was ended, as it went on for long after its limit of {} s",
            limit.as_secs()
        )),
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
