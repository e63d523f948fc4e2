//! `completions`: prints a script with which a shell completes commands and flags.

use std::io::Write;

use clap_complete::Shell;

use super::CommandError;
use crate::cli::{CompletionsArgs, groups};

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
    let all = groups::command();
    // Hidden commands, which the program starts itself, are not completed.
    let shown = all
        .get_subcommands()
        .filter(|verb| !verb.is_hide_set())
        .cloned();
    let mut command = clap::Command::new("timermeter")
        .version(env!("CARGO_PKG_VERSION"))
        .args(all.get_arguments().cloned())
        .subcommands(shown);
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command, "timermeter", &mut text);
    text
}
