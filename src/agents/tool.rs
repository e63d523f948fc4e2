//! Runs programs to their end and reads their output: compilers and other short external programs,
//! or this program again.

use std::io::{self, Read};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use crate::agents::children::{self, StartError};
use crate::agents::lines::{is_jvm_notice, printable};
pub use timers::os::files::is_program;

/// Maximum run time of a compiler on a slow machine.
pub(super) const MAX_COMPILE_TIME: Duration = Duration::from_secs(60);
/// Maximum length of the error message of an external program, in characters.
const MAX_ERROR_CHARS: usize = 200;
/// Maximum length of the output of an external program, in bytes.
const MAX_OUTPUT_BYTES: u64 = 1 << 20;
/// Maximum wait for the output of a program that has ended. The wait is only needed if a process
/// that the program left behind, and that cannot be ended, holds the pipe open.
const OUTPUT_GRACE: Duration = Duration::from_secs(2);

/// Returns the path of the first of these programs that is found in `PATH`. Relative folders in
/// `PATH` are skipped, because others may have put programs into the current folder.
#[must_use]
pub fn find(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    names.iter().find_map(|name| {
        std::env::split_paths(&path)
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(name))
            .find(|program| is_program(program))
    })
}

/// Runs an external program, without input and for at most `limit`, and returns its standard
/// output.
///
/// # Errors
/// When the program did not run to its end within `limit`, or failed.
pub fn run_within(limit: Duration, mut command: Command) -> Result<String, ToolError> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let ended = run_to_end(command, limit, MAX_OUTPUT_BYTES)?;
    if ended.status.success() {
        return Ok(String::from_utf8_lossy(&ended.stdout).into_owned());
    }
    let message = if ended.stderr.is_empty() {
        ended.stdout
    } else {
        ended.stderr
    };
    let text = String::from_utf8_lossy(&message);
    let line = text
        .lines()
        .find(|line| !line.trim().is_empty() && !is_jvm_notice(line))
        .unwrap_or("it failed without an error message");
    Err(ToolError::Failed(printable(
        line.as_bytes(),
        MAX_ERROR_CHARS,
    )))
}

/// The exit status of a program that has ended, and its output.
pub struct Ended {
    /// The exit status.
    pub status: ExitStatus,
    /// The standard output; empty if it is not a pipe.
    pub stdout: Vec<u8>,
    /// The standard error; empty if it is not a pipe.
    pub stderr: Vec<u8>,
}

/// The reason why a program gave no result.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// The program could not be started.
    #[error(transparent)]
    NotStarted(#[from] StartError),
    /// The program was ended because it took longer than this limit.
    #[error("it did not end within {} s", .0.as_secs())]
    TookTooLong(Duration),
    /// No thread could be started that waits for the program.
    #[error("no thread to wait for it: {0}")]
    NoThread(#[from] io::Error),
    /// The exit status of the program is unknown.
    #[error("how it ended is not known")]
    StatusUnknown,
    /// A process that the program started holds its output open.
    #[error("a process that it started keeps its output open")]
    OutputOpen,
    /// The program failed, with this line of error output.
    #[error("{0}")]
    Failed(String),
}

/// Starts a program and waits until it exits. A standard input that is a pipe stays open until
/// then. Reads at most `max_bytes` from each output that is a pipe.
///
/// # Errors
/// When the program did not run to its end within `limit`, or its result is unknown.
pub fn run_to_end(command: Command, limit: Duration, max_bytes: u64) -> Result<Ended, ToolError> {
    let mut running = children::start(command, None)?;
    let (input, stdout, stderr) = running.pipes();
    let stdout = spawn_work(move || read_to_end(stdout, max_bytes))?;
    let stderr = spawn_work(move || read_to_end(stderr, max_bytes))?;
    let took_too_long = !running.wait_for_exit(limit);
    drop(input);
    // Ending the program also ends the processes that it left behind.
    let status = running.end();
    if took_too_long {
        return Err(ToolError::TookTooLong(limit));
    }
    let status = status.ok_or(ToolError::StatusUnknown)?;
    let receive_output = |reader: Receiver<Vec<u8>>| {
        let output = reader.recv_timeout(OUTPUT_GRACE);
        output.map_err(|_| ToolError::OutputOpen)
    };
    Ok(Ended {
        status,
        stdout: receive_output(stdout)?,
        stderr: receive_output(stderr)?,
    })
}

/// Reads a pipe to its end, but at most `max_bytes`. A read error ends the output early.
fn read_to_end(pipe: Option<impl Read>, max_bytes: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = pipe.map(|pipe| pipe.take(max_bytes).read_to_end(&mut bytes));
    bytes
}

/// Starts `work` in a new thread and returns the receiver of its result.
fn spawn_work<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<Receiver<T>> {
    let (sender, result) = mpsc::sync_channel(1);
    // The receiver is gone if the caller no longer waits.
    thread::Builder::new().spawn(move || drop(sender.send(work())))?;
    Ok(result)
}
