//! Draws random populations of simulated sleep primitives and periodic timers. No estimator is
//! tuned to a seed.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use simulated::draw::log_uniform;
use simulated::{Delays, Missed, TickModel, WaitModel};
use timers::waits::WaitActivity;

use super::{TickCase, WaitCase};

/// Granularities of real sleep primitives in nanoseconds: 1 ms of poll and epoll, the same with the
/// slack of poll, ticks of 250, 100 and 64 Hz, and two finer ones of coarse clocks.
const STEPS_NS: [f64; 7] = [1e6, 1.0008e6, 4e6, 1e7, 15.625e6, 1e4, 2.5e5];
/// The granularities of poll, epoll and a 250 Hz tick in nanoseconds, for timers on a loaded
/// machine.
const LOADED_STEPS_NS: [f64; 3] = [1e6, 1.0008e6, 4e6];
/// The range of the proportional error on a loaded machine, in ppm of the requested length.
const LOADED_ERROR_PPM: [f64; 2] = [1e3, 1e4];
/// Coarse references, with their steps in nanoseconds: the ticks of 1000, 250 and 64 Hz.
const COARSE_REFERENCES: [(&str, f64); 3] = [
    ("timed in steps of 1 ms", 1e6),
    ("timed in steps of 4 ms", 4e6),
    ("timed in steps of 15.6 ms", 15.625e6),
];
/// The length in nanoseconds above which some timers have a coarser granularity.
const COARSER_FROM_NS: f64 = 2e7;

/// Draws `count` sleep primitives.
#[must_use]
pub fn waits(count: usize, seed: u64) -> Vec<WaitCase> {
    let mut random = StdRng::seed_from_u64(seed);
    (0..count)
        .map(|_| WaitCase {
            model: sleep_primitive(&mut random),
            seed: random.random(),
        })
        .collect()
}

/// Draws `count` sleep primitives without steps that a coarse reference times. Their waits begin at
/// random phases of it.
#[must_use]
pub fn coarse_references(count: usize, seed: u64) -> Vec<WaitCase> {
    let mut random = StdRng::seed_from_u64(seed ^ 0xc0a5e);
    let case = |number: usize| {
        let (name, clock_step) = COARSE_REFERENCES[number % COARSE_REFERENCES.len()];
        let base = log_uniform(2e3, 1e6, &mut random);
        let delays = Delays {
            median: log_uniform(3e2, 5e4, &mut random),
            deviation: random.random_range(0.1..0.8),
            tail: random
                .random_bool(0.6)
                .then(|| (log_uniform(1e-3, 0.1, &mut random), 20.0)),
        };
        let model = WaitModel {
            delays,
            processes: log_uniform(0.01, 0.2, &mut random),
            clock_step,
            cpu: 5e3,
            ..WaitModel::blocking(name, base)
        };
        WaitCase {
            model,
            seed: random.random(),
        }
    };
    (0..count).map(case).collect()
}

/// Draws `count` periodic timers.
#[must_use]
pub fn ticks(count: usize, seed: u64) -> Vec<TickCase> {
    let mut random = StdRng::seed_from_u64(seed ^ 0x71_c5);
    (0..count).map(|_| periodic_timer(&mut random)).collect()
}

/// Draws `count` periodic timers that miss nothing and are late by a third of a period, more or
/// less.
#[must_use]
pub fn jittery_ticks(count: usize, seed: u64) -> Vec<TickCase> {
    let mut random = StdRng::seed_from_u64(seed ^ 0x7177e5);
    let case = |_| {
        let period_ns = 1_000_000;
        let delays = Delays {
            median: random.random_range(0.2..0.35) * period_ns as f64,
            deviation: random.random_range(0.2..0.6),
            tail: None,
        };
        let model = TickModel {
            name: "burst with jitter of a third".into(),
            missed: Missed::Burst,
            ppm: random.random_range(-60.0..60.0),
            delays,
            lost: 0.0,
        };
        TickCase {
            model,
            period_ns,
            seed: random.random(),
        }
    };
    (0..count).map(case).collect()
}

