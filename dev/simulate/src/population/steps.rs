//! Draws clocks for the search of steps: steps of a share to hundreds of thousands of the unit of
//! the readings, reads of a tenth of a step to two hundred steps.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use simulated::draw::log_uniform;
use simulated::{Jitter, Model, Updates};

use super::{Case, TSC_TICK, fine, grid, surroundings};

/// Steps in units of the readings. At most 1: the counter is finer than its unit. 52.083/16 and
/// 41.667/10: counters of 19.2 and 24 MHz in multiples of 16 and 10 ns. 1.95: a device that
/// counts 14.318 MHz, in multiples of 36 ns; 69.84 and 279.365: the same and an ACPI timer in
/// nanoseconds; 30 517.58: 32 768 Hz in nanoseconds.
const STEPS: [f64; 20] = [
    0.3,
    1.0,
    1.2,
    1.5,
    5.0 / 3.0,
    1.95,
    2.0,
    2.5,
    3.0,
    52.083 / 16.0,
    4.0,
    41.667 / 10.0,
    10.0,
    26.0,
    41.667,
    69.84,
    100.0,
    279.365,
    1e3 / 3.0,
    30_517.58,
];

/// Units of readings: ticks in nanoseconds, and the number of ticks that all readings are multiples
/// of.
const UNITS: [(f64, i64); 6] = [
    (1.0, 1),
    (1.0, 10),
    (1.0, 16),
    (1.0, 100),
    (1e3, 1),
    (TSC_TICK, 1),
];

/// A clock of this population, and the groups that it belongs to.
pub struct SteppedClock {
    /// The clock, its reference and its machine.
    pub case: Case,
    /// The names of the groups: by unit, step, cost, jitter and updates.
    pub groups: [String; 5],
}

/// Draws `count` clocks, with all pairs of a step and a unit in turn.
#[must_use]
pub fn steps(count: usize, seed: u64) -> Vec<SteppedClock> {
    let mut random = StdRng::seed_from_u64(seed ^ 0x57_e9_5a_11);
    (0..count).map(|number| draw(number, &mut random)).collect()
}

fn draw(number: usize, random: &mut StdRng) -> SteppedClock {
    let steps = STEPS[number % STEPS.len()];
    let (tick, multiple) = UNITS[number / STEPS.len() % UNITS.len()];
    let unit = tick * multiple as f64;
    let shown = steps.max(1.0) * unit;
    let reads = log_uniform(0.1, 200.0, random);
    let cost = (reads * shown).clamp(2.0, 3e5);
    let jitter = if random.random_bool(0.25) {
        0.0
    } else {
        log_uniform(0.01, 3.0, random)
    };
    let deviation = (jitter * shown).min(0.25 * cost);
    let moved = random.random_bool(0.25);
    let timer = Model {
        multiple,
        declared: tick != TSC_TICK,
        jitter: match jitter {
            0.0 => Jitter::None,
            _ if random.random() => Jitter::Normal(deviation),
            _ => Jitter::Exponential(deviation),
        },
        updates: match moved {
            true => Updates::Moved(random.random_range(0.2..1.0)),
            false => Updates::Regular,
        },
        ..Model::regular("step", steps * unit, tick, cost)
    };
    let reference = match random.random() {
        true => fine(random),
        false => grid(random),
    };
    let surroundings = surroundings(&timer, random);
    let groups = [
        format!("unit {multiple} × {tick:.3} ns"),
        format!("step {steps:.3} units"),
        format!(
            "read {} steps",
            match cost / shown {
                ..0.6 => "below 0.6",
                ..2.0 => "0.6 to 2",
                ..20.0 => "2 to 20",
                _ => "above 20",
            }
        ),
        format!(
            "jitter {} steps",
            match deviation / shown {
                0.0 => "0",
                ..0.3 => "to 0.3",
                _ => "above 0.3",
            }
        ),
        if moved {
            "edges moved"
        } else {
            "edges regular"
        }
        .into(),
    ];
    SteppedClock {
        case: Case {
            timer,
            reference,
            surroundings,
            cut: None,
            seed: random.random(),
        },
        groups,
    }
}
