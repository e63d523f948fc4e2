//! `wait`: characterises sleep primitives and periodic timers: how late they wake a program, and at what cost.

use std::io::Write;

use super::{CommandResult, files};
use crate::cli::WaitArgs;
use crate::requests::RunRequest;
use crate::runs;
use estimators::model::Report;

/// Runs the command. Returns `true` if all timers given by name could be measured.
///
/// # Errors
/// When the arguments are invalid, which is reported before anything is measured, or when a file or
/// the machine causes an error.
pub fn run(args: &WaitArgs, output: &mut dyn Write) -> CommandResult<bool> {
    files::run(&args.run, false, || runs::run(&args.request()), output)
}

/// Measures the timers for another command.
///
/// # Errors
/// When the machine causes an error.
pub(super) fn report(request: &RunRequest) -> CommandResult<Report> {
    files::report(runs::run(request)?)
}
