//! Reads and checks the runs of `compare` and `gate`, and evaluates conditions on what changed
//! between them.

use std::path::PathBuf;

use serde::Serialize;

use super::{CommandError, report_unreadable};
use crate::comparison::{
    Compared, Comparison, Condition, Decision, PlatformChange, is_same_state, platform_changes,
    unlike_cpu,
};
use crate::model::{ProvenanceKind, Report};
use crate::report::{Baselines, Collection, ReportFile, Unresolved, stored_with};
use crate::selection::select;

/// A report with the file that it was read from.
pub(super) type Run = ReportFile<Report>;

/// A comparison with the results of its conditions.
#[derive(Debug, Default, Serialize)]
pub(super) struct Judgement {
    /// Null if the runs cannot be compared.
    #[serde(flatten)]
    pub comparison: Option<Comparison>,
    /// The conditions that hold, each with the change that fulfils it.
    pub conditions: Vec<String>,
    /// What could not be decided, with the reasons.
    pub open: Vec<String>,
    /// The conditions that do not hold.
    pub passed: Vec<String>,
    /// The exit status of the program.
    pub exit_status: u8,
}

impl Judgement {
    /// Compares the new runs with the old ones and a history, and evaluates conditions. `open`
    /// contains other questions that could not be decided.
    pub fn new(
        [old, new, history]: [&[Run]; 3],
        same_cpu: bool,
        conditions: &[Condition],
        open: Vec<String>,
    ) -> Result<Self, CommandError> {
        let undecided = |why: String| {
            let [old, new] = [old, new].map(|side| side[0].path.display());
            CommandError::Undecided(format!("'{old}' and '{new}': {why}"))
        };
        let other_cpu = unlike_cpu(&old[0].content, &new[0].content);
        if let Some(why) = other_cpu.filter(|_| same_cpu) {
            return Err(undecided(why));
        }
        let [old, new, history] =
            [old, new, history].map(|side| side.iter().map(|run| &run.content).collect::<Vec<_>>());
        let comparison = Comparison::between(&old, &new, &history)
            .map_err(|error| undecided(error.to_string()))?;
        let figures = comparison.figures.iter().map(|figure| &figure.timer);
        let names = comparison.timers.iter().chain(figures);
        let mut names: Vec<&str> = names.map(String::as_str).collect();
        names.sort_unstable();
        names.dedup();
        let mut judgement = Self {
            open,
            ..Self::default()
        };
        for condition in conditions {
            let text = condition.text();
            // A condition for timers that are in no report could never hold.
            let glob = condition.unmatched(names.iter().copied());
            if let Some(Err(unknown)) = glob.map(|glob| select(&[glob.to_owned()], &names)) {
                let why = unknown.message_for_report(&names);
                return Err(CommandError::Usage(format!("--fail-if '{text}': {why}")));
            }
            let mut figures = condition.figures(&comparison);
            let only = figures.next().filter(|_| figures.next().is_none());
            let change = only.map(Compared::written_difference);
            let (list, result, why) = match condition.decide(&comparison) {
                Decision::Holds(why) => (&mut judgement.conditions, "holds", change.or(Some(why))),
                Decision::Open(why) => (&mut judgement.open, "is undecided", Some(why)),
                Decision::Fails => (&mut judgement.passed, "does not hold", change),
            };
            let why = why.map_or_else(String::new, |why| format!(" ({why})"));
            list.push(format!("{text} {result}{why}"));
        }
        judgement.exit_status = match (&judgement.conditions[..], &judgement.open[..]) {
            ([], []) => 0,
            ([], _) => 4,
            _ => 3,
        };
        judgement.comparison = Some(comparison);
        Ok(judgement)
    }

    /// The judgement of runs that cannot be compared.
    pub fn undecided(why: String) -> Self {
        Self {
            open: vec![why],
            exit_status: 4,
            ..Self::default()
        }
    }

    /// The result of the command: `true` if no condition holds.
    pub fn result(&self) -> Result<bool, CommandError> {
        match self.exit_status {
            4 => Err(CommandError::Undecided(
                "not everything could be decided".to_owned(),
            )),
            status => Ok(status == 0),
        }
    }
}

