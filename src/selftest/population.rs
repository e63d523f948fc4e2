//! Random populations of simulated timers, on machines as they are. No estimator is tuned to a seed.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use timers::simulated::{Interruptions, Jitter, Model, Outliers, Processes, Surroundings, Updates};

use super::Case;

/// Nanoseconds in a tick of a simulated time stamp counter of 2.596 GHz.
const TSC_TICK: f64 = 1e9 / 2.596e9;

/// Steps that do not fit whole nanoseconds: a 99.85 MHz grid, 24 MHz and 19.2 MHz Arm counters, the 3.58 MHz ACPI timer.
const ODD_STEPS: [f64; 4] = [10.015, 41.667, 52.083, 279.365];

/// How far the frequencies of runs differ from each other, of how far those of one run do (standard deviations): 1.6 and 1.8 % of 2.1 to
/// 3.6 % in ten quiet and ten busy runs of a virtual machine (METHODOLOGY.md, below the table of twenty runs).
const BETWEEN_RUNS: f64 = 0.6;

/// `count` timers that have a step, each with a fine or a 10 ns reference.
#[must_use]
pub fn regular(count: usize, seed: u64) -> Vec<Case> {
    let mut random = StdRng::seed_from_u64(seed);
    (0..count).map(|_| case(regular_timer(&mut random), &mut random)).collect()
}

/// `count` timers that have no step to be found: irregular ones and ones that stand still.
#[must_use]
pub fn irregular(count: usize, seed: u64) -> Vec<Case> {
    let mut random = StdRng::seed_from_u64(seed ^ 0x1e_60_1a_12);
    (0..count).map(|_| case(irregular_timer(&mut random), &mut random)).collect()
}

fn case(timer: Model, random: &mut StdRng) -> Case {
    let reference = reference(random);
    let surroundings = surroundings(&timer, random);
    Case { timer, reference, surroundings, seed: random.random() }
}

/// A counter that moves at every tick of 0.4 ns, or one on a 100 MHz grid, declared in counts or in nanoseconds.
fn reference(random: &mut StdRng) -> Model {
    let cost = random.random_range(8.0..30.0);
    match random.random_range(0..4) {
        0 => Model { unique: true, ..Model::regular("10 ns grid", 26.0 * TSC_TICK, TSC_TICK, cost) },
        1 => Model::regular("10 ns grid", 10.015, 1.0, cost),
        _ => Model::regular("fine", TSC_TICK, TSC_TICK, cost),
    }
}

fn regular_timer(random: &mut StdRng) -> Model {
    let cost = log_uniform(3.0, 8_000.0, random);
    let mut model = match random.random_range(0..10) {
        0 => Model { unique: true, ..Model::regular("counter grid", 26.0 * TSC_TICK, TSC_TICK, cost) },
        1 => Model { declared: false, ..Model::regular("raw counter", TSC_TICK, TSC_TICK, cost) },
        2 | 3 => {
            let step = ODD_STEPS[random.random_range(0..ODD_STEPS.len())];
            Model::regular("odd step", step, 1.0, cost)
        }
        4 => Model::regular("unit", log_uniform(0.2, 0.9, random), 1.0, cost),
        5 => Model::regular("microseconds", log_uniform(1.0, 900.0, random), 1_000.0, cost),
        6 | 7 => Model::regular("any step", log_uniform(5.0, 200_000.0, random), 1.0, cost),
        8 => {
            let step = [1e6, 4e6, 1e7, 15.625e6][random.random_range(0..4)];
            let unit = [1.0, 100.0, 1_000.0, 1e6][random.random_range(0..4)];
            Model::regular("coarse", step, unit, cost)
        }
        _ => {
            let unit = [1.0, 1e9][random.random_range(0..2)];
            Model::regular(
                "seconds",
                if unit > 1.0 { 1e9 } else { log_uniform(2e5, 2e7, random) },
                unit,
                cost,
            )
        }
    };
    model.jitter = match random.random_range(0..7) {
        0 => Jitter::None,
        1 | 2 => Jitter::Exponential(cost * log_uniform(0.005, 0.3, random)),
        3 => Jitter::Normal(cost * log_uniform(0.01, 0.25, random)),
        4 => {
            let shape = log_uniform(1.0, 20.0, random);
            Jitter::Gamma { shape, scale: cost * log_uniform(0.01, 0.3, random) / shape }
        }
        _ => Jitter::Bimodal {
            extra: cost.max(12.0) * log_uniform(0.15, 4.0, random),
            share: random.random_range(0.05..0.45),
        },
    };
    model.follows_core = random.random_bool(0.8);
    if random.random_bool(0.3) {
        model.outliers = Some(Outliers { share: log_uniform(1e-4, 8e-3, random), longest: 1e6 });
    }
    if random.random_bool(0.3) {
        model.drift = random.random_range(-500.0..500.0);
    }
    if model.unit <= 1.0 && model.step > 5.0 && random.random_bool(0.06) {
        model.name.push_str(", backward");
        let by = (model.step / model.unit).ceil() as i64;
        model.backward = Some((0.01, random.random_range(3..9) * (by + (cost / model.unit) as i64)));
    }
    model
}

/// What machines do: processes that differ or come in two kinds, interruptions by time, a frequency that wanders.
fn surroundings(timer: &Model, random: &mut StdRng) -> Surroundings {
    let processes = match random.random_range(0..20) {
        0..8 => Processes::Alike,
        8..17 => Processes::Factor(log_uniform(0.002, 0.05, random)),
        _ => {
            let apart: f64 = log_uniform(0.03, 0.2, random);
            let factor = if random.random() { 1.0 + apart } else { 1.0 / (1.0 + apart) };
            // Kinds that few processes belong to are met by too few of them to be known.
            Processes::Regimes { factor, share: random.random_range(0.4..0.6) }
        }
    };
    let interruptions = random.random_bool(0.4).then(|| Interruptions {
        // So that not more than some percent of the calls are interrupted.
        every: log_uniform(5e4, 4e6, random).max(40.0 * timer.base),
        longest: log_uniform(2e3, 3e4, random),
    });
    let wander = if random.random_bool(0.3) { log_uniform(0.005, 0.06, random) } else { 0.0 };
    let between: f64 = StandardNormal.sample(random);
    let level = BETWEEN_RUNS * wander * between;
    Surroundings { processes, interruptions, wander, level, turn: random.random_range(0.2..0.6) }
}

fn irregular_timer(random: &mut StdRng) -> Model {
    let cost = log_uniform(5.0, 2_000.0, random);
    let step = log_uniform(12.0, 5e6, random);
    let base = Model::regular("", step, 1.0, cost);
    let mut model = match random.random_range(0..3) {
        0 => Model { name: "uneven".into(), updates: Updates::Uneven(random.random_range(0.3..0.8)), ..base },
        1 => Model { name: "random".into(), updates: Updates::Random, ..base },
        _ => Model { name: "stuck".into(), updates: Updates::Stuck, ..base },
    };
    if random.random_bool(0.5) {
        model.jitter = Jitter::Exponential(cost * log_uniform(0.005, 0.15, random));
    }
    model
}

fn log_uniform(low: f64, high: f64, random: &mut StdRng) -> f64 {
    low * (high / low).powf(random.random_range(0.0..1.0))
}
