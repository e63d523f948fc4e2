//! Simulates machines, and runs of timermeter on them: reports of native clocks, whose costs vary
//! between processes and between runs as real ones do. Nothing here depends on the method of
//! `compare`. The constants are *Seen*, as those of `variation`.

use std::path::Path;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use estimators::model::{Estimate, ProcessFigures, Report, Status, TimerRow};
use reporting::report;
use simulated::draw::normal;
use timermeter::commands::CommandError;

use super::neighbours::{Neighbours, Surroundings, start_s};
use super::variation::{ClockFamily, PROCESSES, excess, in_range};

/// The kept reports that the clocks of the machines are taken from.
const PLATFORMS: [&str; 4] = [
    "amd-epyc-zen-4-kvm-debian-12/2026-11-26",
    "amd-epyc-zen-5-kvm-debian-12/2026-11-23",
    "intel-xeon-emerald-rapids-kvm-debian-12/2026-11-25",
    "intel-xeon-family-6-model-167-kvm-debian-12/2026-11-25",
];
/// The range of the standard deviation of the core frequency between runs of a machine.
const FREQUENCY_DEVIATIONS: [f64; 2] = [0.005, 0.1];
/// The range of the standard deviation between calm runs of a clock next to its family.
const OWN_DEVIATIONS: [f64; 2] = [0.0005, 0.005];
/// The cost in cycles below which clocks move by whole fractions of a cycle, and this fraction.
const CHEAP: (f64, f64) = (16.0, 0.2);
/// The share of CPU-time clocks that are cheaper in some processes.
const TWO_STATES: f64 = 0.6;
/// How much cheaper, as a logarithm.
const CHEAPER_STATE: f64 = 0.05;
/// The standard deviation of the cost of a process next to a neighbour, and of the slowdown of a clock
/// relative to that of its family.
const SHARED_NOISE: f64 = 0.03;
const OWN_SLOWDOWN: f64 = 0.15;
/// The probability that one of the kernel's clocks costs more or less in all processes of a run, as
/// if its code were laid out differently, and by how much. No clock that is read in user mode did.
const OTHER_LAYOUT: (f64, f64) = (0.02, 0.05);
/// What varies between the runs of a comparison.
#[derive(Clone, Copy, Debug, Default)]
pub struct Conditions {
    /// The range of the share of the time in which another thread uses the core.
    pub neighbours: [f64; 2],
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
    /// The number of the run; a run starts every minute.
    pub number: u32,
    /// The number of its block.
    pub block: u64,
}

/// A clock of a machine.
struct Clock {
    family: ClockFamily,
    /// The amortised cost in cycles.
    cycles: f64,
    /// The standard deviation between runs next to its family.
    own_deviation: f64,
    /// The logarithm of its slowdown next to a neighbour.
    slowdown: f64,
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
    /// The standard deviation of each family between runs.
    family_deviations: [f64; 4],
    neighbours: Neighbours,
}

/// What the clocks of a run have in common.
struct RunState {
    hz: f64,
    /// The logarithm of the change of each family.
    families: [f64; 4],
    /// The mean share of processes in which clocks with two states are cheaper.
    cheaper: f64,
    /// The clock with another code layout, and the logarithm of its change.
    other_layout: Option<(usize, f64)>,
    /// What each process of each clock observes.
    processes: Vec<Vec<Surroundings>>,
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
        let is_intel = base.platform.cpu.vendor.as_deref() == Some("GenuineIntel");
        let neighbours = Neighbours::new(seed, is_intel, random);
        let clock = |row: &TimerRow| Clock {
            family: ClockFamily::of(row),
            has_two_states: ClockFamily::of(row) == ClockFamily::CpuTime
                && random.random_bool(TWO_STATES),
            cycles: row.amortised_ns.map_or(1.0, |ns| (ns * hz / 1e9).max(1.0)),
            own_deviation: in_range(OWN_DEVIATIONS, random),
            slowdown: neighbours.slowdowns[ClockFamily::of(row) as usize]
                * (OWN_SLOWDOWN * normal(random)).exp(),
        };
        let clocks = base.timers.iter().map(clock).collect();
        Self {
            seed,
            base,
            hz,
            clocks,
            frequency_deviation: in_range(FREQUENCY_DEVIATIONS, random),
            family_deviations: ClockFamily::ALL.map(|family| in_range(family.deviations(), random)),
            neighbours,
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
        let state = self.draw_state(moment, conditions, random);
        let mut report = self.base.clone();
        let around = Estimate::with_ends(state.hz, Some((state.hz * 0.998, state.hz * 1.002)));
        let frequency = &mut report.frequency;
        [frequency.effective_hz, frequency.cycles_hz] = [Some(around); 2];
        let minutes = moment.number;
        let (days, hours) = (1 + minutes / 1440, minutes / 60 % 24);
        report.created = format!("2026-11-{days:02}T{hours:02}:{:02}:00Z", minutes % 60);
        for (at, row) in report.timers.iter_mut().enumerate() {
            self.measure(at, changes[at], row, &state, random);
        }
        report
    }

