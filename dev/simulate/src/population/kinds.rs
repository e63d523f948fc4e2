//! Kinds of simulated timers, and `per_kind`, which draws a given number of each. A kind fixes one
//! property: how the cost of a call varies, how processes differ, or what the machine does.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use simulated::Jitter;

use super::reads::{lock_phases, overlap, share_briefly, vary_between_processes, vary_empty_loop};
use super::small_steps::{
    below_nanosecond, few_ticks, longer_than_read, rounded_to_ten, timed_by_small_steps,
};
use super::{
    case, draw_cut, draw_factor, draw_interruptions, draw_regimes, fine, grid, log_uniform,
    regular_timer, with_neighbours, with_two_frequencies, with_varying_frequency,
};
use crate::Case;

/// Draws the variation of the cost of a call, given the cost without variation in nanoseconds.
type DrawJitter = fn(f64, &mut StdRng) -> Jitter;

/// The distributions of costs in the population. One that is listed twice is drawn twice as often.
const JITTERS: [DrawJitter; 11] = [
    constant,
    exponential,
    exponential,
    normal,
    gamma,
    bimodal,
    bimodal,
    trimodal,
    rare_slow_call,
    pareto,
    bimodal_within_step,
];

/// Draws the variation of the cost of a call of one timer of the population.
pub(super) fn draw_jitter(cost: f64, random: &mut StdRng) -> Jitter {
    JITTERS[random.random_range(0..JITTERS.len())](cost, random)
}

/// Changes a case so that it belongs to one kind.
type ApplyKind = fn(&mut Case, &mut StdRng);

/// The kinds that [`per_kind`] draws. All other properties are drawn as in the
/// population.
const KINDS: [ApplyKind; 31] = [
    |case, random| case.timer = few_ticks(true, random),
    |case, random| case.timer = few_ticks(false, random),
    |case, random| case.timer = longer_than_read(random),
    |case, random| case.timer = rounded_to_ten(random),
    |case, random| case.timer.jitter = constant(case.timer.base, random),
    |case, random| case.timer.jitter = exponential(case.timer.base, random),
    |case, random| case.timer.jitter = normal(case.timer.base, random),
    |case, random| case.timer.jitter = gamma(case.timer.base, random),
    |case, random| case.timer.jitter = bimodal(case.timer.base, random),
    |case, random| case.timer.jitter = trimodal(case.timer.base, random),
    |case, random| case.timer.jitter = rare_slow_call(case.timer.base, random),
    |case, random| case.timer.jitter = pareto(case.timer.base, random),
    |case, random| case.timer.jitter = bimodal_within_step(case.timer.base, random),
    |case, random| case.timer.jitter = in_turn(case.timer.base, random),
    |case, random| case.surroundings.processes = draw_factor(random),
    |case, random| case.surroundings.processes = draw_regimes(random),
    |case, random| case.surroundings.interruptions = Some(draw_interruptions(&case.timer, random)),
    |case, random| {
        case.timer.follows_core = true;
        case.surroundings = with_varying_frequency(case.surroundings, random);
    },
    |case, random| {
        case.timer.follows_core = false;
        case.surroundings = with_varying_frequency(case.surroundings, random);
    },
    |case, random| case.surroundings = with_two_frequencies(case.surroundings, random),
    |case, random| case.cut = Some(draw_cut(random)),
    |case, random| {
        let shared = random.random_range(0.1..0.9);
        case.surroundings = with_neighbours(case.surroundings, shared, random);
    },
    |case, random| case.surroundings = with_neighbours(case.surroundings, 1.0, random),
    |case, random| {
        case.timer = below_nanosecond(random);
        let shared = random.random_range(0.1..0.9);
        case.surroundings = with_neighbours(case.surroundings, shared, random);
    },
    lock_phases,
    |case, random| {
        case.timer.jitter = Jitter::None;
        lock_phases(case, random);
    },
    overlap,
    vary_empty_loop,
    share_briefly,
    vary_between_processes,
    |case, random| {
        for apply in [overlap, vary_empty_loop, share_briefly, lock_phases] {
            apply(case, random);
        }
    },
];

/// Draws, for each kind, `count` timers that a fine reference times and `count` that a reference of
/// 10 ns times; then `count` timers of any kind whose reference moves by a few ticks at a time.
#[must_use]
pub fn per_kind(count: usize, seed: u64) -> Vec<Case> {
    let mut random = StdRng::seed_from_u64(seed);
    let mut drawn = Vec::new();
    for apply in KINDS {
        for reference in [fine, grid] {
            for _ in 0..count {
                let mut case = case(regular_timer(&mut random), &mut random);
                case.reference = reference(&mut random);
                apply(&mut case, &mut random);
                drawn.push(case);
            }
        }
    }
    drawn.extend(timed_by_small_steps(count, seed));
    drawn
}

fn constant(_: f64, _: &mut StdRng) -> Jitter {
    Jitter::None
}

fn exponential(cost: f64, random: &mut StdRng) -> Jitter {
    Jitter::Exponential(cost * log_uniform(0.005, 0.3, random))
}

fn normal(cost: f64, random: &mut StdRng) -> Jitter {
    Jitter::Normal(cost * log_uniform(0.01, 0.25, random))
}

fn gamma(cost: f64, random: &mut StdRng) -> Jitter {
    let shape = log_uniform(1.0, 20.0, random);
    Jitter::Gamma {
        shape,
        scale: cost * log_uniform(0.01, 0.3, random) / shape,
    }
}

fn bimodal(cost: f64, random: &mut StdRng) -> Jitter {
    let extra = cost.max(12.0) * log_uniform(0.15, 4.0, random);
    Jitter::Bimodal {
        extra,
        share: random.random_range(0.05..0.45),
    }
}

/// A slow path that every second to every eighth call takes.
fn in_turn(cost: f64, random: &mut StdRng) -> Jitter {
    Jitter::InTurn {
        extra: cost.max(12.0) * log_uniform(0.15, 6.0, random),
        every: random.random_range(2..9),
    }
}

/// Three costs with shares of 55, 30 and 15 %, which are assigned to them in random order.
fn trimodal(cost: f64, random: &mut StdRng) -> Jitter {
    let mut gap = || cost.max(12.0) * log_uniform(0.1, 1.5, random);
    let first = gap();
    let extra = [first, first + gap()];
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
fn rare_slow_call(cost: f64, _: &mut StdRng) -> Jitter {
    Jitter::Bimodal {
        extra: 2.0 * cost,
        share: 0.02,
    }
}

fn pareto(cost: f64, random: &mut StdRng) -> Jitter {
    Jitter::Pareto {
        shape: random.random_range(2.1..4.0),
        scale: cost * log_uniform(0.02, 0.3, random),
    }
}

fn bimodal_within_step(_: f64, random: &mut StdRng) -> Jitter {
    Jitter::Bimodal {
        extra: random.random_range(1.5..9.5),
        share: random.random_range(0.05..0.45),
    }
}
