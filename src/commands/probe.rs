//! `probe`: characterises clocks and prints them in order of Quality, the best first.

use std::io::Write;

use super::hosts::{HostName, MissingTimer, Selection, gather, is_available};
use super::progress::Progress;
use super::run_context::{RunContext, choose_cpu, measuring_cpus};
use super::runs::Run;
use super::{CommandError, failed, files};
use crate::campaign::clocks::{self, CampaignTimer, Host, Settings};
use crate::campaign::other_paths::compare_paths;
use crate::campaign::paced;
use crate::campaign::sampling::Plan;
use crate::cli::ProbeArgs;
use crate::hosts::protocol::HostedTimer;
use crate::model::{self, Interval, Report};
use crate::recording::{Observation, Recording};
use crate::requests::{ProbeRequest, RunRequest};

/// The ids of the clocks among which the one that is recommended for this machine is: the portable
/// clocks, and the CPU counter with a fence and without. Of each list, the first clock that this
/// system has is measured.
const RECOMMENDABLE: [&[&str]; 4] = [
    &["monotonic"],
    &["instant"],
    &["rdtsc-lfence", "cntvct-isb", "rdtime-fence"],
    &["rdtsc", "cntvct", "rdtime"],
];

/// Runs the command. Returns `true` if all timers, agents and runtimes given by name could be
/// measured.
///
/// # Errors
/// When the arguments are invalid, which is reported before anything is measured, or when a file or
/// the machine causes an error.
pub fn run(args: &ProbeArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    files::run(&args.run, || record(&args.request()), output)
}

/// Measures the timers for another command.
///
/// # Errors
/// When the timers cannot be selected, or the machine causes an error.
pub(super) fn report(request: &ProbeRequest) -> Result<Report, CommandError> {
    record(request)?.0.report().map_err(failed)
}

/// Probes the clocks among which the recommended one is.
///
/// # Errors
/// The errors of [`report`].
pub(super) fn probe_recommendable() -> Result<Report, CommandError> {
    // On Linux `instant` calls `monotonic`, which is preferred.
    let is_wanted =
        |id: &str| is_available(id) && !(id == "instant" && std::env::consts::OS == "linux");
    let clocks = RECOMMENDABLE.iter();
    let clocks = clocks.filter_map(|ids| ids.iter().copied().find(|id| is_wanted(id)));
    report(&ProbeRequest::quick(RunRequest::of(clocks)))
}

/// Probes native clocks of this machine with the settings of an earlier run. If its plan takes
/// longer than `max_seconds`, a shorter plan is used.
///
/// # Errors
/// The errors of [`report`].
pub(super) fn probe_again(
    settings: &model::Settings,
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
        ..ProbeRequest::quick(RunRequest::of(timers))
    };
    Ok(Run {
        path: HERE.into(),
        content: report(&request.limited(None, budget))?,
    })
}

/// Measures the timers. Returns the recording, and whether all agents were reachable and all
/// runtimes given by name are installed.
///
/// # Errors
/// When the arguments are invalid, which is reported before anything is measured, or when the
/// machine causes an error.
fn record(request: &ProbeRequest) -> Result<(Recording, bool), CommandError> {
    let ProbeRequest { run, plan, .. } = request;
    let cpu = choose_cpu(request.cpu)?;
    let settings = Settings {
        plan: plan.clone(),
        seed: run.seed,
        cpu,
        timeout: run.time_limit(),
    };
    let mut selection: Selection<HostedTimer> = gather(&run.timers, &run.hosts, None, &settings)?;
    let context = RunContext::begin(cpu, run.cycles)?;
    let subjects = selection.usable.drain(..);
    let mut subjects: Vec<CampaignTimer> = subjects
        .map(|(host, timer)| CampaignTimer::new(host, timer))
        .collect();
    let is_native = |subject: &CampaignTimer| selection.names[subject.host].prefix.is_none();
    let mut paced: Vec<CampaignTimer> = subjects
        .extract_if(.., |subject| paced::is_paced(subject, is_native(subject)))
        .collect();
    let cpus = measuring_cpus(request.cpu, cpu);
    let during = measure(&selection.hosts, &mut subjects, &settings, &cpus)?;
    let bar = Progress::new(paced.len() * settings.plan.processes as usize);
    paced::run(&selection.hosts, &mut paced, &settings, &|what| {
        bar.show_step(what);
        bar.finish_step();
    })?;
    read_side_by_side(&selection.names, &mut subjects, &settings.plan);
    subjects.append(&mut paced);
    let is_complete = !selection.failed_by_name();
    let described = describe_settings(&settings, &selection.hosts);
    let observed = take_observations(&selection.names, subjects);
    let missing = selection.missing.into_iter().map(MissingTimer::row);
    let recording = context.end(during, described, observed, missing.collect());
    Ok((recording, is_complete))
}

/// The settings of the campaign for its report.
fn describe_settings(settings: &Settings, hosts: &[Host]) -> model::Settings {
    let first_processes = |host: &Host| settings.plan.first_processes(host.takes_ids);
    model::Settings {
        profile: settings.plan.name.into(),
        cpu: settings.cpu,
        seed: settings.seed,
        processes: hosts
            .iter()
            .map(first_processes)
            .min()
            .unwrap_or(settings.plan.processes),
        precision_points: Some(100.0 * settings.plan.precision),
        budget_seconds: Some(settings.plan.budget_s),
        timeout_seconds: settings.timeout.as_secs(),
    }
}

/// Measures the timers. Returns the frequency of the core during the run in hertz; `None` if it is
/// unknown.
fn measure(
    hosts: &[Host],
    subjects: &mut [CampaignTimer],
    settings: &Settings,
    cpus: &[u32],
) -> Result<Option<Interval>, CommandError> {
    let plan = &settings.plan;
    let steps = subjects.len() * plan.processes as usize + plan.brief as usize;
    let bar = Progress::new(steps);
    let progress = |what: &str| {
        bar.show_step(what);
        // After the planned processes, further ones are started until the intervals are narrow
        // enough; their number is unknown.
        if !bar.finish_step() {
            bar.show_limit(settings.plan.budget_s);
        }
    };
    Ok(clocks::run(hosts, subjects, settings, cpus, &progress)?)
}

/// Reads the native clocks that can be read in several ways (for example with and without the vDSO)
/// next to each other, and adds the comparisons to their evidence.
fn read_side_by_side(names: &[HostName], subjects: &mut [CampaignTimer], plan: &Plan) {
    let is_native =
        |subject: &CampaignTimer| names[subject.host].prefix.is_none() && subject.outcome.is_ok();
    let ids: Vec<String> = subjects
        .iter()
        .filter(|subject| is_native(subject))
        .map(|subject| subject.timer.id.clone())
        .collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    for (id, comparison) in compare_paths(&ids, plan) {
        let subject = subjects
            .iter_mut()
            .find(|subject| is_native(subject) && subject.timer.id == id);
        if let Some(Ok(stored)) = subject.map(|subject| &mut subject.outcome) {
            stored.evidence.other_paths.push(comparison);
        }
    }
}

/// The observations of the timers, with their ids in reports.
fn take_observations(names: &[HostName], subjects: Vec<CampaignTimer>) -> Vec<Observation> {
    let observed = |subject: CampaignTimer| Observation {
        timer: names[subject.host].timer(subject.timer),
        outcome: subject.outcome,
    };
    subjects.into_iter().map(observed).collect()
}
