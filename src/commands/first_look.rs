//! Figures of the timers for commands that need them and were not given a report: what `probe --quick` finds.

use clap::Parser;

use super::{CommandError, failed, probe, tell};
use crate::cli::{AgentSpec, Cli, Command};
use crate::model::{BriefReport, ProvenanceKind, Report};
use crate::prober::sampling::Plan;
use crate::report::{json, parse};

/// Probes these timers, all of them when none is named, those of a runtime too where one is named. Its workers are processes
/// of their own, so that nothing of it is left in this one.
///
/// # Errors
/// As `probe`.
pub fn first_look(
    timers: &[String],
    agents: &[AgentSpec],
    runtime: Option<&str>,
) -> Result<Report, CommandError> {
    let runtime = runtime.iter().flat_map(|runtime| ["--runtime", runtime]).map(str::to_owned);
    probed(["--quick".to_owned()].into_iter().chain(runtime).collect(), timers, agents)
}

/// Probes this machine as it was probed for `report`: its native timers, in its profile. Without what figures are drawn from.
///
/// # Errors
/// As `probe`, and where the report holds what cannot be probed again.
pub fn again(report: &BriefReport) -> Result<BriefReport, CommandError> {
    if report.provenance.kind == ProvenanceKind::Published {
        return Err(failed("a report of published figures cannot be probed again: name the new report"));
    }
    if let Some(other) = report.timers.iter().find(|row| row.runtime != "native") {
        return Err(failed(format!(
            "the report holds clocks of another runtime ({}), which is not started here: probe them as you did then, with \
             --output new.json or --baseline, and name that as the new report",
            crate::text::clipped(&other.id, 60)
        )));
    }
    // What this build lacks is lost, and `compare` says so.
    let known = report.timers.iter().filter(|row| timers::find(&row.id).is_some());
    let timers: Vec<String> = known.map(|row| row.id.clone()).collect();
    let (profile, plan) = match report.settings.profile.as_str() {
        "quick" => (Some("--quick"), Plan::QUICK),
        "thorough" => (Some("--thorough"), Plan::THOROUGH),
        _ => (None, Plan::DEFAULT),
    };
    let mut flags: Vec<String> = profile.map(str::to_owned).into_iter().collect();
    if let Some(budget) = report.settings.budget_seconds.filter(|budget| *budget != plan.budget_s) {
        flags.extend(["--budget".to_owned(), budget.to_string()]);
    }
    tell(&"probing this machine, to compare it with that report; name a new report to compare two");
    let report = probed(flags, &timers, &[])?;
    parse(&json::dense(&report), "this machine now").map_err(failed)
}

fn probed(flags: Vec<String>, timers: &[String], agents: &[AgentSpec]) -> Result<Report, CommandError> {
    let words = ["timermeter".to_owned(), "probe".to_owned()].into_iter().chain(flags);
    let words = words.chain(["--".to_owned()]).chain(timers.iter().cloned());
    let probed = Cli::try_parse_from(words).map_err(|error| CommandError::Usage(error.to_string()))?;
    let Command::Probe(mut args) = probed.command else {
        return Err(CommandError::Failed("the timers could not be probed".into()));
    };
    args.agents = agents.to_vec();
    let (recording, _) = probe::record(&args)?;
    recording.report().map_err(|error| CommandError::Failed(error.to_string()))
}
