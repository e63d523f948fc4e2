//! Carries out requests of `wait`: combines the timers with the conditions (CPU, timer slack,
//! scheduling policy).

use std::collections::HashSet;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use timers::Fault;
use timers::os::{Policy, scheduling};

use super::context::{RunContext, choose_cpu};
use super::{FinishedRun, RunError};
use crate::campaign::sampling::CampaignSettings;
use crate::campaign::subject::{CampaignSubject, Conditions};
use crate::campaign::waits::{measure_periods, measure_waits};
use crate::hosts::host::TimerHost;
use crate::hosts::protocol::Op;
use crate::limits::MAX_TIMERS;
use crate::messages::Progress;
use crate::model::{self, Status, WaitConditions};
use crate::recording::{NotUsable, Observation, Recording};
use crate::requests::{ConditionsRequest, Cpus, WaitRequest};
use crate::selection::Selection;

/// Measures sleep primitives, or periodic timers if the request has a period.
///
/// # Errors
/// When the request is invalid, which is reported before anything is measured, or when the machine
/// causes an error.
pub fn wait(request: &WaitRequest) -> Result<FinishedRun, RunError> {
    match request.every_ns {
        None => run(
            request,
            |hosts, subjects, settings, progress| {
                measure_waits(hosts, subjects, &request.waits, settings, progress)
            },
            |recording, waits| recording.waits = waits,
        ),
        Some(ns) => run(
            request,
            |hosts, subjects, settings, progress| {
                measure_periods(hosts, subjects, ns, settings, progress)
            },
            |recording, periods| recording.periods = periods,
        ),
    }
}

/// Selects the timers, calls `measure` with each of them under all requested conditions, and `store`
/// with what was observed.
fn run<T>(
    request: &WaitRequest,
    measure: impl FnOnce(
        &[TimerHost],
        &mut [CampaignSubject<T>],
        &CampaignSettings,
        &dyn Fn(&str),
    ) -> Result<(), Fault>,
    store: impl FnOnce(&mut Recording, Vec<Observation<T, NotUsable>>),
) -> Result<FinishedRun, RunError> {
    let WaitRequest { run, waits, .. } = request;
    let cpus = usable_cpus(request.conditions.cpus)?;
    let plan = request.plan.waits;
    let (op, process_ns) = match request.every_ns {
        None => (Op::Waits, plan.process_ns(&waits.lengths_ns)),
        Some(period_ns) => (Op::Periods, plan.ticking_process_ns(period_ns)),
    };
    let least = Duration::from_secs_f64(2.0 * process_ns / 1e9);
    let settings = CampaignSettings {
        plan: match waits.span {
            None => request.plan,
            Some(_) => request.plan.without_leading(),
        },
        seed: run.seed,
        cpu: cpus[0],
        timeout: run.timeout.unwrap_or(run.time_limit().max(least)),
    };
    let selection = Selection::gather(run, cpus[0], Some(op))?;
    let mut subjects = combine(&request.conditions, &selection, &cpus)?;
    let context = RunContext::begin(cpus[0], run.cycles)?;
    // Later rounds and those of a run of a given length exceed these steps.
    let bar = Progress::new(subjects.len() * plan.processes as usize);
    let progress = |what: &str| {
        bar.show_step(what);
        if let (false, Some(span)) = (bar.finish_step(), waits.span) {
            bar.show_limit(span.as_secs_f64());
        }
    };
    measure(&selection.hosts, &mut subjects, &settings, &progress)?;
    let described = model::Settings {
        plan: settings.plan.name.into(),
        cpu: settings
            .cpu
            .filter(|_| request.conditions.cpus != Some(Cpus::All)),
        seed: settings.seed,
        processes: plan.processes,
        precision_points: None,
        budget_seconds: waits.span.map(|span| span.as_secs_f64()),
        timeout_seconds: settings.timeout.as_secs(),
    };
    let mut recording = context.end(None, described, Vec::new(), Vec::new());
    store(
        &mut recording,
        observations(&selection, subjects, request.every_ns),
    );
    Ok(FinishedRun {
        recording,
        is_complete: !selection.failed_by_name(),
    })
}

