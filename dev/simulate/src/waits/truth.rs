//! What is true of simulated timers that wait: the mean over processes of what a process of
//! infinite length would show, by many draws of the declared laws.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use simulated::{REFERENCE_ID, TickModel, VirtualTicks, WaitModel};
use timers::Answer;
use timers::waits::{Expiration, Means, WaitSubject};

use timermeter::statistics::{mean, quantile, sorted};

/// Draws: the median is known to a hundredth of what its intervals are wide, the 99.9th percentile
/// to a tenth.
const DRAWS: usize = 100_000;
/// What reading the reference takes in virtual worlds, in nanoseconds.
const READ: f64 = 20.0;

/// Quantities of waits of one length, sorted.
pub(super) struct Waits {
    late: Vec<f64>,
    timers_part: Vec<f64>,
    cpu: Vec<f64>,
}

impl Waits {
    /// Draws of waits of this length.
    pub fn draw(model: &WaitModel, request_ns: f64, seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let base = model.base * (model.processes.powi(2) / 2.0).exp();
        let mut draws = Self {
            late: Vec::new(),
            timers_part: Vec::new(),
            cpu: Vec::new(),
        };
        for _ in 0..DRAWS {
            // Anywhere on the grid.
            let now = random.random_range(0.0..1.0) * model.grid.unwrap_or(1.0) * 64.0;
            let (late, waited) = model.late(&mut random);
            let passed = model.due(now, request_ns, 0.0) - now + base + late;
            draws.late.push(passed - request_ns + READ);
            draws.timers_part.push(passed - request_ns + READ - waited);
            draws.cpu.push(model.cpu_time(passed, waited, &mut random));
        }
        let Self {
            late,
            timers_part,
            cpu,
        } = draws;
        Self {
            late: sorted(&late),
            timers_part: sorted(&timers_part),
            cpu: sorted(&cpu),
        }
    }

    /// A quantile of lateness, in nanoseconds.
    pub fn late(&self, probability: f64) -> Option<f64> {
        quantile(&self.late, probability)
    }

    /// Median lateness less run delay, in nanoseconds.
    pub fn timers_part(&self) -> Option<f64> {
        quantile(&self.timers_part, 0.5)
    }

    /// Median CPU time, in nanoseconds.
    pub fn cpu(&self) -> Option<f64> {
        quantile(&self.cpu, 0.5)
    }
}

/// How much CPU time grows with length, a share.
pub(super) fn cpu_slope(model: &WaitModel) -> f64 {
    if model.means == Means::Spins {
        1.0 + model.ppm * 1e-6
    } else {
        0.0
    }
}

/// Whether lateness grows with length by the proportional error alone: chosen lengths are rounded
/// by something else each.
pub(super) fn is_proportional(model: &WaitModel) -> bool {
    model.grows.is_none() && model.rounding.is_none()
}

/// Quantities of a periodic timer, sorted.
pub(super) struct Ticks {
    late: Vec<f64>,
    jitter: Vec<f64>,
    /// How much longer its period is than the one asked for, in ppm.
    pub ppm: f64,
}

impl Ticks {
    /// Of many wake-ups without a stall.
    pub fn draw(model: &TickModel, period_ns: u64, seed: u64) -> Answer<Self> {
        let mut timer = VirtualTicks::new(model, seed);
        let wakeups = timer.periods(REFERENCE_ID, period_ns, DRAWS as u32, &[])?;
        let period = period_ns as f64;
        let own = period * (1.0 + model.ppm * 1e-6);
        let pairs = || wakeups.windows(2).zip(timer.late().windows(2));
        // How many points of the grid lie between two wake-ups follows from how late each was.
        let off = |(two, late): (&[Expiration], &[f64])| {
            let interval = (two[1].at - two[0].at) as f64;
            let points = if model.missed.keeps_its_grid() {
                ((interval - late[1] + late[0]) / own).round()
            } else {
                1.0
            };
            interval - points * period
        };
        let jitter = sorted(pairs().map(|pair| off(pair).abs()).collect::<Vec<_>>());
        if model.missed.keeps_its_grid() {
            let late = sorted(timer.late());
            // Where the grid lies follows from the earliest wake-ups.
            let grid = quantile(&late, 0.01).unwrap_or(0.0);
            return Ok(Self {
                late: late.iter().map(|late| late - grid).collect(),
                jitter,
                ppm: model.ppm,
            });
        }
        let late: Vec<f64> = pairs().map(off).collect();
        let ppm = mean(&late).unwrap_or(0.0) / period * 1e6;
        Ok(Self {
            late: sorted(&late),
            jitter,
            ppm,
        })
    }

    /// A quantile of lateness to the grid, in nanoseconds.
    pub fn late(&self, probability: f64) -> Option<f64> {
        quantile(&self.late, probability)
    }

    /// A quantile of jitter, in nanoseconds.
    pub fn jitter(&self, probability: f64) -> Option<f64> {
        quantile(&self.jitter, probability)
    }
}
