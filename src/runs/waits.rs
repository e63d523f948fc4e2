//! Carries out requests of `wait` and `period`: combines the timers with the conditions (CPU, timer
//! slack, scheduling policy).

use std::collections::HashSet;
use std::thread;
use std::time::Duration;

use timers::os::{Policy, scheduling};
use timers::{Fault, Unavailable};

use super::context::{RunContext, choose_cpu};
use super::{FinishedRun, RunError};
use crate::campaign::sampling::{CampaignPlan, CampaignSettings};
use crate::campaign::subject::{CampaignSubject, Conditions};
use crate::campaign::waits::{measure_periods, measure_waits};
use crate::hosts::host::TimerHost;
use crate::hosts::protocol::Op;
use crate::limits::MAX_TIMERS;
use crate::messages::Progress;
use crate::model::{self, Status, Timer, WaitConditions};
use crate::recording::{NotUsable, Observation, Recording};
use crate::requests::{ConditionsRequest, Cpus, PeriodRequest, RunRequest, WaitRequest};
use crate::selection::Selection;

/// Measures sleep primitives.
///
/// # Errors
/// When the request is invalid, which is reported before anything is measured, or when the machine
/// causes an error.
pub fn wait(request: &WaitRequest) -> Result<FinishedRun, RunError> {
    let WaitRequest {
        run,
        conditions,
        plan,
        waits,
    } = request;
    let plan = match waits.span {
        None => *plan,
        Some(_) => plan.without_leading(),
    };
    let process_ns = plan.waits.process_ns(&waits.lengths_ns);
    let mut campaign = WaitCampaign::begin(run, conditions, plan, Op::Waits, process_ns)?;
    campaign.measure(waits.span, |hosts, subjects, settings, progress| {
        measure_waits(hosts, subjects, waits, settings, progress)
    })?;
    let is_complete = !campaign.selection.failed_by_name();
    let (waits, recording) = campaign.end(waits.span, None);
    Ok(FinishedRun {
        recording: Recording { waits, ..recording },
        is_complete,
    })
}

/// Measures periodic timers, and sleep primitives that are called in a loop.
///
/// # Errors
/// The errors of [`wait`].
pub fn period(request: &PeriodRequest) -> Result<FinishedRun, RunError> {
    let PeriodRequest {
        run,
        conditions,
        plan,
        every_ns,
    } = request;
    let process_ns = plan.waits.ticking_process_ns(*every_ns);
    let mut campaign = WaitCampaign::begin(run, conditions, *plan, Op::Periods, process_ns)?;
    campaign.measure(None, |hosts, subjects, settings, progress| {
        measure_periods(hosts, subjects, *every_ns, settings, progress)
    })?;
    let is_complete = !campaign.selection.failed_by_name();
    let (periods, recording) = campaign.end(None, Some(*every_ns));
    Ok(FinishedRun {
        recording: Recording {
            periods,
            ..recording
        },
        is_complete,
    })
}

/// The timers to measure, each under all requested conditions.
struct WaitCampaign<T> {
    selection: Selection,
    subjects: Vec<CampaignSubject<T>>,
    settings: CampaignSettings,
    context: RunContext,
    /// Whether all CPUs are measured.
    all_cpus: bool,
}

impl<T> WaitCampaign<T> {
    /// Selects the timers that support the operation `op` of the agent protocol, and combines them
    /// with all requested conditions. Unless a time limit of a process is requested, it is at least
    /// twice `process_ns`, the expected duration of its answers in nanoseconds.
    ///
    /// # Errors
    /// When the arguments are invalid, or the timers cannot be started.
    fn begin(
        run: &RunRequest,
        conditions: &ConditionsRequest,
        plan: CampaignPlan,
        op: Op,
        process_ns: f64,
    ) -> Result<Self, RunError> {
        let cpus = usable_cpus(conditions.cpus)?;
        let least = Duration::from_secs_f64(2.0 * process_ns / 1e9);
        let settings = CampaignSettings {
            plan,
            seed: run.seed,
            cpu: cpus[0],
            timeout: run.timeout.unwrap_or(run.time_limit().max(least)),
        };
        let all_cpus = conditions.cpus == Some(Cpus::All);
        let selection = Selection::gather(run, cpus[0], Some(op))?;
        let conditions = combine_conditions(conditions, &cpus);
        let subjects: Vec<_> = selection
            .usable
            .iter()
            .flat_map(|(host, timer)| {
                conditions
                    .iter()
                    .map(|&conditions| CampaignSubject::new(*host, timer.clone(), conditions))
            })
            .collect();
        if subjects.len() > MAX_TIMERS {
            return Err(RunError::TooManyRows {
                timers: selection.usable.len(),
                conditions: conditions.len(),
            });
        }
        let context = RunContext::begin(cpus[0], run.cycles)?;
        Ok(Self {
            selection,
            subjects,
            settings,
            context,
            all_cpus,
        })
    }

