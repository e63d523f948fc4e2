//! Simulates machines, and runs of timermeter on them: reports of native clocks, whose costs vary
//! between processes and between runs as real ones do. Nothing here depends on the method of
//! `compare`. The constants are *Seen*, as those of `variation`.

use std::path::Path;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Exp1};

use timermeter::commands::CommandError;
use timermeter::model::{Cycles, Finding, Following, Interval, Report, Severity, Status, TimerRow};
use timermeter::quality::{COST_EXPONENT, RESOLUTION_EXPONENT, SPREAD_EXPONENT, quality};
use timermeter::report;
use timermeter::statistics::{CONFIDENCE, mean, median, standard_deviation, student_quantile};

use super::variation::{
    ALL_DISTURBED, ClockFamily, Disturbances, PROCESSES, RESTLESS, Variation, in_range, normal,
};

/// The kept reports that the clocks of the machines are taken from.
const PLATFORMS: [&str; 4] = [
    "amd-epyc-zen-4-kvm-debian-12/2026-11-26",
    "amd-epyc-zen-5-kvm-debian-12/2026-11-23",
    "intel-xeon-emerald-rapids-kvm-debian-12/2026-11-25",
    "intel-xeon-family-6-model-167-kvm-debian-12/2026-11-25",
];
/// The share of runs in which neighbours on the host disturb few processes, where there are also
/// restless runs.
const SLIGHTLY_RESTLESS: f64 = 1.0 / 12.0;
/// The range of the standard deviation of the core frequency between runs of a machine.
const FREQUENCY_DEVIATIONS: [f64; 2] = [0.005, 0.1];
/// The range of the standard deviation between calm runs of a clock next to its family.
const OWN_DEVIATIONS: [f64; 2] = [0.0005, 0.005];
/// The costs in cycles below which clocks move by whole fractions of a cycle, with the ranges of
/// the logarithm of their change in the most restless run.
const CHEAP: [(f64, [f64; 2]); 2] = [(8.0, [-0.06, 0.06]), (16.0, [-0.05, 0.25])];
/// This fraction of a cycle.
const CYCLE_FRACTION: f64 = 0.2;
/// The share of CPU-time clocks that are cheaper in some processes.
const TWO_STATES: f64 = 0.6;
/// The probability that one of the kernel's clocks costs more or less in all processes of a run, as
/// if its code were laid out differently, and by how much. No clock that is read in user mode did.
const OTHER_LAYOUT: (f64, f64) = (0.02, 0.05);
/// The share of clocks whose cost is reported not to follow the core, although it does.
const WRONG_FOLLOWING: f64 = 0.02;

/// What varies between the runs of a comparison.
#[derive(Clone, Copy, Debug, Default)]
pub struct Conditions {
    /// The share of runs in which neighbours on the host disturb many processes.
    pub restless: f64,
    /// The standard deviation of what the kernel's clocks of a run have in common and its processes
    /// do not show.
    pub common: f64,
    /// The standard deviation between blocks of what the kernel's clocks have in common in all runs
    /// of a block.
    pub between_blocks: f64,
}

/// When a run takes place.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// The number of the run; runs take five minutes.
    pub number: u32,
    /// The number of its block.
    pub block: u64,
}

/// A clock of a machine.
struct Clock {
    family: ClockFamily,
    /// The amortised cost in cycles.
    cycles: f64,
    /// The standard deviation between calm runs next to its family.
    own_deviation: f64,
    /// Whether the clock is cheaper in some processes.
    has_two_states: bool,
}

/// A simulated machine; its seed determines all its runs.
pub struct Machine<'a> {
    seed: u64,
    base: &'a Report,
    hz: f64,
    clocks: Vec<Clock>,
    frequency_deviation: f64,
    /// The standard deviation of each family between calm runs.
    family_deviations: [f64; 4],
}

/// What the clocks of a run have in common.
struct RunState {
    hz: f64,
    /// From 0 (calm) to 1.
    restlessness: f64,
    /// The decrease of spreads, relative to its mean in the most restless run.
    spread_dip: f64,
    /// The logarithm of the change of each family.
    families: [f64; 4],
    /// The mean share of processes in which clocks with two states are cheaper.
    cheaper: f64,
    /// The clock with another code layout, and the logarithm of its change.
    other_layout: Option<(usize, f64)>,
}

/// Reads the kept reports, without what `compare` does not use.
///
/// # Errors
/// If a report cannot be read or lacks its core frequency.
pub fn platforms() -> Result<Vec<Report>, CommandError> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reports");
    let read = |name: &&str| {
        let path = folder.join(name).join("report.json");
        let mut report = report::read(&path).map_err(|e| CommandError::Failed(e.to_string()))?;
        report
            .timers
            .retain(|row| row.status == Status::Ok && row.cost.is_some() && row.spread.is_some());
        report.timers.iter_mut().for_each(|row| row.figures = None);
        let missing = || CommandError::Failed(format!("{name} has no core frequency"));
        report.frequency.effective_hz.ok_or_else(missing)?;
        Ok(report)
    };
    PLATFORMS.iter().map(read).collect()
}

