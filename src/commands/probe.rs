//! `probe`: characterises clocks and prints them in order of Quality, the best first.

use std::io::Write;
use std::time::Duration;

use super::files::Files;
use super::frame::{Frame, choose_cpu};
use super::hosts::{HostName, MissingTimer, Selection, gather};
use super::progress::Progress;
use super::{CommandError, tell};
use crate::campaign::clocks::{self, Host, Settings, Subject};
use crate::campaign::other_paths::other_paths;
use crate::campaign::sampling::Plan;
use crate::cli::ProbeArgs;
use crate::hosts::protocol::HostedTimer;
use crate::model::{self, Context, Interval, Status, TimerRow};
use crate::recording::{Observation, Recording};

/// Default time limit for the answers of a process of a timer, in seconds.
const TIMEOUT_SECONDS: u64 = 30;

/// Largest number of processes per timer when a precision is requested.
/// *Judgement*.
const MAX_PROCESSES: u32 = 200;

/// Runs the command. Returns `true` if all timers that were requested by name could be measured.
///
/// # Errors
/// When the arguments are invalid, which is reported before anything is measured, or when a file or
/// the machine causes an error.
pub fn run(args: &ProbeArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    let files = Files::prepare(&args.run)?;
    let (recording, by_name_failed) = record(args)?;
    let report = files.finish(&recording, &args.run, output)?;
    Ok(!by_name_failed && !named_unsettled(&args.run.timers, &report.timers))
}

/// Measures the timers. Returns the recording, and whether an agent that the user named was
/// unreachable.
///
/// # Errors
/// When the arguments are invalid, which is reported before anything is measured, or when the
/// machine causes an error.
pub(super) fn record(args: &ProbeArgs) -> Result<(Recording, bool), CommandError> {
    let cpu = choose_cpu(args.cpu)?;
    let settings = Settings {
        plan: plan(args),
        seed: args.run.seed.unwrap_or(1),
        cpu,
        timeout: Duration::from_secs(args.run.timeout.unwrap_or(TIMEOUT_SECONDS)),
    };
    let mut population: Selection<HostedTimer> =
        gather(&args.run.timers, &args.run.hosts, None, &settings)?;
    if args.run.timers.is_empty() {
        population.leave_out_elsewhere();
    }
    population
        .of_runtimes
        .iter()
        .filter(|_| !args.run.quiet)
        .for_each(|line| tell(line));
    let frame = Frame::begin(cpu, &args.run)?;
    let subjects = population.usable.drain(..);
    let mut subjects: Vec<Subject> = subjects
        .map(|(host, timer)| Subject::new(host, timer))
        .collect();
    let during = measure(&population.hosts, &mut subjects, &settings, args.run.quiet)?;
    read_side_by_side(&population.names, &mut subjects, &settings.plan);
    let by_name_failed = population.failed_by_name();
    let described = describe_settings(&settings, &population.hosts);
    let observed = take_observations(&population.names, subjects);
    let missing = population.missing.into_iter().map(MissingTimer::row);
    let recording = frame.end(during, described, observed, missing.collect());
    Ok((recording, by_name_failed))
}

fn plan(args: &ProbeArgs) -> Plan {
    let plan = match (args.run.quick, args.run.thorough) {
        (true, _) => Plan::QUICK,
        (_, true) => Plan::THOROUGH,
        _ => Plan::DEFAULT,
    };
    // A requested precision or time budget is used up to its limit.
    let asked = args.precision.is_some() || args.budget.is_some();
    Plan {
        precision: args
            .precision
            .map_or(plan.precision, |points| points / 100.0),
        insists: asked || plan.insists,
        budget_s: args.budget.unwrap_or(plan.budget_s),
        contexts: if args.context {
            &Context::ALL
        } else {
            plan.contexts
        },
        max_processes: if asked {
            MAX_PROCESSES.max(plan.max_processes)
        } else {
            plan.max_processes
        },
        ..plan
    }
}

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

fn measure(
    hosts: &[Host],
    subjects: &mut [Subject],
    settings: &Settings,
    quiet: bool,
) -> Result<Option<Interval>, CommandError> {
    let plan = &settings.plan;
    let steps = subjects.len() * plan.processes as usize + plan.brief as usize;
    let bar = Progress::new(steps, quiet);
    let progress = |what: &str| {
        bar.at(what);
        // The number of processes that narrow the intervals enough is unknown.
        if !bar.step() {
            bar.until(settings.plan.budget_s);
        }
    };
    Ok(clocks::run(hosts, subjects, settings, &progress)?)
}

/// Measures clocks of this program that can be read on several paths together, for comparison.
fn read_side_by_side(names: &[HostName], subjects: &mut [Subject], plan: &Plan) {
    let own = |subject: &Subject| names[subject.host].prefix.is_none() && subject.outcome.is_ok();
    let ids: Vec<String> = subjects
        .iter()
        .filter(|subject| own(subject))
        .map(|subject| subject.timer.id.clone())
        .collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    for (id, seen) in other_paths(&ids, plan) {
        let of = subjects
            .iter_mut()
            .find(|subject| own(subject) && subject.timer.id == id);
        if let Some(Ok(stored)) = of.map(|subject| &mut subject.outcome) {
            stored.evidence.other_paths.push(seen);
        }
    }
}

fn take_observations(names: &[HostName], subjects: Vec<Subject>) -> Vec<Observation> {
    let observed = |subject: Subject| Observation {
        timer: names[subject.host].timer(subject.timer),
        outcome: subject.outcome,
    };
    subjects.into_iter().map(observed).collect()
}

fn named_unsettled(names: &[String], rows: &[TimerRow]) -> bool {
    rows.iter()
        .any(|row| row.status != Status::Ok && names.contains(&row.id))
}
