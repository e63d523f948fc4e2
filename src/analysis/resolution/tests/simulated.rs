//! Clocks of known steps, probed in virtual time.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use timers::simulated::{Jitter, Model, Updates};

use crate::analysis::profile::profile;
use crate::analysis::resolution::Resolution;
use crate::prober::plan::Plan;
use crate::selftest::Case;
use crate::trace::Trace;

fn probed(timer: Model, seed: u64) -> Trace {
    let reference = Model::regular("fine", 0.385, 0.385, 12.0);
    Case { timer, reference, seed }.probe(&Plan::DEFAULT).expect("the reference is sound")
}

/// A read that takes several steps longer in more than a quarter of the calls: the typical jump from zero is several steps.
fn two_modes(random: &mut StdRng) -> (f64, f64, Jitter) {
    let step = random.random_range(14.0..45.0);
    let cost = random.random_range(0.13..0.3) * step;
    let extra = random.random_range(1.6..4.5) * step;
    (step, cost.max(3.0), Jitter::Bimodal { extra, share: random.random_range(0.28..0.47) })
}

#[test]
fn a_cost_of_two_modes_does_not_make_a_step_uneven() {
    for seed in 0..60 {
        let (step, cost, jitter) = two_modes(&mut StdRng::seed_from_u64(seed));
        let found = profile(&probed(Model { jitter, ..Model::regular("", step, 1.0, cost) }, seed));
        let right = found.step().is_some_and(|found| (found / step - 1.0).abs() < 0.01);
        assert!(right, "{seed}: {step} for {cost} and {jitter:?}: {:?}", found.resolution);
    }
}

#[test]
fn irregular_steps_stay_without_a_number_whatever_the_cost() {
    for seed in 0..60 {
        let mut random = StdRng::seed_from_u64(seed);
        let (step, cost, jitter) = two_modes(&mut random);
        let updates = match seed % 2 {
            0 => Updates::Uneven(random.random_range(0.3..0.8)),
            _ => Updates::Random,
        };
        let found = profile(&probed(Model { jitter, updates, ..Model::regular("", step, 1.0, cost) }, seed));
        assert!(matches!(found.resolution, Resolution::AtMost { .. }), "{seed}: {:?}", found.resolution);
    }
}