/// Reads the runs of one side, which are of one machine: files, folders and names of baselines.
/// Reports that cannot be read are printed, and added to the questions in `open`.
pub(super) fn read(
    arguments: &[PathBuf],
    open: &mut Vec<String>,
) -> Result<Vec<Run>, CommandError> {
    let baselines = Baselines::of_user();
    let resolved = arguments.iter().map(|argument| {
        Baselines::resolve(baselines.as_ref(), argument).map_err(|error| match error {
            Unresolved::Both { .. } => CommandError::Usage(error.to_string()),
            Unresolved::Neither { .. } => CommandError::Undecided(error.to_string()),
        })
    });
    let paths = resolved.collect::<Result<Vec<_>, _>>()?;
    let Collection { reports, refused } = Collection::read(&paths, |_, report: Report| report);
    let is_complete = report_unreadable(&refused, reports.len())
        .map_err(|error| CommandError::Undecided(error.to_string()))?;
    if !is_complete {
        open.push("not all reports could be read".to_owned());
    }
    check_one_machine(&reports)?;
    Ok(reports)
}

/// Retains the native clocks of runs. Returns the ids of those that can be measured again; if there
/// is none, the reason.
pub(super) fn native_clocks(runs: &mut [Run]) -> Result<Vec<String>, String> {
    let mut ids = Vec::new();
    for Run { content, .. } in &mut *runs {
        content.timers.retain(|row| row.runtime == "native");
        content.waits.clear();
        content.periods.clear();
        if content.provenance.kind == ProvenanceKind::Measured {
            let rows = content.timers.iter().map(|row| row.id.clone());
            ids.extend(rows.filter(|id| timers::find(id).is_some()));
        }
    }
    if ids.is_empty() {
        return Err(format!(
            "'{}' has no native clock that can be measured again, as published figures cannot: give the new report too, or make a \
             baseline with `timermeter probe --baseline NAME`",
            runs[0].path.display()
        ));
    }
    Ok(ids)
}

/// The largest number of stored runs that are used as a history. *Judgement*: the standard
/// deviation of thirty runs is known to 13 %, and older runs say less about the machine of today.
const MAX_STORED_RUNS: usize = 30;

/// The largest number of stored reports that are read to find a history. *Judgement*: ten for each
/// run of a history. A fleet may store any number of runs of a platform, and reading so many takes
/// about a second.
const MAX_STORED_REPORTS: usize = 300;

/// The runs that are [stored with](stored_with) the old runs and were measured in their state, in
/// the order of time. Newer runs are left out, because a change after the old runs would count as
/// variation between runs. Files that cannot be read are skipped.
pub(super) fn stored_history(old: &[Run]) -> Vec<Run> {
    let mut paths: Vec<PathBuf> = old.iter().flat_map(|run| stored_with(&run.path)).collect();
    paths.sort_unstable();
    paths.dedup();
    let paths = paths.split_off(paths.len().saturating_sub(MAX_STORED_REPORTS));
    let last = old.iter().map(|run| &run.content.created).max();
    let stored = Collection::read(&paths, |_, report| {
        let is_usable = Some(&report.created) < last && is_same_state(&old[0].content, &report);
        is_usable.then_some(report)
    });
    let runs = stored.reports.into_iter().filter_map(|file| {
        let path = file.path;
        file.content.map(|content| Run { path, content })
    });
    let mut runs: Vec<Run> = runs.collect();
    runs.sort_by(|a, b| a.content.created.cmp(&b.content.created));
    runs.dedup_by(|a, b| a.content.created == b.content.created);
    runs.split_off(runs.len().saturating_sub(MAX_STORED_RUNS))
}

/// Rejects runs of several machines on one side, and a run that is given twice, because the
/// variation between runs can only be computed from different runs of one machine.
pub(super) fn check_one_machine(side: &[Run]) -> Result<(), CommandError> {
    for (index, run) in side.iter().enumerate() {
        let created = &run.content.created;
        let mut earlier = side[..index].iter();
        let twin = earlier.find(|other| other.content.created == *created);
        let mut changes = platform_changes(&side[0].content, &run.content).into_iter();
        let (other, problem) = match (twin, changes.find(PlatformChange::is_loud)) {
            (Some(twin), _) => (
                twin,
                format!("the same run ({created}): each run counts once"),
            ),
            (_, Some(change)) => (
                &side[0],
                format!(
                    "not of the same machine in the same state ({change}), as the runs of a side are"
                ),
            ),
            _ => continue,
        };
        let paths = [other, run].map(|run| run.path.display());
        return Err(CommandError::Usage(format!(
            "'{}' and '{}' are {problem}",
            paths[0], paths[1]
        )));
    }
    Ok(())
}
