//! Runs short external programs, such as compilers, to their end and reads their output.

use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use timers::Deadline;
pub use timers::os::files::is_program;

use crate::hosts::children;
use crate::hosts::lines::printable;

/// Maximum run time, longer than any compiler takes on a slow machine.
const MAX_RUN_TIME: Duration = Duration::from_secs(60);
/// Maximum length of an error message from a program, in characters.
const MAX_COMPLAINT: usize = 200;
/// Maximum length of a program's output, in bytes.
const MAX_OUTPUT: u64 = 1 << 20;
/// Maximum wait for the output of a program that has ended. The wait is only needed if a process
/// that the program left behind, and that cannot be ended, holds the pipe open.
const OUTPUT_GRACE: Duration = Duration::from_secs(2);

/// Returns the path of the first of these programs that is found in `PATH`.
#[must_use]
pub fn find(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    names.iter().find_map(|name| {
        std::env::split_paths(&path)
            .map(|folder| folder.join(name))
            .find(|program| is_program(program))
    })
}

/// Runs a program and returns its standard output, or its error message in one line.
pub(super) fn run<S: AsRef<OsStr>>(program: &Path, args: &[S]) -> Result<String, String> {
    run_within(MAX_RUN_TIME, program, args)
}

/// Like `run`, but ends the program after `patience`.
///
/// # Errors
/// One line that states why the program could not be started, that it took too long, or its error
/// message.
pub fn run_within<S: AsRef<OsStr>>(
    patience: Duration,
    program: &Path,
    args: &[S],
) -> Result<String, String> {
    let mut command = Command::new(program);
    command.args(args);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut running = children::start(command, None).map_err(|error| error.to_string())?;
    let (_, stdout, stderr) = running.pipes();
    let (stdout, stderr) = (reader(stdout)?, reader(stderr)?);
    let deadline = Deadline::after(patience);
    while deadline.remaining().is_some() && !running.has_exited() {
        thread::sleep(Duration::from_millis(5));
    }
    // Ending the program also ends the processes that it left behind.
    let late = !running.has_exited();
    let status = running.end().ok_or("how it ended is not known")?;
    if late {
        return Err(format!("it did not end within {} s", patience.as_secs()));
    }
    let said = |pipe: Receiver<Vec<u8>>| {
        pipe.recv_timeout(OUTPUT_GRACE)
            .map_err(|_| "something that it started holds its output open")
    };
    let (said, complained) = (said(stdout)?, said(stderr)?);
    if status.success() {
        return Ok(String::from_utf8_lossy(&said).into_owned());
    }
    let complained = if complained.is_empty() {
        said
    } else {
        complained
    };
    let text = String::from_utf8_lossy(&complained);
    let line = text
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or("it failed without a word");
    Err(printable(line.as_bytes(), MAX_COMPLAINT))
}

/// Reads a pipe to its end, in a separate thread.
fn reader(pipe: Option<impl Read + Send + 'static>) -> Result<Receiver<Vec<u8>>, String> {
    let (sender, said) = mpsc::sync_channel(1);
    let read = move || {
        let mut bytes = Vec::new();
        // A read error ends the output early; output beyond the limit is not read.
        let _ = pipe.map(|pipe| pipe.take(MAX_OUTPUT).read_to_end(&mut bytes));
        let _ = sender.send(bytes);
    };
    let started = thread::Builder::new().spawn(read);
    started
        .map(|_| said)
        .map_err(|error| format!("no thread to read what it says: {error}"))
}
