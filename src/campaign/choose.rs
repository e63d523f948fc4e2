//! Chooses and calibrates the reference of an agent.

use rand::rngs::SmallRng;
use timers::{Answer, Fault};

use super::unit_check::check_unit;
use super::unless_interrupted;
use crate::agents::agent::{Agent, connect};
use crate::agents::connection::SharedConnection;
use crate::agents::protocol::AgentTimer;
use crate::agents::subject::subject;
use crate::plan::Plan;
use estimators::model::{Counted, MAX_FINE_STEP_NS};
use estimators::trace::Reference;
use probe::prober::{REFERENCE_WATCH_MS, calibrate, measure_rate};

/// What a reference times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Calls of clocks, which need the finest clock of the agent.
    Clocks,
    /// Waits, which need a clock that runs at the rate of the timers of the kernel and declares its
    /// unit: lateness is the difference between its time and the requested time, so an error of a
    /// measured unit would appear as lateness.
    Waits,
}

/// Largest number of timers of an agent that are tried as its reference.
const MAX_CANDIDATES: usize = 4;

/// Chooses the reference from the clocks of an agent and calibrates it on `cpu`. Tries the candidates
/// in order and takes the first that can be calibrated; for waits, the first that moves in fine
/// steps, or else the one with the finest steps.
///
/// # Errors
/// The reason why the last candidate failed, or [`Fault::Interrupted`].
pub(super) fn choose_reference(
    agent: &Agent,
    plan: &Plan,
    cpu: Option<u32>,
    purpose: Purpose,
    random: &mut SmallRng,
) -> Answer<Reference> {
    let mut finest: Answer<Reference> = Err(Fault::Refused(
        "the agent has no timer that could serve as a reference".into(),
    ));
    for timer in candidates(agent, purpose).into_iter().take(MAX_CANDIDATES) {
        let calibrated = connect(agent, &[&timer.id], cpu, plan.time_limit())
            .and_then(|connection| calibrate_candidate(agent, timer, &connection, random));
        finest = match (unless_interrupted(calibrated)?, finest) {
            (Ok(new), Ok(old)) if old.uncertainty_ns() <= new.uncertainty_ns() => Ok(old),
            (Err(_), Ok(old)) => Ok(old),
            (new, _) => new,
        };
        let suffices = |found: &Reference| {
            purpose == Purpose::Clocks || found.uncertainty_ns() <= MAX_FINE_STEP_NS
        };
        if finest.as_ref().is_ok_and(suffices) {
            break;
        }
    }
    finest
}

/// Returns the clocks of an agent that may serve as its reference, the best first: those that the agent
/// recommends, then those with a declared unit. For waits, clocks of the kernel are the only
/// candidates if the agent has any, and other clocks need a declared unit.
fn candidates(agent: &Agent, purpose: Purpose) -> Vec<&AgentTimer> {
    // The clock that programs read comes before the one that no library can distort.
    let kernel_place = |timer: &AgentTimer| {
        timers::RATE_SOURCES
            .iter()
            .rev()
            .position(|id| *id == timer.id)
    };
    let mut all: Vec<&AgentTimer> = agent.timers.iter().collect();
    // All are read by the processor of the recommended one.
    let on_host = all.iter().any(|timer| timer.reference && timer.host);
    all.retain(|timer| timer.ops.is_empty() && timer.host == on_host);
    let is_kernel_clock = |timer: &&AgentTimer| kernel_place(timer).is_some();
    match purpose {
        Purpose::Waits if all.iter().any(is_kernel_clock) => {
            all.retain(is_kernel_clock);
            all.sort_by_key(|timer| kernel_place(timer));
            return all;
        }
        Purpose::Waits => all.retain(|timer| timer.ns_per_tick.is_some()),
        Purpose::Clocks => all.retain(|timer| timer.reference || timer.ns_per_tick.is_some()),
    }
    all.sort_by_key(|timer| !timer.reference);
    all
}

/// Calibrates a timer as the reference of its agent. If the timer may count wall time, checks its
/// unit with the clocks of the kernel.
///
/// # Errors
/// [`Fault::Refused`] if the timer cannot serve as a reference; the errors of the connection
/// otherwise.
pub(super) fn calibrate_candidate(
    agent: &Agent,
    timer: &AgentTimer,
    connection: &SharedConnection,
    random: &mut SmallRng,
) -> Answer<Reference> {
    let useless = |why: &dyn std::fmt::Display| {
        Fault::Refused(format!("{} cannot serve as a reference: {why}", timer.id))
    };
    let mut candidate = subject(connection, &timer.id);
    let ns_per_tick = match timer.ns_per_tick {
        Some(ns) => ns,
        None => estimate_rate(agent, candidate.as_mut())?.ok_or_else(|| {
            useless(&"it declares no unit, and it can be compared with no other timer of its agent")
        })?,
    };
    let calibrated = calibrate(&timer.id, candidate.as_mut(), ns_per_tick, random)?;
    let mut reference = Reference {
        family: timer.properties.family,
        ..calibrated
    };
    // Timers that do not count wall time cannot be compared with the clocks of the runner.
    if matches!(timer.properties.counts, None | Some(Counted::Wall)) {
        let declared = timer.ns_per_tick.is_some();
        let checked = check_unit(candidate.as_mut(), &reference, declared)?;
        reference.keeps_time = checked.map_err(|wrong| useless(&wrong))?;
    }
    Ok(reference)
}

/// Returns the rate of a counter without a declared unit, in nanoseconds per tick: compares it with
/// the first timer of its agent that declares a unit and can be watched together with the counter.
/// It tries the timers of `RATE_SOURCES` first, because nothing distorts their rate. `None` if
/// there is no such timer.
fn estimate_rate(agent: &Agent, counter: &mut dyn timers::Subject) -> Answer<Option<f64>> {
    let preference =
        |clock: &AgentTimer| timers::RATE_SOURCES.iter().position(|id| *id == clock.id);
    let mut clocks: Vec<&AgentTimer> = agent.timers.iter().collect();
    clocks.retain(|clock| clock.ops.is_empty());
    clocks.sort_by_key(|clock| preference(clock).unwrap_or(usize::MAX));
    for clock in clocks {
        if let Some(ns) = clock.ns_per_tick
            && let Some(rate) = measure_rate(counter, &clock.id, ns, REFERENCE_WATCH_MS)?
        {
            return Ok(Some(rate));
        }
    }
    Ok(None)
}
