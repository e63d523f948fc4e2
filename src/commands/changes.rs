//! Reads the runs that `compare` and `gate` compare, probes this machine for them, and evaluates
//! conditions on what changed.

use std::path::PathBuf;
use std::slice::from_ref;

use serde::Serialize;

use super::{CommandError, CommandResult, failed, probe, report_unreadable, usage};
use crate::plan::Plan;
use crate::requests::RunRequest;
use crate::selection::select;
use estimators::model::{Assessment, Report};
use reporting::comparison::{ChangeCondition, Comparison, Decision, platform_changes};
use reporting::report::{Baselines, Collection, ReportFile};

/// The exit status if it is unknown whether a condition holds.
pub(super) const UNDECIDED: u8 = 4;

/// A comparison with the results of its conditions.
#[derive(Debug, Default, Serialize)]
pub(super) struct Judgement {
    /// Empty if the runs cannot be compared.
    #[serde(flatten)]
    pub comparison: Comparison,
    /// What follows from the last new run.
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
    /// Compares new runs with old ones, and evaluates conditions.
    ///
    /// # Errors
    /// When the runs have no timer in common, or a condition is limited to timers that no run has.
    pub fn of_runs(
        old: &[Report],
        new: &[Report],
        conditions: &[ChangeCondition],
    ) -> CommandResult<Self> {
        let sides = [old, new].map(|side| side.iter().collect::<Vec<_>>());
        let comparison = Comparison::between(&sides[0], &sides[1])
            .ok_or_else(|| CommandError::Undecided("no timer is in both sides".into()))?;
        let names: Vec<&str> = comparison.timers.iter().map(String::as_str).collect();
        let mut judgement = Self {
            assessment: new.last().map(|run| run.assessment.clone()),
            ..Self::default()
        };
        for condition in conditions {
            let timers = select(from_ref(&condition.glob), &names).map_err(|unknown| {
                let why = unknown.message_for_report(&names);
                usage(format!("--fail-if: {why}"))
            })?;
            let (decision, line) = condition.decide(&comparison, &timers);
            let lines = match decision {
                Decision::Holds => &mut judgement.conditions,
                Decision::Open => &mut judgement.open,
                Decision::Fails => &mut judgement.passed,
            };
            lines.push(line);
        }
        judgement.exit_status = if !judgement.conditions.is_empty() {
            3
        } else if !judgement.open.is_empty() {
            UNDECIDED
        } else {
            0
        };
        Ok(Self {
            comparison,
            ..judgement
        })
    }

    /// Compares this machine with old runs of it: probes their native clocks until a condition holds or
    /// none is open, or the budget is spent.
    ///
    /// # Errors
    /// When the old runs are of another CPU, so that conditions cannot be decided, or have no native clock;
    /// when a condition is limited to timers that no run has, or the machine cannot be probed.
    pub fn of_machine(
        mut old: Vec<Report>,
        conditions: &[ChangeCondition],
        plan: Plan,
        budget_s: f64,
    ) -> CommandResult<Self> {
        let start = seconds();
        for run in &mut old {
            run.timers.retain(|row| timers::find(&row.id).is_some());
            run.waits.clear();
            run.periods.clear();
        }
        let rows = old.iter().flat_map(|run| &run.timers);
        let run = RunRequest::of(rows.map(|row| &row.id));
        if run.timers.is_empty() {
            return Err(CommandError::Undecided(
                "the old report has no native clock that can be measured again".into(),
            ));
        }
        // Finds wrong conditions before the first probe.
        Self::of_runs(&old, &old, conditions)?;
        let request = RunRequest { plan, ..run };
        let mut new = Vec::new();
        loop {
            new.push(probe::report(&request)?);
            let judgement = Self::of_runs(&old, &new, conditions)?;
            let mut platform = judgement.comparison.platform.iter();
            let other_cpu = platform.find(|change| change.is_other_cpu());
            if let Some(change) = other_cpu.filter(|_| !conditions.is_empty()) {
                return Err(CommandError::Undecided(format!("{} {change}", change.what)));
            }
            // Without the instructions further probes decide nothing.
            let is_final =
                judgement.exit_status != UNDECIDED || judgement.comparison.machine.is_none();
            if is_final || seconds() - start > budget_s {
                return Ok(judgement);
            }
        }
    }

    /// The result of the command: `true` if no condition holds.
    pub fn result(&self) -> CommandResult<bool> {
        match self.exit_status {
            UNDECIDED => Err(CommandError::Undecided("not all is decided".into())),
            status => Ok(status == 0),
        }
    }
}

/// The time in seconds.
pub(super) fn seconds() -> f64 {
    timers::kernel_time().unwrap_or_default() as f64 / 1e9
}

/// Reads the runs of one side, which are of one machine: files, folders and names of baselines.
///
/// # Errors
/// When a report does not exist, cannot be read, is given twice, or is of another machine than the first.
pub(super) fn read(arguments: &[PathBuf]) -> CommandResult<Vec<Report>> {
    let baselines = Baselines::of_user();
    let mut paths = Vec::new();
    for argument in arguments {
        let path = Baselines::resolve(baselines.as_ref(), argument).map_err(usage)?;
        if path.as_os_str() != "-" && !path.try_exists().unwrap_or(true) {
            let path = path.display();
            return Err(usage(format!("there is no file or folder '{path}'")));
        }
        paths.push(path);
    }
    let Collection { reports, refused } = Collection::read(&paths, |_, report: Report| report);
    if !report_unreadable(&refused, reports.len())? {
        return Err(failed("not all reports could be read"));
    }
    let mut runs: Vec<Report> = Vec::new();
    for ReportFile { path, content: run } in reports {
        let changes = platform_changes(runs.first().unwrap_or(&run), &run);
        // The runs cannot be of one machine in one state.
        let change = (changes.iter()).find(|it| it.is_clock_source() || it.is_other_cpu());
        let problem = match change {
            _ if runs.iter().any(|other| other.created == run.created) => "is given twice".into(),
            Some(change) => format!("is not of the same machine in the same state ({change})"),
            None => {
                runs.push(run);
                continue;
            }
        };
        return Err(usage(format!("'{}' {problem}", path.display())));
    }
    Ok(runs)
}