    fn draw_state(&self, moment: Moment, conditions: Conditions, random: &mut StdRng) -> RunState {
        let block_seed = self.seed.wrapping_mul(1 << 20) ^ ((1 << 19) + moment.block);
        let of_block = conditions.between_blocks * normal(&mut StdRng::seed_from_u64(block_seed));
        let kernel = conditions.common * normal(random) + of_block;
        let families = ClockFamily::ALL.map(|family| {
            let common = if family.is_of_kernel() { kernel } else { 0.0 };
            self.family_deviations[family as usize] * normal(random) + common
        });
        let processes = (0..self.clocks.len()).map(|at| {
            let surroundings = |round| {
                let time = 60.0 * f64::from(moment.number) + start_s(round, at, self.clocks.len());
                self.neighbours.surroundings(time, conditions.neighbours)
            };
            (0..PROCESSES).map(surroundings).collect()
        });
        let processes = processes.collect();
        RunState {
            hz: self.hz * (self.frequency_deviation * normal(random)).exp(),
            families,
            cheaper: 0.6 * random.random::<f64>().powi(10),
            other_layout: random.random_bool(OTHER_LAYOUT.0).then(|| {
                let change = OTHER_LAYOUT.1.ln_1p();
                let sign = if random.random() { 1.0 } else { -1.0 };
                let is_of_kernel = |at: &usize| self.clocks[*at].family.is_of_kernel();
                let kernel: Vec<usize> = (0..self.clocks.len()).filter(is_of_kernel).collect();
                (kernel[random.random_range(0..kernel.len())], sign * change)
            }),
            processes,
        }
    }

    /// Sets the costs of processes, which `compare` judges, to those that the processes of a run observe.
    fn measure(
        &self,
        at: usize,
        change: f64,
        row: &mut TimerRow,
        state: &RunState,
        random: &mut StdRng,
    ) {
        let clock = &self.clocks[at];
        let mut log = state.families[clock.family as usize]
            + clock.own_deviation * normal(random)
            + change.ln_1p();
        log += (state.other_layout)
            .filter(|(other, _)| *other == at)
            .map_or(0.0, |(_, change)| change);
        let mut cycles = clock.cycles * log.exp();
        if clock.cycles < CHEAP.0 {
            cycles += CHEAP.1 * f64::from([-1, 0, 0, 0, 1][random.random_range(0..5)]);
        }
        let cheaper = if clock.has_two_states {
            state.cheaper * random.random_range(0.3..1.5)
        } else {
            0.0
        };
        let process = |(round, around): (usize, &Surroundings)| {
            let disturbed = 1.0 - around.shares[0];
            let mut log = excess(random) + SHARED_NOISE * disturbed.sqrt() * normal(random);
            if random.random_bool(cheaper) {
                log -= CHEAPER_STATE;
            }
            let cycles = cycles * log.exp() * around.slowdown(clock.slowdown);
            ProcessFigures {
                process: Some(round as u32),
                cpu: Some(0),
                core: around.core,
                width: around.width,
                cost_ns: None,
                p99_ns: None,
                amortised_ns: cycles * 1e9 / (state.hz * around.frequency.exp()),
                amortised_cycles: None,
                spread: None,
            }
        };
        let processes = state.processes[at].iter().enumerate();
        row.processes = processes.map(process).collect();
    }
}
