//! Measures timers briefly for commands that need figures but got no report.

use super::{CommandError, failed, print_message, probe, wait};
use crate::campaign::sampling::Plan;
use crate::cli::{HostArgs, Lengths, ProbeArgs, RunArgs, WaitArgs, WaitingArgs};
use crate::model::{ProvenanceKind, Report, Settings, TimerRow};
use crate::report::{json, parse};

/// Probes the named timers of this program and of `hosts` like `probe --quick`; all timers if none
/// is named.
///
/// # Errors
/// The errors of `probe`.
pub fn quick_probe(timers: &[String], hosts: &HostArgs) -> Result<Report, CommandError> {
    probe_report(&ProbeArgs {
        run: RunArgs {
            timers: timers.to_vec(),
            quick: true,
            hosts: hosts.clone(),
            ..RunArgs::default()
        },
        ..ProbeArgs::default()
    })
}

/// Probes the named timers within six seconds, including the time that a read adds to the
/// surrounding code.
///
/// # Errors
/// The errors of `probe`.
pub fn probe_with_context(timers: &[String]) -> Result<Report, CommandError> {
    const BUDGET_S: f64 = 6.0;
    probe_report(&ProbeArgs {
        run: RunArgs {
            timers: timers.to_vec(),
            ..RunArgs::default()
        },
        budget: Some(BUDGET_S),
        ..ProbeArgs::default()
    })
}

/// Measures waits of `request_ns` nanoseconds with the named native timers for 0.3 s.
///
/// # Errors
/// The errors of `wait`.
pub fn quick_waits(timers: &[&str], request_ns: u64) -> Result<Report, CommandError> {
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

/// Probes the native clocks of `report` on this machine again, with the same settings. The result
/// does not contain the data for plots.
///
/// # Errors
/// The errors of `probe`; or when the report is of published figures or has other timers than
/// native clocks, which cannot be measured again.
pub fn probe_again(report: &Report) -> Result<Report, CommandError> {
    if report.provenance.kind == ProvenanceKind::Published {
        return Err(failed(
            "a report of published figures cannot be measured again: give the new report too",
        ));
    }
    let is_native = |row: &TimerRow| row.runtime == "native";
    if report.timers.is_empty() || !report.timers.iter().all(is_native) {
        return Err(failed(
            "only the native clocks of a report can be measured again: measure its other timers as before, with --output \
             new.json or --baseline, and give the result as the new report",
        ));
    }
    print_message(
        &"probing this machine to compare it with the report; give a second report to compare two",
    );
    // Clocks that this build lacks are left out; `compare` reports them as missing.
    let ids = report.timers.iter().map(|row| row.id.clone());
    let ids = ids.filter(|id| timers::find(id).is_some()).collect();
    probe_like(&report.settings, ids, f64::INFINITY)
}

/// Probes native clocks with the settings of an earlier run. If its plan takes longer than
/// `max_seconds`, a shorter plan is used. The result does not contain the data for plots.
///
/// # Errors
/// The errors of `probe`.
pub fn probe_like(
    settings: &Settings,
    ids: Vec<String>,
    max_seconds: f64,
) -> Result<Report, CommandError> {
    let plans = [Plan::THOROUGH, Plan::DEFAULT, Plan::QUICK];
    let planned = plans.iter().position(|plan| plan.name == settings.profile);
    let plans = &plans[planned.unwrap_or(1)..];
    let plan = plans.iter().find(|plan| plan.budget_s <= max_seconds);
    let plan = plan.unwrap_or(&Plan::QUICK);
    let budget = settings.budget_seconds.filter(|_| *plan == plans[0]);
    let report = probe_report(&ProbeArgs {
        run: RunArgs {
            timers: ids,
            quick: *plan == Plan::QUICK,
            thorough: *plan == Plan::THOROUGH,
            ..RunArgs::default()
        },
        budget: budget
            .map(|budget| budget.min(max_seconds))
            .filter(|budget| *budget != plan.budget_s),
        ..ProbeArgs::default()
    })?;
    parse(&json::render_compact(&report), "this machine now").map_err(failed)
}

fn probe_report(args: &ProbeArgs) -> Result<Report, CommandError> {
    let (recording, _) = probe::record(args)?;
    recording.report().map_err(failed)
}