impl<'a> Machine<'a> {
    /// Draws a machine with the clocks of one of the reports.
    #[must_use]
    pub fn new(platforms: &'a [Report], seed: u64) -> Self {
        let random = &mut StdRng::seed_from_u64(seed);
        let base = &platforms[random.random_range(0..platforms.len())];
        let hz = base.frequency.effective_hz.map_or(3e9, |hz| hz.value);
        let clock = |row: &TimerRow| Clock {
            family: ClockFamily::of(row),
            has_two_states: ClockFamily::of(row) == ClockFamily::CpuTime
                && random.random_bool(TWO_STATES),
            cycles: row.amortised_ns.map_or(1.0, |ns| (ns * hz / 1e9).max(1.0)),
            own_deviation: in_range(OWN_DEVIATIONS, random),
        };
        let clocks = base.timers.iter().map(clock).collect();
        Self {
            seed,
            base,
            hz,
            clocks,
            frequency_deviation: in_range(FREQUENCY_DEVIATIONS, random),
            family_deviations: ClockFamily::ALL
                .map(|family| in_range(family.variation().calm, random)),
        }
    }

    /// The clocks with their families and their costs in nanoseconds.
    pub fn clocks(&self) -> impl Iterator<Item = (&str, ClockFamily, f64)> {
        let rows = self.base.timers.iter().zip(&self.clocks);
        rows.map(|(row, clock)| (row.id.as_str(), clock.family, clock.cycles / self.hz * 1e9))
    }

    /// Simulates a run. `changes` is the share by which the cost of each clock is changed.
    #[must_use]
    pub fn run(&self, moment: Moment, conditions: Conditions, changes: &[f64]) -> Report {
        let own_seed = self.seed.wrapping_mul(1 << 20) ^ u64::from(moment.number + 1);
        let random = &mut StdRng::seed_from_u64(own_seed);
        let state = self.draw_state(moment.block, conditions, random);
        let mut report = self.base.clone();
        let around = Interval::with_ends(state.hz, Some((state.hz * 0.998, state.hz * 1.002)));
        let frequency = &mut report.frequency;
        [frequency.effective_hz, frequency.cycles_hz] = [Some(around); 2];
        let minutes = 5 * moment.number;
        let (days, hours) = (1 + minutes / 1440, minutes / 60 % 24);
        report.created = format!("2026-11-{days:02}T{hours:02}:{:02}:00Z", minutes % 60);
        for (at, row) in report.timers.iter_mut().enumerate() {
            self.measure(at, changes[at], row, &state, random);
        }
        report
    }

    fn draw_state(&self, block: u64, conditions: Conditions, random: &mut StdRng) -> RunState {
        let kind: f64 = random.random();
        let restlessness = if kind < conditions.restless {
            random.random_range(RESTLESS..1.0)
        } else if conditions.restless > 0.0 && kind < conditions.restless + SLIGHTLY_RESTLESS {
            random.random_range(0.0..RESTLESS)
        } else {
            0.0
        };
        let block_seed = self.seed.wrapping_mul(1 << 20) ^ ((1 << 19) + block);
        let of_block = conditions.between_blocks * normal(&mut StdRng::seed_from_u64(block_seed));
        let kernel = conditions.common * normal(random) + of_block;
        let families = ClockFamily::ALL.map(|family| {
            let [low, high] = family.variation().restless;
            let common = if family.is_of_kernel() { kernel } else { 0.0 };
            let deviation = self.family_deviations[family as usize];
            deviation * normal(random) + restlessness * random.random_range(low..high) + common
        });
        RunState {
            hz: self.hz * (self.frequency_deviation * normal(random)).exp(),
            restlessness,
            spread_dip: restlessness.sqrt() * random.random_range(0.5..1.3),
            families,
            cheaper: 0.6 * random.random::<f64>().powi(10),
            other_layout: random.random_bool(OTHER_LAYOUT.0).then(|| {
                let change = OTHER_LAYOUT.1.ln_1p();
                let sign = if random.random() { 1.0 } else { -1.0 };
                let is_of_kernel = |at: &usize| self.clocks[*at].family.is_of_kernel();
                let kernel: Vec<usize> = (0..self.clocks.len()).filter(is_of_kernel).collect();
                (kernel[random.random_range(0..kernel.len())], sign * change)
            }),
        }
    }

