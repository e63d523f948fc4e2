//! `probe`: characterises clocks and prints them in order of Quality, the best first.

mod stored;

use std::io::Write;

use super::{CommandResult, files};
use crate::cli::ProbeArgs;
use crate::requests::RunRequest;
use crate::runs;
use crate::selection::is_available;
use estimators::model::Report;

/// The ids of the clocks among which the one that is recommended is: the portable clocks, and the CPU
/// counter with a fence and without.
const RECOMMENDABLE: [&str; 9] = [
    "monotonic",
    "monotonic-raw",
    "instant",
    "rdtsc-lfence",
    "rdtsc",
    "cntvct-isb",
    "cntvct",
    "rdtime-fence",
    "rdtime",
];

/// Runs the command. Returns `true` if all timers, agents and runtimes given by name could be
/// measured.
///
/// # Errors
/// When the arguments are invalid, which is reported before anything is measured, or when a file or
/// the machine causes an error.
pub fn run(args: &ProbeArgs, output: &mut dyn Write) -> CommandResult<bool> {
    if !args.from.is_empty() {
        return stored::run(args, output);
    }
    files::run(
        &args.run,
        !args.run.timers.is_empty(),
        || runs::run(&args.request()),
        output,
    )
}

/// Measures the timers for another command.
///
/// # Errors
/// When the timers cannot be selected, or the machine causes an error.
pub(super) fn report(request: &RunRequest) -> CommandResult<Report> {
    files::report(runs::run(request)?)
}

/// The ids of the clocks among which the recommended one is, for code that may read `own` clocks.
pub(super) fn recommendable(own: &[String]) -> impl Iterator<Item = &'static str> {
    // On Linux `instant` calls `monotonic`, which is preferred.
    let is_usual =
        |id: &str| id != "monotonic-raw" && (id != "instant" || std::env::consts::OS != "linux");
    let is_wanted = move |id: &&str| is_usual(id) || own.iter().any(|one| one == id);
    let wanted = RECOMMENDABLE.into_iter().filter(is_wanted);
    wanted.filter(|id| is_available(id))
}

/// Probes the clocks among which the recommended one is.
///
/// # Errors
/// The errors of [`report`].
pub(super) fn probe_recommendable() -> CommandResult<Report> {
    report(&RunRequest::of(recommendable(&[])))
}
