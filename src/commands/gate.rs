//! `gate`: probes this machine until the conditions on the changes since a baseline are decided.

use std::io::Write;

use super::changes::{Judgement, ReadReport, native_clocks, probe_again, read};
use super::{CommandError, emit, failed, prepare_outputs};
use crate::cli::GateArgs;
use crate::comparison::{ChangeCondition, unlike_cpu};
use crate::document::Document;
use crate::model::{Assessment, ProvenanceKind, Report, TimerRow};
use crate::platform;
use crate::text::counted;

/// Default time budget of all probes together, in seconds.
/// *Judgement*: a job of continuous integration waits a minute; eight quick probes of all clocks
/// fit into it.
const BUDGET_S: f64 = 60.0;

/// Number of probes after which a condition that holds is decided, if the budget allows as many.
/// *Judgement*: of three runs, two outvote one that was disturbed.
const CONFIRMING_RUNS: usize = 3;

/// Runs the command. Returns `true` if no condition holds.
///
/// # Errors
/// When the baseline cannot be read or the machine cannot be probed, a condition could not be decided, or the output cannot be
/// written.
pub fn run(args: &GateArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    let outputs = prepare_outputs(&args.output)?;
    let start = seconds();
    let judgement = match judge(args, start) {
        Err(CommandError::Undecided(why)) => Judgement::undecided(why),
        judgement => judgement?,
    };
    let result = match judgement.exit_status {
        0 => "passed",
        3 => "failed",
        _ => "undecided",
    };
    // What is undecided comes before what passed.
    let parts = [&judgement.conditions, &judgement.open, &judgement.passed];
    let sentences = parts.map(|part| part.as_slice()).concat().join("; ");
    let runs = judgement.comparison.as_ref().map_or(0, |all| all.runs[1]);
    let document = Document::new(&judgement).line(format!(
        "gate: {result}: {sentences}; {}, {:.0} s",
        counted(runs, "run"),
        seconds() - start
    ));
    let warnings = judgement.assessment.iter().flat_map(Assessment::warnings);
    let document = warnings.fold(document, Document::paragraph);
    emit(&document, outputs, output)?;
    judgement.result()
}

/// The time in seconds.
fn seconds() -> f64 {
    timers::kernel_time().unwrap_or_default() as f64 / 1e9
}

/// Probes this machine until all conditions are decided or the time budget is spent.
fn judge(args: &GateArgs, start: f64) -> Result<Judgement, CommandError> {
    let mut open = Vec::new();
    // A baseline that stays unreadable would stay undecided, so the command fails.
    let mut old = match read(std::slice::from_ref(&args.baseline), &mut open) {
        Err(CommandError::Undecided(why)) => return Err(failed(why)),
        old => old?,
    };
    if let Some(why) = open.pop() {
        return Err(failed(why));
    }
    let here = Report {
        platform: platform::identify(None),
        ..old[0].content.clone()
    };
    let is_measured = here.provenance.kind == ProvenanceKind::Measured;
    if let Some(why) = unlike_cpu(&old[0].content, &here).filter(|_| is_measured) {
        return Err(CommandError::Undecided(why));
    }
    native_clocks(&mut old).map_err(CommandError::Undecided)?;
    let conditions = &match args.fail_if.as_slice() {
        [] => conditions_on_usual_clock(&old[0].content)?,
        conditions => conditions.to_vec(),
    };
    // Checks the conditions before the first probe.
    Judgement::new([&old, &old], conditions, Vec::new())?;
    retain_named(&mut old, conditions);
    let ids = native_clocks(&mut old).map_err(CommandError::Undecided)?;
    let budget_s = args.budget.unwrap_or(BUDGET_S);
    let mut new = Vec::new();
    loop {
        let settings = &old[0].content.settings;
        new.push(probe_again(settings, ids.clone(), budget_s)?);
        let mut judgement = Judgement::new([&old, &new], conditions, Vec::new())?;
        judgement.assessment = new.last().map(|run| run.content.assessment.clone());
        let is_decided = judgement.open.is_empty()
            && (judgement.exit_status == 0 || new.len() >= CONFIRMING_RUNS);
        let spent = seconds() - start;
        if is_decided || spent + spent / new.len() as f64 > budget_s {
            return Ok(judgement);
        }
    }
}

/// Retains the clocks that the conditions are on and the reference of the first of them, which shows
/// whether the whole machine became slower.
fn retain_named(old: &mut [ReadReport], conditions: &[ChangeCondition]) {
    let is_named = |row: &TimerRow| {
        conditions
            .iter()
            .any(|condition| condition.includes(&row.id))
    };
    let rows = old.iter().flat_map(|run| &run.content.timers);
    let costs = rows
        .filter(|row| is_named(row))
        .find_map(|row| row.cost.as_ref());
    // A condition on the clock source alone names no clock.
    let Some(reference) = costs.map(|cost| cost.reference.clone()) else {
        return;
    };
    for run in old {
        run.content
            .timers
            .retain(|row| is_named(row) || row.id == reference);
    }
}

/// The default conditions: on the clock that is recommended for the baseline, and on the clock source.
fn conditions_on_usual_clock(baseline: &Report) -> Result<Vec<ChangeCondition>, CommandError> {
    let to_time = baseline.assessment.to_time.clone();
    let id = to_time.ok_or_else(|| {
        CommandError::Undecided(
            "no clock of the baseline can be recommended: give a condition with --fail-if"
                .to_owned(),
        )
    })?;
    [
        "cost[ID]>10%",
        "resolution[ID]>10%",
        "trust[ID]<0",
        "source>0",
    ]
    .map(|text| text.replace("ID", &id).parse().map_err(failed))
    .into_iter()
    .collect()
}