    /// Sets the figures of a row to those that the processes of a run observe.
    fn measure(
        &self,
        at: usize,
        change: f64,
        row: &mut TimerRow,
        state: &RunState,
        random: &mut StdRng,
    ) {
        let clock = &self.clocks[at];
        let restlessness = state.restlessness;
        let own_deviation = clock
            .own_deviation
            .hypot(clock.family.variation().own * restlessness);
        let mut log =
            state.families[clock.family as usize] + own_deviation * normal(random) + change.ln_1p();
        log += (state.other_layout)
            .filter(|(other, _)| *other == at)
            .map_or(0.0, |(_, change)| change);
        let mut cycles = clock.cycles * log.exp();
        let cheap = CHEAP.into_iter().find(|(most, _)| clock.cycles < *most);
        if let Some((_, [low, high])) = cheap {
            cycles *= (restlessness.sqrt() * random.random_range(low..high)).exp();
            cycles += CYCLE_FRACTION * f64::from([-1, 0, 0, 0, 1][random.random_range(0..5)]);
        }
        let is_shared = restlessness > RESTLESS && random.random_bool(ALL_DISTURBED);
        let cheaper = if clock.has_two_states {
            state.cheaper * random.random_range(0.3..1.5)
        } else {
            0.0
        };
        let costs = clock.family.processes(
            cycles,
            Disturbances {
                restlessness,
                all: is_shared,
                cheaper,
            },
            random,
        );
        let disturbed = PROCESSES - costs.len();
        if let Some(observations) = &mut row.observations {
            observations.processes = PROCESSES as u32;
            observations.disturbed_processes = disturbed as u32;
        }
        row.findings.retain(|found| found.code != "restless-core");
        row.findings.extend(is_shared.then(|| Finding {
            code: "restless-core".into(),
            severity: Severity::Note,
            values: Default::default(),
        }));
        if let Some(cost) = &mut row.cost {
            cost.follows = Some(match random.random() {
                ..WRONG_FOLLOWING => Following::Device,
                ..0.5 => Following::Core,
                _ => Following::Unknown,
            });
        }
        let amortised = median(&costs).unwrap_or(cycles);
        let kept = row.cost_ns.unwrap_or(Interval::exact(1.0));
        let ratio = kept.value / row.amortised_ns.unwrap_or(kept.value);
        let deviation = standard_deviation(&costs).unwrap_or(0.0);
        let count = costs.len();
        let half = student_quantile(CONFIDENCE, count - 1) * deviation / (count as f64).sqrt();
        let centre = mean(&costs).unwrap_or(cycles);
        // The systematic errors of a report are those of the kept one.
        let ends = kept.ends().map(|(low, high)| {
            let below = half.hypot(centre * (1.0 - low / kept.value));
            let above = half.hypot(centre * (high / kept.value - 1.0));
            ((centre - below).max(0.0), centre + above)
        });
        let cost = Interval::with_ends(centre, ends).scaled(ratio);
        let ns = 1e9 / state.hz;
        row.cost_cycles = Some(cost);
        row.cost_ns = Some(cost.scaled(ns));
        row.amortised_ns = Some(amortised * ns);
        if let Some(distribution) = &mut row.distribution {
            distribution.between_ns = Some(deviation * ratio * ns);
            distribution.process_ns = costs.iter().map(|cycles| cycles * ns).collect();
            distribution.process_cycles = costs;
        }
        set_spread(row, clock.family.variation(), state.spread_dip, random);
        set_quality(row, state.hz);
    }
}

/// Lowers the spread of a row by what interruptions do to it in a run: `dip` is the decrease in
/// restless runs, relative to its mean in the most restless run. A clock whose calls are all within
/// one resolution keeps its spread.
fn set_spread(row: &mut TimerRow, variation: &Variation, dip: f64, random: &mut StdRng) {
    let Some(spread) = row.spread.filter(|spread| spread.value < 0.9999) else {
        return;
    };
    let [calm, restless] = variation.spread;
    let restless = restless * dip * random.random_range(0.6..1.4);
    let fall: f64 = Exp1.sample(random);
    let angle = spread.value.sqrt().asin() - calm * fall - restless;
    let ends = [
        angle - 3.0 * calm - 0.2 * restless,
        angle + 0.7 * calm + 0.8 * restless,
    ];
    let [value, low, high] = [angle, ends[0], ends[1]]
        .map(|angle| angle.clamp(0.1, std::f64::consts::FRAC_PI_2).sin().powi(2));
    row.spread = Some(Interval { value, low, high });
}

/// Computes the Quality of a row from its other figures.
fn set_quality(row: &mut TimerRow, hz: f64) {
    let (Some(step_ns), Some(cost), Some(spread)) =
        (row.resolution_ns, row.cost_cycles, row.spread)
    else {
        return;
    };
    let step = step_ns.scaled(hz / 1e9);
    let Some(value) = quality(Cycles(step.value), Cycles(cost.value), spread.value) else {
        return;
    };
    let squares = [
        (COST_EXPONENT, cost),
        (SPREAD_EXPONENT, spread),
        (RESOLUTION_EXPONENT, step),
    ]
    .map(|(exponent, figure)| (exponent * (figure.high / figure.low.max(1e-9)).ln() / 2.0).powi(2));
    let half = squares.iter().sum::<f64>().sqrt();
    let ends = (value * (-half).exp(), (value * half.exp()).min(1.0));
    row.quality = Some(Interval::with_ends(value, Some(ends)));
}
