//! Measures timers briefly for commands that need figures but got no report.

use super::runs::Run;
use super::{CommandError, failed, probe, wait};
use crate::campaign::sampling::Plan;
use crate::cli::{HostArgs, Lengths, ProbeArgs, RunArgs, WaitArgs, WaitingArgs};
use crate::model::{Report, Settings};
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

/// Probes native clocks of this machine with the settings of an earlier run. If its plan takes
/// longer than `max_seconds`, a shorter plan is used. The result does not contain the data for
/// plots.
///
/// # Errors
/// The errors of `probe`.
pub(super) fn probe_again(
    settings: &Settings,
    timers: Vec<String>,
    max_seconds: f64,
) -> Result<Run, CommandError> {
    const HERE: &str = "this machine now";
    let plans = [Plan::THOROUGH, Plan::DEFAULT, Plan::QUICK];
    let planned = plans.iter().position(|plan| plan.name == settings.profile);
    let mut plans = plans.into_iter().skip(planned.unwrap_or(1));
    let plan = plans.find(|plan| plan.budget_s <= max_seconds);
    let plan = plan.unwrap_or(Plan::QUICK);
    let budget = settings
        .budget_seconds
        .filter(|budget| plan.name == settings.profile && *budget != plan.budget_s);
    let report = probe_report(&ProbeArgs {
        run: RunArgs {
            timers,
            quick: plan == Plan::QUICK,
            thorough: plan == Plan::THOROUGH,
            ..RunArgs::default()
        },
        budget: budget.map(|budget| budget.min(max_seconds)),
        ..ProbeArgs::default()
    })?;
    Ok(Run {
        path: HERE.into(),
        content: parse(&json::render_compact(&report), HERE).map_err(failed)?,
    })
}

fn probe_report(args: &ProbeArgs) -> Result<Report, CommandError> {
    let (recording, _) = probe::record(args)?;
    recording.report().map_err(failed)
}
