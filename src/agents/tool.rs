//! Runs programs to their end and reads their output: compilers and other short external programs,
//! or this program again.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::agents::children::{self, ChildError, Placement};
use crate::agents::lines::{is_jvm_notice, printable};
pub use timers::os::files::is_program;

/// Maximum run time of a compiler on a slow machine.
pub(super) const MAX_COMPILE_TIME: Duration = Duration::from_secs(60);
/// Maximum length of the error message of an external program, in characters.
const MAX_ERROR_CHARS: usize = 200;
/// Maximum length of the output of an external program, in bytes.
const MAX_OUTPUT_BYTES: u64 = 1 << 20;
/// Returns the path of the first of these programs that is found in `PATH`. Relative folders in
/// `PATH` are skipped, because others may have put programs into the current folder.
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
pub fn run_within(limit: Duration, command: &mut Command) -> Result<String, ChildError> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let ended = children::run(command, Placement::default(), limit, MAX_OUTPUT_BYTES)?;
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
    Err(ChildError::Failed(printable(
        line.as_bytes(),
        MAX_ERROR_CHARS,
    )))
}
