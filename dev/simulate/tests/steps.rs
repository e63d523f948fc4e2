//! Tests the reported resolution of simulated clocks: steps next to two costs, irregular steps, and
//! steps that change.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use simulated::{Jitter, Model, Updates};

use estimators::figures::figures;
use estimators::resolution::Step;
use estimators::trace::{Observations, Trace};
use simulate::Case;
use timermeter::plan::Plan;

use super::{case, probe};
use SecondStep::{Processes, SecondHalf};

/// Probes a timer in ten simulated processes.
fn probe_timer(timer: Model, seed: u64) -> Trace {
    // Ten processes, so that one or nine of them may have another step.
    let plan = Plan {
        processes: 10,
        brief: 0,
        max_processes: 10,
        ..Plan::DEFAULT
    };
    probe(&case(timer, seed), &plan)
}

/// Draws a step, a cost, and a slow path of several steps that more than a quarter of the calls
/// take, so that the typical difference of two readings is several steps.
fn draw_bimodal_cost(random: &mut StdRng) -> Model {
    let step = random.random_range(14.0..45.0);
    let cost = random.random_range(0.13..0.3) * step;
    let jitter = Jitter::Bimodal {
        extra: random.random_range(1.6..4.5) * step,
        share: random.random_range(0.28..0.47),
    };
    Model {
        jitter,
        ..Model::regular("", step, 1.0, cost.max(3.0))
    }
}

#[test]
fn bimodal_cost_keeps_step_even() {
    for seed in 0..60 {
        let timer = draw_bimodal_cost(&mut StdRng::seed_from_u64(seed));
        let found = figures(&probe_timer(timer.clone(), seed));
        let ratio = found.step().map_or(0.0, |found| found / timer.step);
        let is_right = (ratio - 1.0).abs() < 0.01;
        assert!(is_right, "{seed}: {timer:?}: {:?}", found.resolution);
    }
}

#[test]
fn irregular_steps_get_no_number() {
    for seed in 0..60 {
        let mut random = StdRng::seed_from_u64(seed);
        let mut timer = draw_bimodal_cost(&mut random);
        timer.updates = match seed % 2 {
            0 => Updates::Uneven(random.random_range(0.3..0.8)),
            _ => Updates::Random,
        };
        let found = figures(&probe_timer(timer, seed)).resolution;
        let is_bound = matches!(found, Step::AtMost { .. });
        assert!(is_bound, "{seed}: {found:?}");
    }
}

/// The part of a trace that has the second of two steps.
#[derive(Clone, Copy, Debug)]
enum SecondStep {
    /// This many processes.
    Processes(usize),
    /// The second half of each process.
    SecondHalf,
}

/// Mixes the traces of two clocks that differ only in their steps.
fn mix_traces(steps: [f64; 2], cost: f64, part: SecondStep, seed: u64) -> Trace {
    let [mut trace, mut other] =
        steps.map(|step| probe_timer(Model::regular("", step, 1.0, cost), seed));
    match part {
        Processes(count) => trace.runs[..count].clone_from_slice(&other.runs[..count]),
        SecondHalf => {
            for (run, other) in trace.runs.iter_mut().zip(&mut other.runs) {
                let groups = |run: &Observations| run.intervals.iter().collect::<Vec<_>>();
                let (first, second) = (groups(run), groups(other));
                let halves = [&first[..first.len() / 2], &second[second.len() / 2..]];
                run.intervals = halves.concat().into_iter().collect();
            }
        }
    }
    trace
}

#[test]
fn changing_step_gets_bound_only() {
    for seed in 0..6 {
        for steps in [[10.0, 40.0], [40.0, 10.0], [10.0, 25.0], [1_000.0, 4_000.0]] {
            for part in [Processes(1), Processes(4), Processes(9), SecondHalf] {
                let cost = [5.0, 30.0][seed as usize % 2];
                let longer = f64::max(steps[0], steps[1]);
                match figures(&mix_traces(steps, cost, part, seed)).resolution {
                    Step::AtMost { bound, reason } => {
                        assert!(
                            bound >= 0.99 * longer,
                            "{steps:?}, {part:?}: {bound}, {reason}"
                        );
                    }
                    found => panic!("{seed}, {steps:?}, {part:?}: {found:?}"),
                }
            }
        }
    }
}

#[test]
fn reason_names_both_steps() {
    for (part, expected_reason) in [
        (
            Processes(3),
            "its step differs between processes: 10.0 and 40.0 ticks",
        ),
        (
            SecondHalf,
            "its step changes while it is watched: 10.0 and 40.0 ticks",
        ),
    ] {
        match figures(&mix_traces([10.0, 40.0], 30.0, part, 1)).resolution {
            Step::AtMost { bound, reason } => {
                assert_eq!(reason, expected_reason);
                assert!((bound - 40.0).abs() < 0.1, "{bound}");
            }
            found => panic!("{found:?}"),
        }
    }
}

#[test]
fn interval_covers_slight_change() {
    for seed in 0..6 {
        for part in [Processes(3), Processes(7), SecondHalf] {
            match figures(&mix_traces([100.0, 100.5], 30.0, part, seed)).resolution {
                Step::Resolved { step, .. } => {
                    let half = 0.5 * (step.high - step.low);
                    assert!((0.1..1.0).contains(&half), "{seed}, {part:?}: {step:?}");
                }
                // A change within a process may leave only a bound.
                Step::AtMost { .. } if matches!(part, SecondHalf) => {}
                found => panic!("{seed}, {part:?}: {found:?}"),
            }
        }
    }
}

/// Every second call takes 113 ns longer: no call has a cost in between.
#[test]
fn calls_in_turn_have_two_costs() {
    for (number, reference_step) in [(1, 0.385), (2, 10.015)] {
        let timer = Model {
            jitter: Jitter::InTurn {
                extra: 113.0,
                every: 2,
            },
            ..Model::regular("", 10.0, 1.0, 20.0)
        };
        let case = Case {
            reference: Model::regular("", reference_step, 0.385, 12.0),
            ..case(timer, number)
        };
        let found = figures(&probe(&case, &Plan::DEFAULT));
        let cost = found.cost.expect("it has a cost");
        assert!((cost.value - 20.0).abs() < 0.5, "{cost:?}");
        assert!(cost.low <= 20.0 && cost.high >= 120.0, "{cost:?}");
        let modes = found.distribution.expect("it has a distribution").modes;
        let costs: Vec<f64> = modes.iter().map(|mode| mode.ns.round()).collect();
        assert_eq!(costs, [20.0, 133.0]);
    }
}
