//! Carries out a [`ProbeRequest`].

use super::context::{RunContext, choose_cpu, measuring_cpus};
use super::{FinishedRun, RunError};
use crate::agents::agent::Agent;
use crate::campaign::clocks::{self, ClockContender};
use crate::campaign::contender::Placement;
use crate::campaign::sampling::CampaignSettings;
use crate::messages::Progress;
use crate::recording::Observation;
use crate::requests::ProbeRequest;
use crate::selection::{AgentName, MissingTimer, Selection};
use estimators::model::{self, Estimate};

/// Measures clocks.
///
/// # Errors
/// When the request is invalid, which is reported before anything is measured, or when the machine
/// causes an error.
pub fn probe(request: &ProbeRequest) -> Result<FinishedRun, RunError> {
    let ProbeRequest { run, plan, .. } = request;
    let cpu = choose_cpu(request.cpu)?;
    let settings = CampaignSettings {
        plan: *plan,
        seed: run.seed,
        cpu,
        timeout: run.time_limit(),
    };
    let mut selection = Selection::gather(run, cpu, None)?;
    let context = RunContext::begin(cpu, run.cycles);
    let mut subjects: Vec<ClockContender> = selection
        .usable
        .drain(..)
        .map(|(agent, timer)| ClockContender::new(agent, timer, Placement::default()))
        .collect();
    let cpus = measuring_cpus(request.cpu, cpu);
    let during = measure(&selection.agents, &mut subjects, &settings, &cpus)?;
    let is_complete = !selection.failed_by_name();
    let described = describe_settings(&settings, &selection.agents);
    let observed = take_observations(&selection.names, subjects);
    let missing = selection.missing.into_iter().map(MissingTimer::row);
    Ok(FinishedRun {
        recording: context.end(during, described, observed, missing.collect()),
        is_complete,
    })
}

/// The settings of the campaign for its report.
fn describe_settings(settings: &CampaignSettings, agents: &[Agent]) -> model::Settings {
    let first_processes = |agent: &Agent| settings.plan.first_processes(agent.takes_ids);
    model::Settings {
        plan: settings.plan.name.into(),
        cpu: settings.cpu,
        seed: settings.seed,
        processes: agents
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
    agents: &[Agent],
    subjects: &mut [ClockContender],
    settings: &CampaignSettings,
    cpus: &[u32],
) -> Result<Option<Estimate>, RunError> {
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
    Ok(clocks::run(agents, subjects, settings, cpus, &progress)?)
}

/// The observations of the timers, with their ids in reports.
fn take_observations(names: &[AgentName], subjects: Vec<ClockContender>) -> Vec<Observation> {
    let observed = |subject: ClockContender| {
        let failure = subject.lost.map_or(Ok(()), Err);
        let measured = failure.and(subject.outcome);
        let outcome = measured.map(|measured| measured.stored);
        Observation::new(
            names[subject.agent].timer(subject.timer),
            outcome.map_err(|fault| fault.to_string()),
        )
    };
    subjects.into_iter().map(observed).collect()
}
