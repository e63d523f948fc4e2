//! Carries out requests of `wait` and `period`: combines the timers with the conditions (CPU, timer
//! slack, scheduling policy, background load).

use std::collections::HashSet;
use std::thread;
use std::time::Duration;

use timers::Unavailable;
use timers::os::{Policy, scheduling};

use super::context::{RunContext, choose_cpu};
use super::{Run, RunError};
use crate::campaign::waits::campaign::{
    Conditions, LateWait, Subject, WaitSettings, measure_periods, measure_waits,
};
use crate::campaign::waits::plan::WaitPlan;
use crate::hosts::protocol::Op;
use crate::limits::MAX_TIMERS;
use crate::messages::{Progress, print_message};
use crate::model::{BackgroundLoad, Settings, Status, Timer, WaitConditions};
use crate::recording::{NotUsable, Recording, WaitObservation};
use crate::requests::{ConditionsRequest, Cpus, PeriodRequest, RunRequest, WaitRequest};
use crate::selection::Selection;
use crate::text::numbers::time;
use crate::trace::{PeriodTrace, WaitTrace};

/// Measures sleep primitives.
///
/// # Errors
/// When the request is invalid, which is reported before anything is measured, or when the machine
/// causes an error.
pub fn wait(request: &WaitRequest) -> Result<Run, RunError> {
    let WaitRequest {
        run, conditions, ..
    } = request;
    let mut campaign = Campaign::<WaitTrace>::begin(run, conditions, request.plan, Op::Waits)?;
    let settings = &mut campaign.settings;
    settings.lengths_ns.clone_from(&request.lengths_ns);
    settings.span = request.span;
    settings.break_ns = request.break_ns;
    if settings.span.is_some() || settings.break_ns.is_some() {
        settings.plan = settings.plan.without_further_rounds();
    }
    let process_ns = campaign
        .settings
        .plan
        .process_ns(&campaign.settings.lengths_ns);
    campaign.extend_timeout(run.timeout, process_ns);
    let bar = campaign.progress();
    let progress = |what: &str| {
        bar.show_step(what);
        if !bar.finish_step()
            && let Some(span) = request.span
        {
            bar.show_limit(span.as_secs_f64());
        }
    };
    let hosts = std::mem::take(&mut campaign.waiters.hosts);
    let late_wait = measure_waits(
        &hosts,
        &mut campaign.subjects,
        &campaign.settings,
        &progress,
    )?;
    drop(bar);
    if let Some(late_wait) = &late_wait {
        print_message(&late_wait_message(&campaign, late_wait));
    }
    let is_complete = late_wait.is_none() && !campaign.waiters.failed_by_name();
    let settings = campaign.report_settings(conditions.cpus);
    let waits = campaign.observations(None);
    let recording = campaign.context.end(None, settings, Vec::new(), Vec::new());
    Ok(Run {
        recording: Recording { waits, ..recording },
        is_complete,
    })
}

/// The message about a wait that was later than `--break`.
fn late_wait_message(
    campaign: &Campaign<WaitTrace>,
    LateWait {
        subject,
        request_ns,
        late_ns,
    }: &LateWait,
) -> String {
    let id = campaign.timer(&campaign.subjects[*subject]).id;
    let [late, requested] = [*late_ns, *request_ns as f64].map(|ns| time(Some(ns)));
    format!("stopped: {id} returned {late} late from a wait of {requested}")
}

/// Measures periodic timers, and sleep primitives that are called in a loop.
///
/// # Errors
/// The errors of [`wait`].
pub fn period(request: &PeriodRequest) -> Result<Run, RunError> {
    let PeriodRequest {
        run,
        conditions,
        plan,
        every_ns,
    } = request;
    let mut campaign = Campaign::<PeriodTrace>::begin(run, conditions, *plan, Op::Periods)?;
    campaign.extend_timeout(run.timeout, plan.ticking_process_ns(*every_ns));
    let bar = campaign.progress();
    let progress = |what: &str| {
        bar.show_step(what);
        bar.finish_step();
    };
    let hosts = std::mem::take(&mut campaign.waiters.hosts);
    measure_periods(
        &hosts,
        &mut campaign.subjects,
        *every_ns,
        &campaign.settings,
        &progress,
    )?;
    drop(bar);
    let is_complete = !campaign.waiters.failed_by_name();
    let settings = campaign.report_settings(conditions.cpus);
    let periods = campaign.observations(Some(*every_ns));
    let recording = campaign.context.end(None, settings, Vec::new(), Vec::new());
    Ok(Run {
        recording: Recording {
            periods,
            ..recording
        },
        is_complete,
    })
}

/// The timers to measure, each under all requested conditions.
struct Campaign<T> {
    waiters: Selection,
    subjects: Vec<Subject<T>>,
    settings: WaitSettings,
    context: RunContext,
}