/// Each usable timer under all combinations of CPU, policy and slack. Combinations that are the same in
/// a report occur only once.
fn combine<T>(
    request: &ConditionsRequest,
    selection: &Selection,
    cpus: &[Option<u32>],
) -> Result<Vec<CampaignSubject<T>>, RunError> {
    let mut all = Vec::new();
    for &cpu in cpus {
        for &policy in &request.policies {
            all.extend(request.slacks_ns.iter().map(|&slack_ns| Conditions {
                cpu,
                slack_ns,
                policy,
            }));
        }
    }
    let mut seen = HashSet::new();
    all.retain(|conditions| seen.insert(report_conditions(conditions)));
    let (timers, conditions) = (selection.usable.len(), all.len());
    if timers * conditions > MAX_TIMERS {
        return Err(RunError::TooManyRows { timers, conditions });
    }
    let usable = selection.usable.iter().flat_map(|(host, timer)| {
        let with = |&conditions| CampaignSubject::new(*host, timer.clone(), conditions);
        all.iter().map(with)
    });
    Ok(usable.collect())
}

/// The observations of all timers, with the reasons for those that cannot be used.
fn observations<T>(
    selection: &Selection,
    subjects: Vec<CampaignSubject<T>>,
    period_ns: Option<u64>,
) -> Vec<Observation<T, NotUsable>> {
    let measured = subjects.into_iter().map(|subject| Observation {
        timer: selection.names[subject.host].timer(subject.timer.clone()),
        means: Some(subject.timer.means),
        conditions: Some(report_conditions(&subject.conditions)),
        period_ns,
        outcome: subject
            .outcome
            .map_err(|fault| not_usable(&fault, &subject.conditions)),
        lost: subject.lost.map(|fault| fault.to_string()),
    });
    let missing = selection.missing.iter().map(|missing| Observation {
        means: Some(missing.means),
        conditions: Some(WaitConditions::default()),
        period_ns,
        ..Observation::new(missing.timer.clone(), Err(missing.why.clone()))
    });
    measured.chain(missing).collect()
}

/// The reason why a timer could not be measured. The conditions are set once more: if the system
/// rejects them, its error is the reason; otherwise it is `fault`.
fn not_usable(fault: &Fault, conditions: &Conditions) -> NotUsable {
    let Conditions {
        slack_ns, policy, ..
    } = *conditions;
    let set_conditions = move || {
        slack_ns.map_or(Ok(()), scheduling::set_timer_slack)?;
        policy.map_or(Ok(()), scheduling::set_policy)
    };
    // The conditions are set in a separate thread, because they affect the thread that sets them.
    let result = thread::Builder::new()
        .spawn(set_conditions)
        .map(JoinHandle::join);
    let (status, reason, remedy) = match result {
        Ok(Ok(Err(why))) => (Status::Unavailable, why.reason, why.remedy),
        _ => (Status::Failed, fault.to_string(), None),
    };
    NotUsable {
        status,
        reason,
        remedy,
    }
}

/// The CPUs to wait on: at least one. `None` in the list is a thread that is not bound to a CPU.
fn usable_cpus(requested: Option<Cpus>) -> Result<Vec<Option<u32>>, RunError> {
    match requested {
        None => choose_cpu(None).map(|cpu| vec![cpu]),
        Some(Cpus::One(cpu)) => choose_cpu(Some(cpu)).map(|cpu| vec![cpu]),
        Some(Cpus::All) => {
            let all = timers::allowed_cpus().map_err(RunError::AllCpus)?;
            Ok(all.into_iter().map(Some).collect())
        }
    }
}

/// The conditions for the report; values that were not requested are read from the system.
fn report_conditions(conditions: &Conditions) -> WaitConditions {
    let policy = conditions.policy.or_else(scheduling::policy);
    let real_time = matches!(policy, Some(Policy::Fifo(_) | Policy::RoundRobin(_)));
    let slack = conditions
        .slack_ns
        .or_else(|| scheduling::timer_slack().ok());
    WaitConditions {
        // Threads with a real-time policy have no timer slack.
        slack_ns: slack.filter(|_| !real_time),
        policy: match policy {
            Some(Policy::Other) => "other".into(),
            Some(Policy::Fifo(priority)) => format!("fifo:{priority}"),
            Some(Policy::RoundRobin(priority)) => format!("rr:{priority}"),
            None => "unknown".into(),
        },
        loaded: false,
        cpu: conditions.cpu,
    }
}
