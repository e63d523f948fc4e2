//! Figures of the timers for commands that need them and were not given a report: what
//! `probe --quick` finds.

use super::{CommandError, failed, probe, tell, wait};
use crate::campaign::sampling::Plan;
use crate::cli::{HostArgs, Lengths, ProbeArgs, RunArgs, WaitArgs, WaitingArgs};
use crate::model::{ProvenanceKind, Report, TimerRow};
use crate::report::{json, parse};

/// Probes these timers, all of them when none is named, and those of other hosts. Its workers are
/// processes of their own, so that nothing of it is left in this one.
///
/// # Errors
/// As `probe`.
pub fn first_look(timers: &[String], hosts: &HostArgs) -> Result<Report, CommandError> {
    probed(&ProbeArgs {
        run: RunArgs {
            timers: timers.to_vec(),
            quick: true,
            hosts: hosts.clone(),
            ..RunArgs::default()
        },
        ..ProbeArgs::default()
    })
}

/// Probes with all that a read adds to the code around it.
///
/// # Errors
/// As `probe`.
pub fn first_look_in_context(timers: &[String]) -> Result<Report, CommandError> {
    const BUDGET_S: f64 = 6.0;
    probed(&ProbeArgs {
        run: RunArgs {
            timers: timers.to_vec(),
            ..RunArgs::default()
        },
        budget: Some(BUDGET_S),
        ..ProbeArgs::default()
    })
}

/// Lets these native timers wait so long, and no other length.
///
/// # Errors
/// As `wait`.
pub fn first_waits(timers: &[&str], request_ns: u64) -> Result<Report, CommandError> {
    const SPAN_S: f64 = 0.3;
    let run = RunArgs {
        timers: timers.iter().map(|id| (*id).to_owned()).collect(),
        quick: true,
        quiet: true,
        ..RunArgs::default()
    };
    let args = WaitArgs {
        durations: vec![Lengths(vec![request_ns])],
        span: Some(SPAN_S),
        common: WaitingArgs {
            run,
            ..WaitingArgs::default()
        },
        ..WaitArgs::default()
    };
    wait::record(&args)?.0.report().map_err(failed)
}

/// Probes this machine as it was probed for `report`: its native clocks, in its profile. Without
/// what figures are drawn from.
///
/// # Errors
/// As `probe`, and where the report holds what is not measured again.
pub fn again(report: &Report) -> Result<Report, CommandError> {
    if report.provenance.kind == ProvenanceKind::Published {
        return Err(failed(
            "a report of published figures cannot be probed again: name the new report",
        ));
    }
    let is_native = |row: &TimerRow| row.runtime == "native";
    if report.timers.is_empty() || !report.timers.iter().all(is_native) {
        return Err(failed(
            "only the native clocks of a report are measured again: measure its other timers as you did then, with --output \
             new.json or --baseline, and name that as the new report",
        ));
    }
    tell(&"probing this machine, to compare it with that report; name a new report to compare two");
    // What this build lacks is lost, and `compare` says so.
    let known = report.timers.iter().map(|row| row.id.clone());
    let settings = &report.settings;
    let plans = [Plan::QUICK, Plan::DEFAULT, Plan::THOROUGH];
    let is_usual = |budget: &f64| plans.iter().any(|plan| plan.budget_s == *budget);
    let report = probed(&ProbeArgs {
        run: RunArgs {
            timers: known.filter(|id| timers::find(id).is_some()).collect(),
            quick: settings.profile == "quick",
            thorough: settings.profile == "thorough",
            ..RunArgs::default()
        },
        budget: settings.budget_seconds.filter(|budget| !is_usual(budget)),
        ..ProbeArgs::default()
    })?;
    parse(&json::dense(&report), "this machine now").map_err(failed)
}

fn probed(args: &ProbeArgs) -> Result<Report, CommandError> {
    let (recording, _) = probe::record(args)?;
    recording.report().map_err(failed)
}