impl<T> Campaign<T> {
    /// Selects the timers that support the operation `op` of the agent protocol, and combines them
    /// with all requested conditions.
    ///
    /// # Errors
    /// When the arguments are invalid, or the timers cannot be started.
    fn begin(
        run: &RunRequest,
        conditions: &ConditionsRequest,
        plan: WaitPlan,
        op: Op,
    ) -> Result<Self, RunError> {
        let cpus = usable_cpus(conditions.cpus)?;
        let settings = WaitSettings {
            plan,
            lengths_ns: plan.lengths_ns.to_vec(),
            seed: run.seed,
            timeout: run.time_limit(),
            span: None,
            break_ns: None,
        };
        let waiters = Selection::gather(run, cpus[0], Some(op))?;
        let conditions = combine_conditions(conditions, &cpus);
        let subjects = waiters.usable.iter().flat_map(|(host, waiter)| {
            conditions
                .iter()
                .map(|&conditions| Subject::new(*host, waiter.clone(), conditions))
        });
        let subjects: Vec<_> = subjects.collect();
        if subjects.len() > MAX_TIMERS {
            return Err(RunError::TooManyRows {
                timers: waiters.usable.len(),
                conditions: conditions.len(),
            });
        }
        let context = RunContext::begin(cpus[0], run.cycles)?;
        Ok(Self {
            waiters,
            subjects,
            settings,
            context,
        })
    }

    /// Raises the time limit of a process to at least twice `process_ns`, the expected duration of
    /// its answers in nanoseconds, unless a limit is `requested`.
    fn extend_timeout(&mut self, requested: Option<Duration>, process_ns: f64) {
        if requested.is_none() {
            self.settings.timeout = self
                .settings
                .timeout
                .max(Duration::from_secs_f64(2.0 * process_ns / 1e9));
        }
    }

    /// Starts a progress line for the planned number of processes, which later rounds may exceed.
    fn progress(&self) -> Progress {
        Progress::new(self.subjects.len() * self.settings.plan.processes as usize)
    }

    /// The settings of this campaign for its report. The CPU is `None` if several are measured.
    fn report_settings(&self, cpus: Option<Cpus>) -> Settings {
        Settings {
            profile: self.settings.plan.name.into(),
            cpu: self
                .subjects
                .first()
                .and_then(|subject| subject.conditions.cpu)
                .filter(|_| cpus != Some(Cpus::All)),
            seed: self.settings.seed,
            processes: self.settings.plan.processes,
            precision_points: None,
            budget_seconds: self.settings.span.map(|span| span.as_secs_f64()),
            timeout_seconds: self.settings.timeout.as_secs(),
        }
    }

    /// The timer of a subject with its id in reports.
    fn timer(&self, subject: &Subject<T>) -> Timer {
        self.waiters.names[subject.host].timer(subject.waiter.clone())
    }

    /// The observations of all timers, and the reasons for the timers that cannot be used.
    /// `period_ns` is the requested period; `None` for `wait`.
    fn observations(&mut self, period_ns: Option<u64>) -> Vec<WaitObservation<T>> {
        let subjects = std::mem::take(&mut self.subjects);
        let measured = subjects.into_iter().map(|subject| WaitObservation {
            timer: self.timer(&subject),
            means: subject.waiter.means,
            conditions: report_conditions(&subject.conditions),
            period_ns,
            outcome: subject
                .outcome
                .map_err(|reason| not_usable(&reason, &subject.conditions)),
            lost: subject.lost,
        });
        let missing = self.waiters.missing.iter().map(|missing| WaitObservation {
            timer: missing.timer.clone(),
            means: missing.means,
            conditions: WaitConditions::default(),
            period_ns,
            outcome: Err(missing.why.clone()),
            lost: None,
        });
        measured.chain(missing).collect()
    }
}

/// The reason why a timer could not be measured. The conditions are set once more: if the system
/// rejects them, its error is the reason; otherwise it is `reason`.
fn not_usable(reason: &str, conditions: &Conditions) -> NotUsable {
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
            reason: reason.into(),
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

/// All combinations of slack, policy, load and CPU. Combinations that are the same in a report
/// occur only once.
fn combine_conditions(request: &ConditionsRequest, cpus: &[Option<u32>]) -> Vec<Conditions> {
    let slacks: Vec<Option<u64>> = match request.slacks_ns.as_slice() {
        [] => vec![None],
        requested => requested.to_vec(),
    };
    let policies: Vec<Option<Policy>> = match request.policies.as_slice() {
        [] => vec![None],
        requested => requested.iter().copied().map(Some).collect(),
    };
    let loads: Vec<BackgroundLoad> = match request.loads.as_slice() {
        [] => vec![BackgroundLoad::None],
        requested => requested.to_vec(),
    };
    let mut all = Vec::new();
    for &cpu in cpus {
        for &policy in &policies {
            for &slack_ns in &slacks {
                for &load in &loads {
                    all.push(Conditions {
                        cpu,
                        slack_ns,
                        policy,
                        load,
                    });
                }
            }
        }
    }
    let mut seen = HashSet::new();
    all.retain(|conditions| seen.insert(report_conditions(conditions)));
    all
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
        load: conditions.load,
        cpu: conditions.cpu,
    }
}