fn sleep_primitive(random: &mut StdRng) -> WaitModel {
    let step = if random.random() {
        STEPS_NS[random.random_range(0..STEPS_NS.len())]
    } else {
        log_uniform(1e4, 1.6e7, random)
    };
    let kind = random.random_range(0..11);
    let (name, rounding, grid) = match kind {
        0..3 => ("no step", None, None),
        3..6 => ("rounding", Some(step), None),
        6..9 => ("grid", None, Some(step)),
        9 => {
            let step = step.clamp(1e5, 4e6);
            (
                "both",
                Some(step),
                Some(step * log_uniform(0.03, 0.1, random)),
            )
        }
        _ => (
            "rounding on a loaded machine",
            Some(LOADED_STEPS_NS[random.random_range(0..LOADED_STEPS_NS.len())]),
            None,
        ),
    };
    let base = log_uniform(2e3, 1e5, random);
    let mut model = WaitModel {
        rounding,
        grid,
        ..WaitModel::blocking(name, base)
    };
    // Most delays vary little enough to reveal the granularity; some vary too much.
    let shortest = if kind == 9 { grid } else { rounding }.unwrap_or(step);
    let deviation = match random.random_range(0..7) {
        _ if kind < 3 => log_uniform(3e2, 5e4, random),
        0 if kind < 9 => shortest * log_uniform(0.4, 2.0, random),
        _ => shortest * log_uniform(0.002, 0.06, random),
    };
    let shape = random.random_range(0.1..0.8);
    let tail = random.random_bool(0.6).then(|| {
        (
            log_uniform(1e-3, 0.15, random),
            log_uniform(5.0, 200.0, random),
        )
    });
    model.delays = Delays {
        median: deviation / shape,
        deviation: shape,
        tail,
    };
    model.processes = if random.random() {
        log_uniform(0.01, 0.4, random)
    } else {
        0.0
    };
    if matches!(kind, 3..9) && step <= 4e6 && random.random_bool(0.15) {
        model.name += " that grows";
        model.grows = Some((COARSER_FROM_NS, f64::from(random.random_range(2..5))));
    }
    if random.random_bool(0.3) {
        model.ppm = random.random_range(-50.0..1_100.0);
    }
    if random.random_bool(0.3) {
        model.run_delay = Some((
            log_uniform(0.005, 0.1, random),
            log_uniform(1e4, 1e6, random),
        ));
    }
    if kind < 3 && random.random_bool(0.3) {
        model.early = Some((
            log_uniform(0.01, 0.3, random),
            log_uniform(1e4, 4e5, random),
        ));
    }
    if kind == 10 {
        model.ppm = log_uniform(LOADED_ERROR_PPM[0], LOADED_ERROR_PPM[1], random);
        model.run_delay = Some((
            log_uniform(0.05, 0.15, random),
            log_uniform(1e5, 3e6, random),
        ));
    }
    (model.activity, model.spins) = match random.random_range(0..10) {
        0 => (WaitActivity::Spins, 0.0),
        1 => (WaitActivity::Hybrid, random.random_range(2e4..9e4)),
        _ => (WaitActivity::Blocks, 0.0),
    };
    model
}

fn periodic_timer(random: &mut StdRng) -> TickCase {
    let period_ns =
        [250_000, 1_000_000, 1_300_000, 4_000_000, 10_000_000][random.random_range(0..5)];
    let period = period_ns as f64;
    let skip = |random: &mut StdRng| Missed::Skip {
        counted: random.random(),
    };
    let (name, missed) = match random.random_range(0..8) {
        0 | 1 => ("burst", Missed::Burst),
        2..6 => ("skip", skip(random)),
        _ => ("relative loop", Missed::Relative),
    };
    let relative = missed == Missed::Relative;
    // The lateness of each wait adds to the period of a relative loop.
    let late = period
        * if relative {
            log_uniform(0.005, 0.17, random)
        } else {
            log_uniform(0.002, 0.1, random)
        };
    let shape = random.random_range(0.05..0.9);
    // The jitter is at most about a tenth of the period.
    let median = late.min(0.1 * period / shape);
    let tail = random.random_bool(0.5).then(|| {
        let share = log_uniform(1e-3, 0.15, random);
        (
            share,
            2.0 + log_uniform(
                0.1,
                (0.2 * period / median / share.max(0.05)).max(0.2),
                random,
            ),
        )
    });
    let grid = missed.keeps_its_grid();
    let model = TickModel {
        name: name.into(),
        missed,
        ppm: random.random_range(-60.0..60.0),
        delays: Delays {
            median,
            deviation: shape,
            tail,
        },
        lost: if grid && random.random_bool(0.4) {
            log_uniform(5e-4, 0.01, random)
        } else {
            0.0
        },
    };
    TickCase {
        model,
        period_ns,
        seed: random.random(),
    }
}
