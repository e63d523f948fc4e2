//! `compare OLD... -- NEW...`, or with a history: several runs of a machine.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::super::{CommandError, tell_refused};
use super::{refuse_other_cpu, tell_one, untold};
use crate::cli::CompareArgs;
use crate::comparison::{Comparison, PlatformChange, platform_changes};
use crate::model::Report;
use crate::report::{Collection, Kept};

/// A report and where it lies.
type Run = (PathBuf, Report);

/// Runs the command. Returns whether no condition holds.
///
/// # Errors
/// As the command.
pub(super) fn run(
    args: &CompareArgs,
    sides: [&[PathBuf]; 2],
    history: &[PathBuf],
    output: &mut dyn Write,
) -> Result<bool, CommandError> {
    let mut complete = true;
    let mut read = |paths: &[PathBuf]| -> Result<Vec<Run>, CommandError> {
        let collection = Collection::read(paths, |_, report: Report| report);
        complete &= tell_refused(&collection.refused, collection.reports.len()).map_err(untold)?;
        let runs: Vec<Run> = collection
            .reports
            .into_iter()
            .map(|Kept { path, content }| (path, content))
            .collect();
        check(&runs)?;
        Ok(runs)
    };
    let (old, new) = (read(sides[0])?, read(sides[1])?);
    let mut history = if history.is_empty() {
        Vec::new()
    } else {
        read(history)?
    };
    let is_on_a_side = |run: &Report| {
        old.iter()
            .chain(&new)
            .any(|(_, other)| other.created == run.created)
    };
    history.retain(|(_, run)| !is_on_a_side(run));
    if let (Some(first), false) = (old.first(), history.is_empty()) {
        check(&[std::slice::from_ref(first), &history].concat())?;
    }
    let [old_runs, new_runs, others]: [Vec<&Report>; 3] =
        [&old, &new, &history].map(|side| side.iter().map(|(_, run)| run).collect());
    let sides_untold = |why| {
        untold(format!(
            "'{}' and '{}': {why}",
            shown(sides[0]),
            shown(sides[1])
        ))
    };
    if let ([old, ..], [new, ..]) = (&old_runs[..], &new_runs[..]) {
        refuse_other_cpu(args, old, new).map_err(sides_untold)?;
    }
    let comparison = Comparison::of_runs(&old_runs, &new_runs, &others)
        .map_err(|error| sides_untold(error.to_string()))?;
    tell_one(args, &comparison, complete, output)
}

fn shown(side: &[PathBuf]) -> std::path::Display<'_> {
    side.first()
        .map_or(Path::new(""), PathBuf::as_path)
        .display()
}

/// Whether a side holds runs of one machine, each once: what runs differ by follows from nothing
/// else.
fn check(side: &[Run]) -> Result<(), CommandError> {
    let [(first, report), rest @ ..] = side else {
        return Ok(());
    };
    for (at, (path, run)) in side.iter().enumerate() {
        if let Some((other, _)) = side[..at]
            .iter()
            .find(|(_, other)| other.created == run.created)
        {
            return Err(CommandError::Usage(format!(
                "'{}' and '{}' are of one run ({}): each run counts once",
                other.display(),
                path.display(),
                run.created
            )));
        }
    }
    for (path, run) in rest {
        if let Some(change) = platform_changes(report, run)
            .iter()
            .find(|change| change.is_loud())
        {
            let told =
                |fact: &Option<String>| fact.clone().unwrap_or_else(|| "not reported".into());
            let PlatformChange { what, old, new, .. } = change;
            return Err(CommandError::Usage(format!(
                "'{}' and '{}' are not of one machine as it is ({what}: {}, {}): `--` stands between runs of one",
                first.display(),
                path.display(),
                told(old),
                told(new)
            )));
        }
    }
    Ok(())
}
