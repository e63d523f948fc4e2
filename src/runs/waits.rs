//! Carries out requests of `wait`.

use std::time::Duration;

use timers::Fault;
use timers::os::{Policy, scheduling};

use super::context::{RunContext, choose_cpu};
use super::{FinishedRun, RunError};
use crate::agents::protocol::Op;
use crate::campaign::contender::{Contender, Placement};
use crate::campaign::sampling::CampaignSettings;
use crate::campaign::waits::{measure_periods, measure_waits};
use crate::messages::Progress;
use crate::recording::{NotUsable, Observation, TraceFile};
use crate::requests::WaitRequest;
use crate::selection::Selection;
use estimators::model::{self, Status, Timer, WaitConditions};

/// Number of waits of each length, or of periods, by which the time limit of a timer grows. *Judgement*:
/// more than twice as many as it makes at least.
const SLOW_WAITS: u32 = 100;

/// Measures sleep primitives, or periodic timers if the request has a period.
///
/// # Errors
/// When the request is invalid or the system does not permit its conditions, which is reported before
/// anything is measured, or when the machine causes an error.
pub fn wait(request: &WaitRequest) -> Result<FinishedRun, RunError> {
    let WaitRequest {
        run,
        lengths_ns,
        span,
        every_ns,
        ..
    } = request;
    let conditions = Placement {
        cpu: choose_cpu(request.conditions.cpu)?,
        ..request.conditions
    };
    conditions.check().map_err(RunError::Conditions)?;
    let waiting_ns = every_ns.unwrap_or_else(|| lengths_ns.iter().sum());
    let waiting_ns = waiting_ns + conditions.slack_ns.unwrap_or(0);
    let usual = run.time_limit() + Duration::from_nanos(waiting_ns) * SLOW_WAITS;
    let settings = CampaignSettings {
        plan: request.plan,
        seed: run.seed,
        cpu: conditions.cpu,
        timeout: run.timeout.unwrap_or(usual),
    };
    let op = every_ns.map_or(Op::Waits, |_| Op::Periods);
    let selection = Selection::gather(run, conditions.cpu, Some(op))?;
    let context = RunContext::begin(conditions.cpu, run.cycles);
    let processes = settings.plan.waits.processes;
    // Later rounds and those of a run of a given length exceed these steps.
    let bar = Progress::new(selection.usable.len() * processes as usize);
    let progress = |what: &str| {
        bar.show_step(what);
        bar.finish_step();
    };
    let agents = &selection.agents;
    let (mut waits, mut periods) = (Vec::new(), Vec::new());
    match *every_ns {
        None => {
            waits = observe(&selection, conditions, None, |subjects| {
                measure_waits(agents, subjects, (lengths_ns, *span), &settings, &progress)
            })?;
        }
        Some(ns) => {
            periods = observe(&selection, conditions, Some(ns), |subjects| {
                measure_periods(agents, subjects, ns, &settings, &progress)
            })?;
        }
    }
    let described = model::Settings {
        plan: settings.plan.name.into(),
        cpu: settings.cpu,
        seed: settings.seed,
        processes,
        precision_points: None,
        budget_seconds: span.map(|span| span.as_secs_f64()),
        timeout_seconds: settings.timeout.as_secs(),
    };
    Ok(FinishedRun {
        recording: TraceFile {
            waits,
            periods,
            ..context.end(None, described, Vec::new(), Vec::new())
        },
        is_complete: !selection.failed_by_name(),
    })
}

/// Calls `measure` with the selected timers. Returns the observations, with the reasons for the timers
/// that cannot be used.
fn observe<T>(
    selection: &Selection,
    conditions: Placement,
    period_ns: Option<u64>,
    measure: impl FnOnce(&mut [Contender<T>]) -> Result<(), Fault>,
) -> Result<Vec<Observation<T, NotUsable>>, Fault> {
    let usable = selection.usable.iter();
    let mut subjects: Vec<Contender<T>> = usable
        .map(|(agent, timer)| Contender::new(*agent, timer.clone(), conditions))
        .collect();
    measure(&mut subjects)?;
    let row = |timer: Timer, means, outcome| {
        // This primitive sets the slack itself.
        let is_slackless = timer.id.ends_with("nanosleep-slack-1ns");
        let slack_ns = if is_slackless {
            Some(1)
        } else {
            conditions.slack_ns
        };
        Observation {
            means: Some(means),
            conditions: Some(report_conditions(Placement {
                slack_ns,
                ..conditions
            })),
            period_ns,
            ..Observation::new(timer, outcome)
        }
    };
    let measured = subjects.into_iter().map(|subject| {
        let timer = selection.names[subject.agent].timer(subject.timer.clone());
        let failed = |fault: Fault| NotUsable {
            status: Status::Failed,
            reason: fault.to_string(),
            remedy: None,
        };
        Observation {
            lost: subject.lost.map(|fault| fault.to_string()),
            ..row(timer, subject.timer.means, subject.outcome.map_err(failed))
        }
    });
    let missing = selection.missing.iter().map(|missing| Observation {
        conditions: Some(WaitConditions::default()),
        ..row(
            missing.timer.clone(),
            missing.means,
            Err(missing.why.clone()),
        )
    });
    Ok(measured.chain(missing).collect())
}

/// The conditions for the report; values that were not requested are read from the system.
fn report_conditions(conditions: Placement) -> WaitConditions {
    let policy = conditions.policy.or_else(scheduling::policy);
    let slack_ns = (conditions.slack_ns).or_else(|| scheduling::timer_slack().ok());
    WaitConditions {
        // Threads with a real-time policy have no timer slack.
        slack_ns: slack_ns.filter(|_| matches!(policy, None | Some(Policy::Other))),
        policy: policy.map_or_else(|| "unknown".into(), |policy| policy.to_string()),
        cpu: conditions.cpu,
        ..WaitConditions::default()
    }
}
