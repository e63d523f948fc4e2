//! Measures the clocks of a selection.

use super::RunError;
use super::context::measuring_cpus;
use crate::campaign::clocks;
use crate::messages::Progress;
use crate::plan::Plan;
use crate::recording::Observation;
use crate::selection::Selection;
use estimators::model::Estimate;

/// Measures the clocks, on any CPU with a core of the same kind unless one was `requested`. Returns their
/// observations with their ids in reports, and the frequency of the core meanwhile in hertz; `None` if it is
/// unknown.
pub(super) fn observe(
    selection: &Selection,
    plan: &Plan,
    requested: Option<u32>,
) -> Result<(Vec<Observation>, Option<Estimate>), RunError> {
    let timers = &selection.usable;
    let bar = Progress::new(timers.len() * plan.processes as usize + plan.brief as usize);
    let progress = |what: &str| {
        bar.show_step(what);
        // After the planned processes, further ones are started until the intervals are narrow
        // enough; their number is unknown.
        if !bar.finish_step() {
            bar.show_limit(plan.budget_s);
        }
    };
    let cpus = measuring_cpus(requested, plan.placement.cpu);
    let (clocks, during) = clocks::run(&selection.agents, timers, plan, &cpus, &progress)?;
    let observed = clocks
        .into_iter()
        .zip(timers)
        .map(|(clock, (agent, timer))| {
            Observation::new(
                selection.names[*agent].timer(timer.clone()),
                clock.outcome.map_err(|fault| fault.to_string()),
            )
        });
    Ok((observed.collect(), during))
}
