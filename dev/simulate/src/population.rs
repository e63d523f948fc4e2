//! Draws random populations of simulated timers and machines. No estimator is tuned to a seed.

mod groups;
mod kinds;
mod reads;
mod small_steps;
mod steps;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use simulated::draw::{log_uniform, normal};
use simulated::{
    Interruptions, Jitter, Model, Neighbours, Outliers, Processes, Surroundings, Updates,
};

pub use self::groups::{kinds, median_is_identifiable};
pub use self::kinds::per_kind;
pub use self::small_steps::timed_by_small_steps;
pub use self::steps::{SteppedClock, steps};
use super::Case;

/// Nanoseconds in a tick of a simulated time stamp counter of 2.596 GHz.
const TSC_TICK: f64 = 1e9 / 2.596e9;

/// Steps that do not fit whole nanoseconds: a 99.85 MHz grid, 24 MHz and 19.2 MHz Arm counters, the
/// 3.58 MHz ACPI timer.
const FRACTIONAL_STEPS: [f64; 4] = [10.015, 41.667, 52.083, 279.365];

/// The standard deviation of the core frequency between runs, relative to that within a run. Ten
/// quiet and ten busy runs of a virtual machine had 1.6 and 1.8 % between runs, and 2.1 to 3.6 %
/// within runs (docs/results.md, real clocks).
const BETWEEN_TO_WITHIN_RUNS: f64 = 0.6;

/// The standard deviation of the core frequency between runs, for a core that steps between two
/// frequencies. Measured on another virtual machine.
const TWO_LEVEL_RUN_DEVIATION: f64 = 0.017;

/// Draws `count` timers that have a step, each with a fine or a 10 ns reference.
#[must_use]
pub fn regular(count: usize, seed: u64) -> Vec<Case> {
    let mut random = StdRng::seed_from_u64(seed);
    let draw = |_| {
        let mut case = case(regular_timer(&mut random), &mut random);
        reads::add_some(&mut case);
        case
    };
    (0..count).map(draw).collect()
}

/// Draws `count` timers without a fixed step: irregular ones, and ones that never move.
#[must_use]
pub fn irregular(count: usize, seed: u64) -> Vec<Case> {
    let mut random = StdRng::seed_from_u64(seed ^ 0x1e_60_1a_12);
    (0..count)
        .map(|_| case(irregular_timer(&mut random), &mut random))
        .collect()
}

fn case(timer: Model, random: &mut StdRng) -> Case {
    let reference = reference(random);
    let surroundings = surroundings(&timer, random);
    // One run in ten has a budget that ends early.
    let cut = random.random_bool(0.1).then(|| draw_cut(random));
    Case {
        timer,
        reference,
        surroundings,
        cut,
        seed: random.random(),
    }
}

fn reference(random: &mut StdRng) -> Model {
    if random.random() {
        grid(random)
    } else {
        fine(random)
    }
}

/// Draws a reference that moves at every tick of 0.4 ns.
fn fine(random: &mut StdRng) -> Model {
    Model::regular("fine", TSC_TICK, TSC_TICK, random.random_range(8.0..30.0))
}

/// Draws a reference with steps of 10 ns, a raw counter or a clock in nanoseconds.
fn grid(random: &mut StdRng) -> Model {
    let cost = random.random_range(8.0..30.0);
    if random.random() {
        Model {
            unique: 1,
            ..Model::regular("10 ns grid", 26.0 * TSC_TICK, TSC_TICK, cost)
        }
    } else {
        Model::regular("10 ns grid", 10.015, 1.0, cost)
    }
}

fn regular_timer(random: &mut StdRng) -> Model {
    let cost = log_uniform(3.0, 8_000.0, random);
    let mut model = match random.random_range(0..10) {
        0 => Model {
            unique: 1,
            ..Model::regular("counter grid", 26.0 * TSC_TICK, TSC_TICK, cost)
        },
        1 => Model {
            declared: false,
            ..Model::regular("raw counter", TSC_TICK, TSC_TICK, cost)
        },
        2 | 3 => {
            let step = FRACTIONAL_STEPS[random.random_range(0..FRACTIONAL_STEPS.len())];
            Model::regular("fractional step", step, 1.0, cost)
        }
        4 => Model::regular("unit", log_uniform(0.2, 0.9, random), 1.0, cost),
        5 => Model::regular(
            "microseconds",
            log_uniform(1.0, 900.0, random),
            1_000.0,
            cost,
        ),
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
                if unit > 1.0 {
                    1e9
                } else {
                    log_uniform(2e5, 2e7, random)
                },
                unit,
                cost,
            )
        }
    };
    vary(&mut model, random);
    if model.unit <= 1.0 && model.step > 5.0 && random.random_bool(0.06) {
        model.name.push_str(", backward");
        let by = (model.step / model.unit).ceil() as i64;
        model.backward = Some((
            0.01,
            random.random_range(3..9) * (by + (cost / model.unit) as i64),
        ));
    }
    model
}

/// Draws the jitter of a timer, its outliers, and the error of its rate.
fn vary(model: &mut Model, random: &mut StdRng) {
    model.jitter = kinds::draw_jitter(model.base, random);
    model.follows_core = random.random_bool(0.8);
    if random.random_bool(0.3) {
        model.outliers = Some(Outliers {
            share: log_uniform(1e-4, 8e-3, random),
            longest: 1e6,
        });
    }
    if random.random_bool(0.3) {
        model.drift = random.random_range(-500.0..500.0);
    }
}

