//! `completions`: what a shell needs to complete commands and flags.

use std::io::Write;

use clap::CommandFactory;

use super::CommandError;
use crate::cli::{Cli, CompletionsArgs};

/// Runs the command.
///
/// # Errors
/// When the output cannot be written.
pub fn run(args: &CompletionsArgs, output: &mut dyn Write) -> Result<(), CommandError> {
    // The generator panics where it cannot write, as to a closed pipe.
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "timermeter", &mut text);
    output.write_all(&text)?;
    Ok(())
}
