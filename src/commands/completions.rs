//! `completions`: prints a script with which a shell completes commands and flags.

use std::io::Write;

use super::CommandResult;
use crate::cli::{CompletionsArgs, help};

/// Runs the command.
///
/// # Errors
/// When the output cannot be written.
pub fn run(args: &CompletionsArgs, output: &mut dyn Write) -> CommandResult<bool> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut help::command(), "timermeter", &mut script);
    output.write_all(&script)?;
    Ok(true)
}
