//! Kinds of timers, of each of which so many can be drawn: how the cost of a call varies, what
//! processes and machines do.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use simulated::Jitter;

use super::small_steps::{FEW_TICKS, few_ticks, timed_by_small_steps};
use super::{
    case, cut_short, differing, fine, grid, in_two_regimes, interrupted, log_uniform,
    of_two_levels, regular_timer, wandering,
};
use crate::Case;

/// How the cost of a call varies, by what it is without variation.
type Varied = fn(f64, &mut StdRng) -> Jitter;

/// What costs vary by in the population; tails and two costs are the most common.
const USUAL: [Varied; 11] = [
    constant,
    tail,
    tail,
    bell,
    skewed,
    two,
    two,
    three,
    rare_second,
    power,
    two_within_a_step,
];

/// How the cost of a call of a timer of the population varies.
pub(super) fn usual(cost: f64, random: &mut StdRng) -> Jitter {
    USUAL[random.random_range(0..USUAL.len())](cost, random)
}

/// What makes a timer one of a kind.
type Made = fn(&mut Case, &mut StdRng);

/// The kinds that [`per_kind`] draws. What else a timer of a kind is the population decides.
const KINDS: [Made; 18] = [
    |case, random| case.timer = few_ticks(true, random),
    |case, random| case.timer = few_ticks(false, random),
    |case, random| case.timer.jitter = constant(case.timer.base, random),
    |case, random| case.timer.jitter = tail(case.timer.base, random),
    |case, random| case.timer.jitter = bell(case.timer.base, random),
    |case, random| case.timer.jitter = skewed(case.timer.base, random),
    |case, random| case.timer.jitter = two(case.timer.base, random),
    |case, random| case.timer.jitter = three(case.timer.base, random),
    |case, random| case.timer.jitter = rare_second(case.timer.base, random),
    |case, random| case.timer.jitter = power(case.timer.base, random),
    |case, random| case.timer.jitter = two_within_a_step(case.timer.base, random),
    |case, random| case.surroundings.processes = differing(random),
    |case, random| case.surroundings.processes = in_two_regimes(random),
    |case, random| case.surroundings.interruptions = Some(interrupted(&case.timer, random)),
    |case, random| {
        case.timer.follows_core = true;
        case.surroundings = wandering(case.surroundings, random);
    },
    |case, random| {
        case.timer.follows_core = false;
        case.surroundings = wandering(case.surroundings, random);
    },
    |case, random| case.surroundings = of_two_levels(case.surroundings, random),
    |case, random| case.cut = Some(cut_short(random)),
];

/// For each kind `count` timers by a fine reference, and as many by one of 10 ns; then `count` of
/// any kind by one that moves by a few ticks.
#[must_use]
pub fn per_kind(count: usize, seed: u64) -> Vec<Case> {
    let mut random = StdRng::seed_from_u64(seed);
    let mut drawn = Vec::new();
    for made in KINDS {
        for reference in [fine, grid] {
            for _ in 0..count {
                let mut case = case(regular_timer(&mut random), &mut random);
                case.reference = reference(&mut random);
                made(&mut case, &mut random);
                drawn.push(case);
            }
        }
    }
    drawn.extend(
        timed_by_small_steps(count, seed)
            .into_iter()
            .map(|mut case| {
                case.reference.name = FEW_TICKS.into();
                case
            }),
    );
    drawn
}

fn constant(_: f64, _: &mut StdRng) -> Jitter {
    Jitter::None
}

fn tail(cost: f64, random: &mut StdRng) -> Jitter {
    Jitter::Exponential(cost * log_uniform(0.005, 0.3, random))
}

fn bell(cost: f64, random: &mut StdRng) -> Jitter {
    Jitter::Normal(cost * log_uniform(0.01, 0.25, random))
}

fn skewed(cost: f64, random: &mut StdRng) -> Jitter {
    let shape = log_uniform(1.0, 20.0, random);
    Jitter::Gamma {
        shape,
        scale: cost * log_uniform(0.01, 0.3, random) / shape,
    }
}

fn two(cost: f64, random: &mut StdRng) -> Jitter {
    let extra = cost.max(12.0) * log_uniform(0.15, 4.0, random);
    Jitter::Bimodal {
        extra,
        share: random.random_range(0.05..0.45),
    }
}

/// Three costs, in 55, 30 and 15 % of the calls, whichever of them is the least.
fn three(cost: f64, random: &mut StdRng) -> Jitter {
    let mut apart = || cost.max(12.0) * log_uniform(0.1, 1.5, random);
    let first = apart();
    let extra = [first, first + apart()];
    let share = [
        [0.3, 0.15],
        [0.15, 0.3],
        [0.55, 0.15],
        [0.15, 0.55],
        [0.55, 0.3],
        [0.3, 0.55],
    ];
    Jitter::Trimodal {
        extra,
        share: share[random.random_range(0..share.len())],
    }
}

/// Two calls in a hundred take three times as long.
fn rare_second(cost: f64, _: &mut StdRng) -> Jitter {
    Jitter::Bimodal {
        extra: 2.0 * cost,
        share: 0.02,
    }
}

fn power(cost: f64, random: &mut StdRng) -> Jitter {
    Jitter::Pareto {
        shape: random.random_range(2.1..4.0),
        scale: cost * log_uniform(0.02, 0.3, random),
    }
}

fn two_within_a_step(_: f64, random: &mut StdRng) -> Jitter {
    Jitter::Bimodal {
        extra: random.random_range(1.5..9.5),
        share: random.random_range(0.05..0.45),
    }
}
