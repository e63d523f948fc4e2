//! `completions`: prints a script with which a shell completes commands and flags.

use std::io::Write;

use clap_complete::Shell;

use super::CommandError;
use crate::cli::{CompletionsArgs, help};

/// Runs the command.
///
/// # Errors
/// When the output cannot be written.
pub fn run(args: &CompletionsArgs, output: &mut dyn Write) -> Result<(), CommandError> {
    // The script goes through a buffer, because the generator panics if it cannot write, for
    // example to a closed pipe.
    output.write_all(&script(args.shell))?;
    Ok(())
}

/// The completion script for a shell.
#[must_use]
pub fn script(shell: Shell) -> Vec<u8> {
    let command = help::command();
    // Hidden commands are started by the program itself, so they are not completed.
    let visible = command
        .get_subcommands()
        .filter(|verb| !verb.is_hide_set())
        .cloned();
    let mut completed = clap::Command::new("timermeter")
        .version(env!("CARGO_PKG_VERSION"))
        .args(command.get_arguments().cloned())
        .subcommands(visible);
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut completed, "timermeter", &mut text);
    text
}
