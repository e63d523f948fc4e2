//! Returns the command that starts this program again.

use std::ffi::OsString;
use std::io;

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
