//! Reads, measures and checks the runs that `compare` and `gate` compare, and evaluates conditions
//! on what changed between them.

use std::path::PathBuf;

use serde::Serialize;

use super::{CommandError, CommandResult, probe, report_unreadable, usage};
use crate::campaign::sampling::CampaignPlan;
use crate::comparison::{ChangeCondition, Comparison, Decision, PlatformChange, platform_changes};
use crate::model::{Assessment, ProvenanceKind, Report, Settings};
use crate::report::{Baselines, Collection, ReportFile};
use crate::requests::{ProbeRequest, RunRequest};
use crate::selection::select;

/// A report with the file that it was read from.
pub(super) type ReadReport = ReportFile<Report>;

/// A comparison with the results of its conditions.
#[derive(Debug, Default, Serialize)]
pub(super) struct Judgement {
    /// Null if the runs cannot be compared.
    #[serde(flatten)]
    pub comparison: Option<Comparison>,
    /// What follows from the last run of `gate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assessment: Option<Assessment>,
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
    /// Compares the new runs with the old ones, and evaluates conditions. `open`
    /// contains other questions that could not be decided.
    pub fn new(
        [old, new]: [&[ReadReport]; 2],
        conditions: &[ChangeCondition],
        open: Vec<String>,
    ) -> CommandResult<Self> {
        let sides = [old, new].map(|side| side.iter().map(|run| &run.content).collect::<Vec<_>>());
        let comparison = Comparison::between(&sides[0], &sides[1]).map_err(|why| {
            CommandError::Undecided(format!("'{}': {why}", old[0].path.display()))
        })?;
        let names: Vec<&str> = comparison.timers.iter().map(String::as_str).collect();
        let mut judgement = Self {
            open,
            ..Self::default()
        };
        for condition in conditions {
            let text = condition.text();
            // A condition for timers that are in no report could never hold.
            let glob = condition.unmatched(&names);
            if let Some(Err(unknown)) = glob.map(|glob| select(&[glob.to_owned()], &names)) {
                let why = unknown.message_for_report(&names);
                return Err(usage(format!("--fail-if '{text}': {why}")));
            }
            let (words, change) = (condition.in_words(), condition.most(&comparison));
            let change = change.map_or_else(String::new, |change| format!(" ({change})"));
            match condition.decide(&comparison) {
                Decision::Holds(timers) => {
                    judgement
                        .conditions
                        .push(format!("a {words}: {timers}{change}"));
                }
                Decision::Open(why) => judgement
                    .open
                    .push(format!("open whether a {words}: {why}")),
                Decision::Fails => judgement.passed.push(format!("no {words}{change}")),
            }
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
    pub fn result(&self) -> CommandResult<bool> {
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
) -> CommandResult<Vec<ReadReport>> {
    let baselines = Baselines::of_user();
    let resolved = arguments
        .iter()
        .map(|argument| Baselines::resolve(baselines.as_ref(), argument));
    let paths = resolved
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| usage(error.to_string()))?;
    let is_missing =
        |path: &&PathBuf| path.as_os_str() != "-" && path.try_exists().is_ok_and(|exists| !exists);
    if let Some(missing) = paths.iter().find(is_missing) {
        return Err(usage(format!(
            "there is no file or folder '{}'",
            missing.display()
        )));
    }
    let Collection { reports, refused } = Collection::read(&paths, |_, report: Report| report);
    let is_complete = report_unreadable(&refused, reports.len())
        .map_err(|error| CommandError::Undecided(error.to_string()))?;
    if !is_complete {
        open.push("not all reports could be read".to_owned());
    }
    check_one_machine(&reports)?;
    Ok(reports)
}

/// Probes native clocks of this machine with the settings of an earlier run. If its plan takes
/// longer than `max_seconds`, a shorter plan is used.
///
/// # Errors
/// The errors of [`probe::report`].
pub(super) fn probe_again(
    settings: &Settings,
    timers: Vec<String>,
    max_seconds: f64,
) -> CommandResult<ReadReport> {
    const HERE: &str = "this machine now";
    let plans = [
        CampaignPlan::THOROUGH,
        CampaignPlan::DEFAULT,
        CampaignPlan::QUICK,
    ];
    let planned = plans.iter().position(|plan| plan.name == settings.plan);
    let plan = plans
        .into_iter()
        .skip(planned.unwrap_or(1))
        .find(|plan| plan.budget_s <= max_seconds)
        .unwrap_or(CampaignPlan::QUICK);
    let budget = settings
        .budget_seconds
        .map(|budget| budget.min(max_seconds))
        .filter(|it| plan.name == settings.plan && *it != plan.budget_s);
    let request = ProbeRequest {
        plan,
        ..ProbeRequest::quick(RunRequest::of(timers))
    };
    Ok(ReadReport {
        path: HERE.into(),
        content: probe::report(&request.limited(budget))?,
    })
}

/// Retains the native clocks of runs. Returns the ids of those that can be measured again; if there
/// is none, the reason.
pub(super) fn native_clocks(runs: &mut [ReadReport]) -> Result<Vec<String>, String> {
    let mut ids = Vec::new();
    for ReadReport { content, .. } in &mut *runs {
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
            "'{}' has no native clock that can be measured again, as published figures cannot: give a new report or another baseline",
            runs[0].path.display()
        ));
    }
    Ok(ids)
}

/// Rejects runs of several machines on one side, and a run that is given twice, because the
/// variation between runs can only be computed from different runs of one machine.
fn check_one_machine(side: &[ReadReport]) -> CommandResult {
    for (index, run) in side.iter().enumerate() {
        let is_same = |other: &ReadReport| other.content.created == run.content.created;
        let mut changes = platform_changes(&side[0].content, &run.content).into_iter();
        let problem = match changes.find(PlatformChange::is_loud) {
            _ if side[..index].iter().any(is_same) => {
                "is given twice: each run counts once".to_owned()
            }
            Some(change) => format!(
                "is not of the same machine in the same state ({change}); a side has runs of one"
            ),
            None => continue,
        };
        let path = run.path.display();
        return Err(usage(format!("'{path}' {problem}")));
    }
    Ok(())
}
