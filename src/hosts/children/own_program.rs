//! Starts this program again: returns the command for it, and lets a worker end with the program
//! that started it.

use std::ffi::OsString;
use std::io;
use std::process::Command;

use timers::os::process;

/// The environment variable that holds the process id of the program that started a worker.
pub(super) const STARTER: &str = "TIMERMETER_STARTER";
/// The subcommand with which this program hosts timers.
const WORKER: &str = "agent";

/// Whether a command starts this program as a worker, which itself requests the parent-death signal
/// from the kernel.
pub(super) fn is_worker(command: &Command) -> bool {
    let Ok((program, words)) = this_program() else {
        return false;
    };
    let mut args = command.get_args();
    command.get_program() == program
        && words.iter().all(|word| args.next() == Some(word))
        && args.next() == Some(WORKER.as_ref())
}

/// Requests that the kernel ends this worker when the program that started the worker ends. Returns
/// whether that program is still running.
#[must_use]
pub fn stay_with_starter() -> bool {
    let starter = std::env::var(STARTER)
        .ok()
        .and_then(|starter| starter.parse().ok());
    starter.is_none_or(process::kill_with_parent)
}

/// Returns the command that starts this program again: the program, and the words before its
/// arguments. If this program runs in an emulator that the kernel does not start by itself, the
/// command starts the emulator. The path of this program comes from the system, or without `/proc`
/// from the command line.
///
/// # Errors
/// When the path of this program is unknown.
pub fn this_program() -> io::Result<(OsString, Vec<OsString>)> {
    let program = std::env::current_exe().map(Into::into).or_else(|error| {
        std::env::args_os()
            .next()
            .filter(|name| !name.is_empty())
            .ok_or_else(|| {
                io::Error::other(format!(
                    "the path of this program, which starts itself as a worker, is unknown: {error}; mount /proc"
                ))
            })
    })?;
    let mut command = timers::os::runner().into_iter().chain([program]);
    Ok((command.next().unwrap_or_default(), command.collect()))
}
