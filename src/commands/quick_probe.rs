//! Measures timers briefly for commands that need figures but got no report.

use std::time::Duration;

use super::hosts::is_available;
use super::runs::Run;
use super::{CommandError, probe, wait};
use crate::campaign::sampling::Plan;
use crate::campaign::waits::plan::WaitPlan;
use crate::model::{Report, Settings};
use crate::requests::{HostRequest, ProbeRequest, RunRequest, WaitRequest};

/// The ids of the clocks among which the one that is recommended for this machine is: the portable
/// clocks, and the CPU counter with a fence and without. Of each list, the first clock that this
/// system has is measured.
const RECOMMENDABLE: [&[&str]; 4] = [
    &["monotonic"],
    &["instant"],
    &["rdtsc-lfence", "cntvct-isb", "rdtime-fence"],
    &["rdtsc", "cntvct", "rdtime"],
];

/// Probes the clocks among which the recommended one is, like `probe --quick`.
///
/// # Errors
/// The errors of `probe`.
pub fn probe_recommendable() -> Result<Report, CommandError> {
    // On Linux `instant` calls `monotonic`, which is preferred.
    let is_wanted =
        |id: &str| is_available(id) && !(id == "instant" && std::env::consts::OS == "linux");
    let clocks = RECOMMENDABLE
        .iter()
        .filter_map(|ids| ids.iter().find(|id| is_wanted(id)))
        .map(|id| (*id).to_owned());
    quick_probe(&clocks.collect::<Vec<_>>(), &HostRequest::default())
}

/// Probes the named timers of this program and of `hosts` like `probe --quick`; all timers if none
/// is named.
///
/// # Errors
/// The errors of `probe`.
pub fn quick_probe(timers: &[String], hosts: &HostRequest) -> Result<Report, CommandError> {
    probe::report(&ProbeRequest::quick(timers, hosts))
}

/// Probes the named timers within six seconds, including the time that a read adds to the
/// surrounding code.
///
/// # Errors
/// The errors of `probe`.
pub fn probe_with_context(timers: &[String]) -> Result<Report, CommandError> {
    const BUDGET_S: f64 = 6.0;
    let request = ProbeRequest {
        plan: Plan::DEFAULT,
        ..ProbeRequest::quick(timers, &HostRequest::default())
    };
    probe::report(&request.limited(None, Some(BUDGET_S)))
}

/// Measures waits of `request_ns` nanoseconds with the named native timers for 0.3 s.
///
/// # Errors
/// The errors of `wait`.
pub fn quick_waits(timers: &[&str], request_ns: u64) -> Result<Report, CommandError> {
    const SPAN: Duration = Duration::from_millis(300);
    let timers: Vec<String> = timers.iter().map(|id| (*id).to_owned()).collect();
    let run = RunRequest::of(&timers, &HostRequest::default());
    wait::report(&WaitRequest {
        span: Some(SPAN),
        ..WaitRequest::new(run, WaitPlan::QUICK).of_lengths(vec![request_ns], false)
    })
}

/// Probes native clocks of this machine with the settings of an earlier run. If its plan takes
/// longer than `max_seconds`, a shorter plan is used.
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
    let fitting = plans.find(|plan| plan.budget_s <= max_seconds);
    let plan = fitting.unwrap_or(Plan::QUICK);
    let budget = settings
        .budget_seconds
        .map(|budget| budget.min(max_seconds));
    let budget = budget.filter(|it| plan.name == settings.profile && *it != plan.budget_s);
    let request = ProbeRequest {
        plan,
        ..ProbeRequest::quick(&timers, &HostRequest::default())
    };
    Ok(Run {
        path: HERE.into(),
        content: probe::report(&request.limited(None, budget))?,
    })
}
