//! The step that is reported of simulated clocks that are probed as real ones are.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use simulated::{Jitter, Model, Surroundings, Updates};

use simulate::Case;
use timermeter::campaign::sampling::Plan;
use timermeter::profile::profile;
use timermeter::resolution::Resolution;
use timermeter::trace::Trace;

fn probed(timer: Model, seed: u64) -> Trace {
    let reference = Model::regular("fine", 0.385, 0.385, 12.0);
    let case = Case {
        timer,
        reference,
        surroundings: Surroundings::default(),
        cut: None,
        seed,
    };
    // Ten processes, so that one or nine of them may have another step.
    let plan = Plan {
        processes: 10,
        brief: 0,
        max_processes: 10,
        ..Plan::DEFAULT
    };
    case.probe(&plan).expect("the reference is sound").0
}

/// A read that takes several steps longer in more than a quarter of the calls: the typical jump
/// from zero is several steps.
fn two_modes(random: &mut StdRng) -> (f64, f64, Jitter) {
    let step = random.random_range(14.0..45.0);
    let cost = random.random_range(0.13..0.3) * step;
    let extra = random.random_range(1.6..4.5) * step;
    (
        step,
        cost.max(3.0),
        Jitter::Bimodal {
            extra,
            share: random.random_range(0.28..0.47),
        },
    )
}

#[test]
fn bimodal_cost_keeps_step_even() {
    for seed in 0..60 {
        let (step, cost, jitter) = two_modes(&mut StdRng::seed_from_u64(seed));
        let found = profile(&probed(
            Model {
                jitter,
                ..Model::regular("", step, 1.0, cost)
            },
            seed,
        ));
        let right = found
            .step()
            .is_some_and(|found| (found / step - 1.0).abs() < 0.01);
        assert!(
            right,
            "{seed}: {step} for {cost} and {jitter:?}: {:?}",
            found.resolution
        );
    }
}

#[test]
fn irregular_steps_get_no_number() {
    for seed in 0..60 {
        let mut random = StdRng::seed_from_u64(seed);
        let (step, cost, jitter) = two_modes(&mut random);
        let updates = match seed % 2 {
            0 => Updates::Uneven(random.random_range(0.3..0.8)),
            _ => Updates::Random,
        };
        let found = profile(&probed(
            Model {
                jitter,
                updates,
                ..Model::regular("", step, 1.0, cost)
            },
            seed,
        ));
        assert!(
            matches!(found.resolution, Resolution::AtMost { .. }),
            "{seed}: {:?}",
            found.resolution
        );
    }
}

/// How the second of two steps is mixed into what was seen of the first.
#[derive(Clone, Copy, Debug)]
enum Mixed {
    /// This many processes have it.
    Processes(usize),
    /// It comes in the middle of each process.
    Middle,
}

fn mixed(steps: [f64; 2], cost: f64, how: Mixed, seed: u64) -> Trace {
    let [mut trace, mut other] =
        steps.map(|step| probed(Model::regular("", step, 1.0, cost), seed));
    match how {
        Mixed::Processes(count) => trace.runs[..count].clone_from_slice(&other.runs[..count]),
        Mixed::Middle => {
            for (run, other) in trace.runs.iter_mut().zip(&mut other.runs) {
                run.intervals.truncate(run.intervals.len() / 2);
                run.intervals
                    .extend(other.intervals.split_off(other.intervals.len() / 2));
            }
        }
    }
    trace
}

#[test]
fn a_step_that_changes_is_none() {
    for seed in 0..6 {
        for steps in [[10.0, 40.0], [40.0, 10.0], [10.0, 25.0], [1_000.0, 4_000.0]] {
            for how in [
                Mixed::Processes(1),
                Mixed::Processes(4),
                Mixed::Processes(9),
                Mixed::Middle,
            ] {
                let cost = [5.0, 30.0][seed as usize % 2];
                let longer = f64::max(steps[0], steps[1]);
                match profile(&mixed(steps, cost, how, seed)).resolution {
                    Resolution::AtMost { bound, reason } => {
                        assert!(
                            bound >= 0.99 * longer,
                            "{steps:?}, {how:?}: {bound}, {reason}"
                        );
                    }
                    found => panic!("{seed}, {steps:?}, {how:?}: {found:?}"),
                }
            }
        }
    }
}

#[test]
fn both_steps_are_named() {
    for (how, said) in [
        (
            Mixed::Processes(3),
            "its step differs between processes: 10.0 and 40.0 ticks",
        ),
        (
            Mixed::Middle,
            "its step changes while it is watched: 10.0 and 40.0 ticks",
        ),
    ] {
        match profile(&mixed([10.0, 40.0], 30.0, how, 1)).resolution {
            Resolution::AtMost { bound, reason } => {
                assert_eq!(reason, said);
                assert!((bound - 40.0).abs() < 0.1, "{bound}");
            }
            found => panic!("{found:?}"),
        }
    }
}

#[test]
fn interval_covers_slight_change() {
    for seed in 0..6 {
        for how in [Mixed::Processes(3), Mixed::Processes(7), Mixed::Middle] {
            match profile(&mixed([100.0, 100.5], 30.0, how, seed)).resolution {
                Resolution::Resolved { step, .. } => {
                    let half = 0.5 * (step.high - step.low);
                    assert!((0.1..1.0).contains(&half), "{seed}, {how:?}: {step:?}");
                }
                // Which half of a process has which is not always known.
                Resolution::AtMost { .. } if matches!(how, Mixed::Middle) => {}
                found => panic!("{seed}, {how:?}: {found:?}"),
            }
        }
    }
}
