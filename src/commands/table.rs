//! `table`: one or many reports as a table.

use std::io::Write;

use super::{CommandError, tell_refused};
use crate::cli::TableArgs;
use crate::tabulation::Tabulation;

/// Runs the command. Returns whether all files could be read.
///
/// # Errors
/// When none could, or the output cannot be written.
pub fn run(args: &TableArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    let tabulation = Tabulation::read(&args.reports, args.choice());
    let complete = tell_refused(&tabulation.refused, tabulation.reports())?;
    tabulation.write(args.format, output)?;
    output.flush()?;
    Ok(complete)
}