    /// Runs `work` with a progress line for the planned number of processes, which later rounds and
    /// those of a run of the length `span` may exceed.
    fn measure<R>(
        &mut self,
        span: Option<Duration>,
        work: impl FnOnce(
            &[TimerHost],
            &mut [CampaignSubject<T>],
            &CampaignSettings,
            &dyn Fn(&str),
        ) -> Result<R, Fault>,
    ) -> Result<R, Fault> {
        let steps = self.subjects.len() * self.settings.plan.waits.processes as usize;
        let bar = Progress::new(steps);
        let progress = |what: &str| {
            bar.show_step(what);
            if !bar.finish_step()
                && let Some(span) = span
            {
                bar.show_limit(span.as_secs_f64());
            }
        };
        let hosts = &self.selection.hosts;
        work(hosts, &mut self.subjects, &self.settings, &progress)
    }

    /// The timer of a subject with its id in reports.
    fn timer(&self, subject: &CampaignSubject<T>) -> Timer {
        self.selection.names[subject.host].timer(subject.timer.clone())
    }

    /// Ends the run. Returns the observations of all timers, with the reasons for the timers that
    /// cannot be used, and the recording without them. `span` is the requested length of the run,
    /// `period_ns` the requested period.
    fn end(
        mut self,
        span: Option<Duration>,
        period_ns: Option<u64>,
    ) -> (Vec<Observation<T, NotUsable>>, Recording) {
        let subjects = std::mem::take(&mut self.subjects);
        let measured = subjects.into_iter().map(|subject| Observation {
            timer: self.timer(&subject),
            means: Some(subject.timer.means),
            conditions: Some(report_conditions(&subject.conditions)),
            period_ns,
            outcome: subject
                .outcome
                .map_err(|fault| not_usable(&fault, &subject.conditions)),
            lost: subject.lost.map(|fault| fault.to_string()),
        });
        let missing = self.selection.missing.iter().map(|missing| Observation {
            means: Some(missing.means),
            conditions: Some(WaitConditions::default()),
            period_ns,
            ..Observation::new(missing.timer.clone(), Err(missing.why.clone()))
        });
        let observed = measured.chain(missing).collect();
        let settings = model::Settings {
            plan: self.settings.plan.name.into(),
            cpu: self.settings.cpu.filter(|_| !self.all_cpus),
            seed: self.settings.seed,
            processes: self.settings.plan.waits.processes,
            precision_points: None,
            budget_seconds: span.map(|span| span.as_secs_f64()),
            timeout_seconds: self.settings.timeout.as_secs(),
        };
        let recording = self.context.end(None, settings, Vec::new(), Vec::new());
        (observed, recording)
    }
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
        .ok()
        .and_then(|thread| thread.join().ok());
    match result {
        Some(Err(Unavailable { reason, remedy, .. })) => NotUsable {
            status: Status::Unavailable,
            reason,
            remedy,
        },
        _ => NotUsable {
            status: Status::Failed,
            reason: fault.to_string(),
            remedy: None,
        },
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

/// All combinations of slack, policy and CPU. Combinations that are the same in a report
/// occur only once.
fn combine_conditions(request: &ConditionsRequest, cpus: &[Option<u32>]) -> Vec<Conditions> {
    let policies: Vec<Option<Policy>> = request.policies.iter().copied().map(Some).collect();
    let mut all = Vec::new();
    for &cpu in cpus {
        for policy in or_default(&policies) {
            for slack_ns in or_default(&request.slacks_ns) {
                all.push(Conditions {
                    cpu,
                    slack_ns,
                    policy,
                });
            }
        }
    }
    let mut seen = HashSet::new();
    all.retain(|conditions| seen.insert(report_conditions(conditions)));
    all
}

/// The requested values, or the default if there are none.
fn or_default<T: Clone + Default>(requested: &[T]) -> Vec<T> {
    match requested {
        [] => vec![T::default()],
        requested => requested.to_vec(),
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