/// Draws a machine: processes that differ or have two regimes, interruptions, and a core frequency
/// that varies.
fn surroundings(timer: &Model, random: &mut StdRng) -> Surroundings {
    let processes = match random.random_range(0..20) {
        0..8 => Processes::Identical,
        8..17 => draw_factor(random),
        _ => draw_regimes(random),
    };
    let interruptions = random
        .random_bool(0.4)
        .then(|| draw_interruptions(timer, random));
    let turn = random.random_range(0.2..0.6);
    let steady = Surroundings {
        processes,
        interruptions,
        turn,
        unrolled: true,
        ..Surroundings::default()
    };
    match random.random_range(0..10) {
        0..3 => with_varying_frequency(steady, random),
        3 => with_two_frequencies(steady, random),
        _ => steady,
    }
}

/// Draws processes whose costs differ by a random factor.
fn draw_factor(random: &mut StdRng) -> Processes {
    Processes::Factor(log_uniform(0.002, 0.05, random))
}

/// Draws processes of two regimes.
fn draw_regimes(random: &mut StdRng) -> Processes {
    let apart: f64 = log_uniform(0.03, 0.2, random);
    let factor = if random.random() {
        1.0 + apart
    } else {
        1.0 / (1.0 + apart)
    };
    // A run has too few processes to find a regime with a smaller share.
    Processes::Regimes {
        factor,
        share: random.random_range(0.4..0.6),
    }
}

/// Draws how often interruptions occur and how long they last.
fn draw_interruptions(timer: &Model, random: &mut StdRng) -> Interruptions {
    Interruptions {
        // At most some percent of the calls are interrupted.
        every: log_uniform(5e4, 4e6, random).max(40.0 * timer.base),
        longest: log_uniform(2e3, 3e4, random),
    }
}

/// Adds a core frequency that varies continuously.
fn with_varying_frequency(machine: Surroundings, random: &mut StdRng) -> Surroundings {
    let wander = log_uniform(0.005, 0.06, random);
    Surroundings {
        wander,
        level: BETWEEN_TO_WITHIN_RUNS * wander * normal(random),
        apart: 0.0,
        ..machine
    }
}

/// Adds a core that steps between two frequencies, as when a neighbour starts and stops, and whose
/// frequencies differ between runs.
fn with_two_frequencies(machine: Surroundings, random: &mut StdRng) -> Surroundings {
    let apart = log_uniform(0.03, 0.3, random);
    Surroundings {
        wander: 0.0,
        level: TWO_LEVEL_RUN_DEVIATION * normal(random),
        apart,
        ..machine
    }
}

/// Adds neighbours next to which the core is for these shares of the time, each for a millisecond to
/// minutes; in half of the machines steal, and in half a frequency that varies.
fn with_neighbours(machine: Surroundings, shared: f64, random: &mut StdRng) -> Surroundings {
    let light = shared * random.random_range(0.0..1.0);
    let factors = if random.random() {
        [
            random.random_range(1.15..1.2),
            random.random_range(1.3..1.4),
        ]
    } else {
        [random.random_range(1.03..1.2); 2]
    };
    let neighbours = Neighbours {
        shares: [light, shared - light],
        factors,
        period: log_uniform(1e6, 1.2e11, random),
        seed: random.random(),
        start: 0.0,
    };
    let steal = random.random_range(0.0..0.3);
    let interruptions = random.random_bool(0.5).then_some(Interruptions {
        every: MEAN_STEAL_NS * (1.0 - steal) / steal,
        longest: LONGEST_STEAL_NS,
    });
    let machine = Surroundings {
        neighbours: Some(neighbours),
        interruptions: interruptions.or(machine.interruptions),
        ..machine
    };
    match random.random() {
        true => with_varying_frequency(machine, random),
        false => machine,
    }
}

/// The longest time that a hypervisor takes from a process, and the mean of times whose logarithms
/// are equally probable from half a microsecond. *Computed*.
const LONGEST_STEAL_NS: f64 = 1e7;
const MEAN_STEAL_NS: f64 = 1e6;

/// Draws the number of processes of a run whose budget ends early.
fn draw_cut(random: &mut StdRng) -> u32 {
    random.random_range(3..9)
}

fn irregular_timer(random: &mut StdRng) -> Model {
    let cost = log_uniform(5.0, 2_000.0, random);
    let step = log_uniform(12.0, 5e6, random);
    let base = Model::regular("", step, 1.0, cost);
    let mut model = match random.random_range(0..3) {
        0 => Model {
            name: "uneven".into(),
            updates: Updates::Uneven(random.random_range(0.3..0.8)),
            ..base
        },
        1 => Model {
            name: "random".into(),
            updates: Updates::Random,
            ..base
        },
        _ => Model {
            name: "stuck".into(),
            updates: Updates::Stuck,
            ..base
        },
    };
    if random.random_bool(0.5) {
        model.jitter = Jitter::Exponential(cost * log_uniform(0.005, 0.15, random));
    }
    model
}
