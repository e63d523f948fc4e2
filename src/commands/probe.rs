//! `probe`: characterises clocks and prints them in order of Quality, the best first.

mod stored;

use std::io::Write;

use super::{CommandResult, files};
use crate::cli::ProbeArgs;
use crate::model::{Counted, Report};
use crate::requests::{ProbeRequest, RunRequest};
use crate::runs;
use crate::selection::is_available;

/// The ids of the clocks among which the one that is recommended for this machine is: the portable
/// clocks, and the CPU counter with a fence and without. Of each list, the first clock that this
/// system has is measured.
const RECOMMENDABLE: [&[&str]; 4] = [
    &["monotonic"],
    &["instant"],
    &["rdtsc-lfence", "cntvct-isb", "rdtime-fence"],
    &["rdtsc", "cntvct", "rdtime"],
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
        || runs::probe(&args.request()),
        output,
    )
}

/// Measures the timers for another command.
///
/// # Errors
/// When the timers cannot be selected, or the machine causes an error.
pub(super) fn report(request: &ProbeRequest) -> CommandResult<Report> {
    files::report(runs::probe(request)?)
}

/// The ids of the clocks among which the recommended one is, for code that may read `own` clocks too.
pub(super) fn recommendable(own: &[String]) -> Vec<&str> {
    // On Linux `instant` calls `monotonic`, which is preferred.
    let is_wanted =
        |id: &str| is_available(id) && !(id == "instant" && std::env::consts::OS == "linux");
    let usual = RECOMMENDABLE
        .iter()
        .filter_map(|ids| ids.iter().copied().find(|id| is_wanted(id)));
    let own = own.iter().map(String::as_str).filter(|id| {
        let declared = timers::find(id).map(|entry| entry.info.properties);
        let times =
            |it: timers::Properties| it.counts == Some(Counted::Wall) && it.settable == Some(false);
        declared.is_some_and(times) && is_available(id)
    });
    let mut ids: Vec<&str> = usual.chain(own).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// Probes the clocks among which the recommended one is.
///
/// # Errors
/// The errors of [`report`].
pub(super) fn probe_recommendable() -> CommandResult<Report> {
    report(&ProbeRequest::quick(RunRequest::of(recommendable(&[]))))
}
