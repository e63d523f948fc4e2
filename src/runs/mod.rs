//! Carries out requests: selects the timers, measures them, and returns a recording.

mod context;
mod probe;
mod waits;

use timers::{AffinityError, Fault};

pub use context::{choose_cpu, watch_machine};

use crate::agents::children::StartError;
use crate::agents::protocol::Op;
use crate::campaign::waits::{measure_periods, measure_waits};
use crate::plan::Plan;
use crate::recording::TraceFile;
use crate::requests::{RunRequest, Task};
use crate::selection::{MissingTimer, Selection, SelectionError};
use context::RunContext;
use estimators::model::Settings;

/// Carries out a request.
///
/// # Errors
/// When the request is invalid or the system does not permit its conditions, which is reported before
/// anything is measured, or when the machine causes an error.
pub fn run(request: &RunRequest) -> Result<FinishedRun, RunError> {
    let requested = request.plan.placement.cpu;
    let cpu = choose_cpu(requested)?;
    let mut request = request.clone();
    request.plan.placement.cpu = cpu;
    let plan = &Plan {
        timeout: Some(request.time_limit()),
        ..request.plan
    };
    let op = match request.task {
        Task::Clocks => None,
        Task::Waits(_) => Some(Op::Waits),
        Task::Periods(_) => Some(Op::Periods),
    };
    if op.is_some() {
        plan.placement.check().map_err(RunError::Conditions)?;
    }
    let selection = Selection::gather(&request, op)?;
    let context = RunContext::begin(cpu, request.cycles);
    let is_complete = !selection.failed_by_name();
    let settings = Settings {
        precision_points: None,
        budget_seconds: plan.span.map(|span| span.as_secs_f64()),
        ..plan.settings(plan.waits.processes)
    };
    let recording = match &request.task {
        Task::Clocks => {
            // The processes for a timer before its interval decides about further ones.
            let processes = selection.agents.iter().map(|agent| match agent.takes_ids {
                true => plan.processes + plan.brief,
                false => plan.without_brief,
            });
            let settings = plan.settings(processes.min().unwrap_or(plan.processes));
            let (observed, during) = probe::observe(&selection, plan, requested)?;
            let missing = selection.missing.into_iter().map(MissingTimer::row);
            context.end(during, settings, observed, missing.collect())
        }
        Task::Waits(lengths_ns) => {
            let waits = waits::observe(&selection, plan, None, |subjects, progress| {
                measure_waits(&selection.agents, subjects, lengths_ns, plan, progress)
            })?;
            TraceFile {
                waits,
                ..context.end(None, settings, Vec::new(), Vec::new())
            }
        }
        &Task::Periods(ns) => {
            let periods = waits::observe(&selection, plan, Some(ns), |subjects, progress| {
                measure_periods(&selection.agents, subjects, ns, plan, progress)
            })?;
            TraceFile {
                periods,
                ..context.end(None, settings, Vec::new(), Vec::new())
            }
        }
    };
    Ok(FinishedRun {
        recording,
        is_complete,
    })
}

/// A run that has ended.
pub struct FinishedRun {
    /// What was observed.
    pub recording: TraceFile,
    /// Whether all agents were reachable, all runtimes given by name are installed, and no wait was
    /// later than allowed.
    pub is_complete: bool,
}

/// The reason why a request could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The timers cannot be selected.
    #[error(transparent)]
    Selection(#[from] SelectionError),
    /// This process cannot run on the requested CPU.
    #[error("--cpu {cpu}: {why}")]
    Cpu {
        /// The CPU.
        cpu: u32,
        /// Why not.
        why: AffinityError,
    },
    /// No thread can be started that tests the requested CPU.
    #[error("--cpu {0}: the CPU could not be tested, because no thread can be started")]
    Untested(u32),
    /// The system does not permit the requested timer slack or policy.
    #[error("{0}")]
    Conditions(StartError),
    /// The campaign ended.
    #[error(transparent)]
    Fault(#[from] Fault),
}
