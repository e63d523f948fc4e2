//! Resolves, reads and checks the runs of `compare` and `gate`: files, names of baselines and
//! folders.

use std::path::{Path, PathBuf};

use super::{CommandError, report_unreadable};
use crate::comparison::{Condition, PlatformChange, is_same_state, platform_changes};
use crate::model::Report;
use crate::report::{Baselines, Collection, ReportFile, Unresolved, stored_with};
use crate::selection::select;

/// A report with the file that it was read from.
pub(super) type Run = ReportFile<Report>;

/// The files and folders that the arguments stand for.
pub(super) fn resolve(arguments: &[PathBuf]) -> Result<Vec<PathBuf>, CommandError> {
    let baselines = Baselines::of_user();
    let resolve_one = |argument: &PathBuf| {
        Baselines::resolve(baselines.as_ref(), argument).map_err(|error| match error {
            Unresolved::Both { .. } => CommandError::Usage(error.to_string()),
            Unresolved::Neither { .. } => CommandError::Undecided(error.to_string()),
        })
    };
    arguments.iter().map(resolve_one).collect()
}

/// Reads the runs of one side, which are of one machine. Reports that cannot be read are printed,
/// and added to the questions in `open`.
pub(super) fn read(paths: &[PathBuf], open: &mut Vec<String>) -> Result<Vec<Run>, CommandError> {
    let collection = Collection::read(paths, |_, report: Report| report);
    let is_complete = report_unreadable(&collection.refused, collection.reports.len())
        .map_err(|error| CommandError::Undecided(error.to_string()))?;
    if !is_complete {
        open.push("not all reports could be read".to_owned());
    }
    check_one_machine(&collection.reports)?;
    Ok(collection.reports)
}

/// The largest number of stored runs that are used as a history. *Judgement*: the standard
/// deviation of thirty runs is known to 13 %, and older runs say less about the machine of today.
const MAX_STORED_RUNS: usize = 30;

/// The runs that are [stored with](stored_with) the old runs and were measured in their state, in
/// the order of time. Newer runs are left out, because a change after the old runs would count as
/// variation between runs. Files that cannot be read are skipped.
pub(super) fn stored_history(old: &[Run], new: &[Run]) -> Vec<Run> {
    let mut paths: Vec<PathBuf> = old.iter().flat_map(|run| stored_with(&run.path)).collect();
    paths.sort_unstable();
    paths.dedup();
    let last = old.iter().map(|run| run.content.created.as_str()).max();
    let is_usable = |run: &Run| {
        let created = run.content.created.as_str();
        let mut sides = old.iter().chain(new);
        Some(created) <= last
            && !sides.any(|other| other.content.created == created)
            && is_same_state(&old[0].content, &run.content)
    };
    let stored = Collection::read(&paths, |path, content| {
        let path = path.to_owned();
        Some(Run { path, content }).filter(is_usable)
    });
    let files = stored.reports.into_iter();
    let mut runs: Vec<Run> = files.filter_map(|file| file.content).collect();
    runs.sort_by(|a, b| a.content.created.cmp(&b.content.created));
    runs.dedup_by(|a, b| a.content.created == b.content.created);
    runs.split_off(runs.len().saturating_sub(MAX_STORED_RUNS))
}

/// Rejects a condition for timers that are in no report, because it could never hold.
pub(super) fn check_timers<'t>(
    condition: &Condition,
    names: impl Iterator<Item = &'t str> + Clone,
) -> Result<(), CommandError> {
    let Some(glob) = condition.unmatched(names.clone()) else {
        return Ok(());
    };
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names.dedup();
    let why = select(&[glob.to_owned()], &names).map_or_else(
        |unknown| unknown.message_for_report(&names),
        |_| String::new(),
    );
    let text = condition.text();
    Err(CommandError::Usage(format!("--fail-if '{text}': {why}")))
}

/// Rejects runs of several machines on one side, and a run that is given twice, because the
/// variation between runs can only be computed from different runs of one machine.
pub(super) fn check_one_machine(side: &[Run]) -> Result<(), CommandError> {
    for (index, run) in side.iter().enumerate() {
        let (first, report) = (&side[0], &run.content);
        let usage_error = |other: &Path, problem: String| {
            let paths = format!("'{}' and '{}'", other.display(), run.path.display());
            Err(CommandError::Usage(format!("{paths} are {problem}")))
        };
        let mut earlier = side[..index].iter();
        if let Some(other) = earlier.find(|other| other.content.created == report.created) {
            let problem = format!("the same run ({}): each run counts once", report.created);
            return usage_error(&other.path, problem);
        }
        let changes = platform_changes(&first.content, report);
        if let Some(change) = changes
            .iter()
            .find(|change: &&PlatformChange| change.is_loud())
        {
            let problem = format!(
                "not of the same machine in the same state ({change}): the runs of a side, as those before and after `--` of `compare`, are of one machine"
            );
            return usage_error(&first.path, problem);
        }
    }
    Ok(())
}
