//! Draws timers whose step is a few of their ticks: a time stamp counter that advances by two or
//! four ticks, one that a hypervisor scales by a fraction, or a clock in nanoseconds that rests on
//! a slower counter. If the step is not a whole number of ticks, truncation makes steps of two
//! lengths, and every value may occur.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use simulated::draw::log_uniform;
use simulated::{Jitter, Model};

use super::{Case, TSC_TICK, regular_timer, surroundings, vary};

/// The steps of these timers, in ticks.
const SMALL_STEPS: [f64; 5] = [5.0 / 3.0, 2.0, 2.5, 3.0, 4.0];

/// The name of timers and references with any of [`SMALL_STEPS`].
const FEW_TICKS: &str = "a few ticks";

/// Draws a timer with a small step: a raw counter if `raw`, otherwise a clock that declares
/// nanoseconds.
pub(super) fn few_ticks(raw: bool, random: &mut StdRng) -> Model {
    let ticks = match SMALL_STEPS.get(random.random_range(0..=SMALL_STEPS.len())) {
        Some(ticks) => *ticks,
        None => log_uniform(1.5, 5.0, random),
    };
    let (unit, name) = if raw { (TSC_TICK, "raw") } else { (1.0, "ns") };
    let name = format!("{FEW_TICKS}, {name}");
    let cost = log_uniform(3.0, 8_000.0, random);
    let mut model = Model {
        declared: !raw,
        ..Model::regular(&name, ticks * unit, unit, cost)
    };
    vary(&mut model, random);
    model
}

/// Draws a counter with steps of one or two ticks, 0.3 to 1 ns, that takes 20 to 300 ns to read, with
/// a standard deviation of up to 8 ns.
pub(super) fn below_nanosecond(random: &mut StdRng) -> Model {
    let step = log_uniform(0.3, 1.0, random);
    let tick = step / f64::from(random.random_range(1..3));
    let shape = log_uniform(1.0, 20.0, random);
    let cost = log_uniform(20.0, 300.0, random);
    Model {
        declared: false,
        jitter: Jitter::Gamma {
            shape,
            scale: log_uniform(0.2, 8.0, random) / shape.sqrt(),
        },
        ..Model::regular("below 1 ns", step, tick, cost)
    }
}

/// Draws a clock whose step is longer than a read and 1.05 to 2.9 of its units: a counter whose rate
/// does not divide the unit.
pub(super) fn longer_than_read(random: &mut StdRng) -> Model {
    let unit = [100.0, 1e3, 1e6][random.random_range(0..3)];
    let step = unit * log_uniform(1.05, 2.9, random);
    let cost = log_uniform(3.0, (0.6 * step).min(8_000.0), random);
    let mut model = Model::regular("longer than a read", step, unit, cost);
    vary(&mut model, random);
    model
}

/// Draws a clock in nanoseconds that returns multiples of ten, from a counter with another step. A
/// step of up to two multiples that is shorter than a read cannot be told from one multiple.
pub(super) fn rounded_to_ten(random: &mut StdRng) -> Model {
    let cost = log_uniform(3.0, 8_000.0, random);
    let mut model = Model {
        multiple: 10,
        ..Model::regular(
            "multiples of 10",
            log_uniform(24.0, 300.0, random),
            1.0,
            cost,
        )
    };
    vary(&mut model, random);
    model
}

/// Draws `count` timers with any step, timed by a reference with each of [`SMALL_STEPS`] in turn.
#[must_use]
pub fn timed_by_small_steps(count: usize, seed: u64) -> Vec<Case> {
    let mut random = StdRng::seed_from_u64(seed ^ 0x7e_51_1a_a5);
    let draw = |number: usize| {
        let random = &mut random;
        let timer = regular_timer(random);
        let ticks = SMALL_STEPS[number % SMALL_STEPS.len()];
        let cost = random.random_range(8.0..30.0);
        let reference = Model::regular(FEW_TICKS, ticks * TSC_TICK, TSC_TICK, cost);
        let surroundings = surroundings(&timer, random);
        Case {
            timer,
            reference,
            surroundings,
            seed: random.random(),
            cut: None,
        }
    };
    (0..count).map(draw).collect()
}
