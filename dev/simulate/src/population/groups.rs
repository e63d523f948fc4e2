//! Names the kinds that a simulated timer belongs to, by which results are counted.

use simulated::{Jitter, Processes, Updates};

use crate::Case;

/// A second cost that occurs in a smaller share of the calls counts as rare.
const RARE_SHARE: f64 = 0.03;
/// Neighbours that slow calls by more are those that stay for milliseconds.
const BRIEF_FACTOR: f64 = 1.25;
/// The step of the coarse reference in nanoseconds. It cannot separate two costs that differ by
/// less.
const COARSE_STEP_NS: f64 = 10.0;

/// Whether a coarse reference determines the median cost of the timer: the distribution of the cost
/// has one mode, or two that differ by at least one step of that reference; the core does not step
/// between frequencies; calls are timed as if alone; the budget of the run suffices. For other
/// timers, single readings of a coarse reference leave the median open within a step, and the
/// interval has to say so.
#[must_use]
pub fn median_is_identifiable(case: &Case) -> bool {
    let machine = &case.surroundings;
    let steady = machine.apart == 0.0
        && machine.neighbours.is_none()
        && machine.overlap == 0.0
        && machine.empty_turn == [0.0; 2]
        && machine.locked_cycle == 0.0
        && case.cut.is_none();
    steady
        && match case.timer.jitter {
            Jitter::None | Jitter::Exponential(_) | Jitter::Normal(_) | Jitter::Gamma { .. } => {
                true
            }
            Jitter::Bimodal { extra, share } => share >= RARE_SHARE && extra >= COARSE_STEP_NS,
            Jitter::InTurn { .. } | Jitter::Trimodal { .. } | Jitter::Pareto { .. } => false,
        }
}

/// Returns the kinds that a timer belongs to: by its reference, and with that by its step, by the
/// distribution of its cost, and by its machine.
#[must_use]
pub fn kinds(case: &Case) -> Vec<String> {
    let (timer, machine) = (&case.timer, &case.surroundings);
    if !matches!(timer.updates, Updates::Regular | Updates::Moved(_)) {
        return vec!["no step".into(), format!("no step, {}", timer.name)];
    }
    let cost = match timer.jitter {
        Jitter::None => "constant",
        Jitter::Exponential(_) => "with a tail",
        Jitter::Normal(_) => "normal",
        Jitter::Gamma { .. } => "skewed",
        Jitter::Bimodal { share, .. } if share < RARE_SHARE => "rare slow path",
        Jitter::Bimodal { extra, .. } if extra < COARSE_STEP_NS => "two within 10 ns",
        Jitter::Bimodal { .. } => "bimodal",
        Jitter::InTurn { .. } => "in turn",
        Jitter::Trimodal { .. } => "three modes",
        Jitter::Pareto { .. } => "Pareto tail",
    };
    let processes = match machine.processes {
        Processes::Identical => "identical",
        Processes::Factor(_) => "differ",
        Processes::Regimes { .. } => "two regimes",
    };
    let shared = machine.neighbours.map_or(0.0, |it| it.shares.iter().sum());
    let is_brief = machine
        .neighbours
        .is_some_and(|it| it.factors[0] > BRIEF_FACTOR);
    let is_shared = shared > 0.0 && !is_brief;
    let is_never_alone = is_shared && shared > 0.999;
    let properties = [
        (is_shared && !is_never_alone, "machine: next to neighbours"),
        (is_never_alone, "machine: never alone"),
        (is_brief, "machine: shared for milliseconds"),
        (machine.interruptions.is_some(), "machine: interrupted"),
        (
            machine.wander > 0.0 && timer.follows_core,
            "machine: frequency wanders",
        ),
        (
            machine.wander > 0.0 && !timer.follows_core,
            "machine: wanders, device",
        ),
        (machine.apart > 0.0, "machine: two frequencies"),
        (
            machine.between_processes > 0.0,
            "machine: processes at frequencies",
        ),
        (machine.locked_cycle > 0.0, "reads: phases locked"),
        (machine.overlap > 0.0, "reads: overlap"),
        (machine.empty_turn != [0.0; 2], "reads: other empty loop"),
        (case.cut.is_some(), "run: cut short"),
    ];
    let drawn = [
        format!("step: {}", timer.name),
        format!("cost: {cost}"),
        format!("processes: {processes}"),
    ];
    let properties = properties.into_iter().filter(|(has, _)| *has);
    let names = drawn
        .into_iter()
        .chain(properties.map(|(_, name)| name.into()));
    let reference = &case.reference.name;
    let named = names.map(|name: String| format!("{reference}, {name}"));
    [reference.clone()].into_iter().chain(named).collect()
}
