//! Measures the sleep primitives or periodic timers of a selection.

use timers::Fault;
use timers::os::{Policy, scheduling};

use crate::agents::children::Placement;
use crate::campaign::waits::Waiter;
use crate::messages::Progress;
use crate::plan::Plan;
use crate::recording::{NotUsable, Observation};
use crate::selection::Selection;
use estimators::model::{Status, TimerInfo, WaitConditions};

/// Calls `measure` with the selected timers, and with what shows its next step. Returns the observations, with the reasons for the timers
/// that cannot be used.
pub(super) fn observe<T>(
    selection: &Selection,
    plan: &Plan,
    period_ns: Option<u64>,
    measure: impl FnOnce(&mut [Waiter<T>], &dyn Fn(&str)) -> Result<(), Fault>,
) -> Result<Vec<Observation<T, NotUsable>>, Fault> {
    let conditions = plan.placement;
    let usable = selection.usable.iter();
    let mut subjects: Vec<Waiter<T>> = usable
        .map(|(agent, timer)| Waiter::new(*agent, timer.clone()))
        .collect();
    // Later rounds and those of a run of a given length exceed these steps.
    let bar = Progress::new(subjects.len() * plan.waits.processes as usize);
    measure(&mut subjects, &|what| {
        bar.show_step(what);
        bar.finish_step();
    })?;
    let row = |timer: TimerInfo, means, outcome| {
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
    }
}
