//! Figures of the timers for commands that need them and were not given a report: what `probe --quick` finds.

use clap::Parser;

use super::{CommandError, failed, period, probe, tell, wait};
use crate::cli::{AgentSpec, Cli, Command};
use crate::model::{ProvenanceKind, Report, WaitConditions};
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

/// The same, with all that a read adds to the code around it.
///
/// # Errors
/// As `probe`.
pub fn first_look_in_context(timers: &[String]) -> Result<Report, CommandError> {
    probed(["--budget", "6s"].map(str::to_owned).to_vec(), timers, &[])
}

/// Lets these native timers wait so long, and no other length.
///
/// # Errors
/// As `wait`.
pub fn first_waits(timers: &[&str], request_ns: u64) -> Result<Report, CommandError> {
    let words =
        ["timermeter", "wait", "--quick", "--quiet", "--for", "300ms", "--durations"].map(str::to_owned);
    let words = words.into_iter().chain([format!("{request_ns}ns"), "--".to_owned()]);
    let words = words.chain(timers.iter().map(|id| (*id).to_owned()));
    let parsed = Cli::try_parse_from(words).map_err(|error| CommandError::Usage(error.to_string()))?;
    let Some(Command::Wait(args)) = parsed.command else {
        return Err(CommandError::Failed("the timers could not be measured".into()));
    };
    wait::record(&args)?.0.report().map_err(failed)
}

/// Probes this machine as it was probed for `report`: its native timers, in its profile. Without what figures are drawn from.
///
/// # Errors
/// As `probe`, and where the report holds what cannot be probed again.
pub fn again(report: &Report) -> Result<Report, CommandError> {
    if report.provenance.kind == ProvenanceKind::Published {
        return Err(failed("a report of published figures cannot be probed again: name the new report"));
    }
    let runtimes = report.timers.iter().map(|row| (&row.id, &row.runtime));
    let runtimes = runtimes.chain(report.waits.iter().map(|row| (&row.id, &row.runtime)));
    let mut runtimes = runtimes.chain(report.periods.iter().map(|row| (&row.id, &row.runtime)));
    if let Some((id, _)) = runtimes.find(|(_, runtime)| *runtime != "native") {
        return Err(failed(format!(
            "the report holds timers of another runtime ({}), which is not started here: measure them as you did then, with \
             --output new.json or --baseline, and name that as the new report",
            crate::text::clipped(id, 60)
        )));
    }
    if report.timers.is_empty() && !(report.waits.is_empty() && report.periods.is_empty()) {
        tell(&"measuring this machine, to compare it with that report; name a new report to compare two");
        let report = waited(report)?;
        return parse(&json::dense(&report), "this machine now").map_err(failed);
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

/// Lets the timers of a report wait or tick again: in its profile, under the conditions that are in it.
fn waited(report: &Report) -> Result<Report, CommandError> {
    let rows: Vec<(&str, &WaitConditions)> = match report.periods.as_slice() {
        [] => report.waits.iter().map(|row| (row.id.as_str(), &row.conditions)).collect(),
        periods => periods.iter().map(|row| (row.id.as_str(), &row.conditions)).collect(),
    };
    // What could not be asked has no conditions.
    let asked: Vec<&WaitConditions> = rows
        .iter()
        .map(|(_, conditions)| *conditions)
        .filter(|conditions| !conditions.policy.is_empty())
        .collect();
    let own_slack = timers::os::scheduling::timer_slack().ok();
    let slack = |conditions: &WaitConditions| match conditions.slack_ns {
        Some(ns) if Some(ns) != own_slack => format!("{ns}ns"),
        _ => "default".to_owned(),
    };
    let each = |of: &dyn Fn(&WaitConditions) -> String| {
        let mut all: Vec<String> = asked.iter().map(|conditions| of(conditions)).collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    let mut words = vec!["timermeter".to_owned()];
    match report.periods.first() {
        None => words.push("wait".into()),
        Some(row) => words.extend(["period".into(), "--every".into(), format!("{}ns", row.period_ns)]),
    }
    if matches!(report.settings.profile.as_str(), "quick" | "thorough") {
        words.push(format!("--{}", report.settings.profile));
    }
    for (flag, values) in [
        ("--slack", each(&slack)),
        ("--policy", each(&|conditions| conditions.policy.clone())),
        ("--load", each(&|conditions| conditions.load.name().to_owned())),
    ] {
        words.extend([flag.to_owned(), values.join(",")]);
    }
    let lateness =
        report.waits.iter().filter_map(|row| row.figures.as_ref()).flat_map(|figures| &figures.lateness);
    let mut lengths: Vec<u64> =
        lateness.filter(|late| !late.beside_others).map(|late| late.request_ns).collect();
    lengths.sort_unstable();
    lengths.dedup();
    if !lengths.is_empty() && report.periods.is_empty() {
        let lengths: Vec<String> = lengths.iter().map(|ns| format!("{ns}ns")).collect();
        words.extend(["--durations".to_owned(), lengths.join(",")]);
        let mut figures = report.waits.iter().filter_map(|row| row.figures.as_ref());
        if figures.any(|figures| !figures.steps.is_empty()) {
            words.push("--granularity".to_owned());
        }
    }
    if each(&|conditions| format!("{:?}", conditions.cpu)).len() > 1 {
        words.extend(["--cpu".into(), "all".into()]);
    }
    words.push("--".into());
    let mut ids: Vec<&str> =
        rows.iter().map(|(id, _)| *id).filter(|id| timers::waits::find(id).is_some()).collect();
    ids.sort_unstable();
    ids.dedup();
    words.extend(ids.into_iter().map(str::to_owned));
    let parsed = Cli::try_parse_from(words).map_err(|error| CommandError::Usage(error.to_string()))?;
    let recording = match &parsed.command {
        Some(Command::Wait(args)) => wait::record(args)?.0,
        Some(Command::Period(args)) => period::record(args)?.0,
        _ => return Err(CommandError::Failed("the timers could not be measured".into())),
    };
    recording.report().map_err(failed)
}

fn probed(flags: Vec<String>, timers: &[String], agents: &[AgentSpec]) -> Result<Report, CommandError> {
    let words = ["timermeter".to_owned(), "probe".to_owned()].into_iter().chain(flags);
    let words = words.chain(["--".to_owned()]).chain(timers.iter().cloned());
    let probed = Cli::try_parse_from(words).map_err(|error| CommandError::Usage(error.to_string()))?;
    let Some(Command::Probe(mut args)) = probed.command else {
        return Err(CommandError::Failed("the timers could not be probed".into()));
    };
    args.agents = agents.to_vec();
    let (recording, _) = probe::record(&args)?;
    recording.report().map_err(|error| CommandError::Failed(error.to_string()))
}
