//! `period`: characterises periodic timers, and sleep primitives that are called in a loop.

use std::io::Write;

use super::{CommandResult, files};
use crate::cli::PeriodArgs;
use crate::runs;

/// Runs the command. Returns `true` if all timers given by name could be measured.
///
/// # Errors
/// When the arguments are invalid, which is reported before anything is measured, or when a file or
/// the machine causes an error.
pub fn run(args: &PeriodArgs, output: &mut dyn Write) -> CommandResult<bool> {
    files::run(
        &args.common.run,
        false,
        || runs::period(&args.request()),
        output,
    )
}
