//! `collect`: the reports of a fleet as one dataset.

use std::io::Write;

use super::{CommandError, columns};
use crate::cli::CollectArgs;

/// Runs the command. Returns whether all reports could be read.
///
/// # Errors
/// When none could, or the dataset cannot be written.
pub fn run(args: &CollectArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    columns::collect(args, output)
}
