//! Computes the true figures of simulated sleep primitives and periodic timers, averaged over
//! processes, from many draws of their declared distributions.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use simulated::{REFERENCE_ID, TickModel, VirtualTicks, WaitModel};
use timers::Answer;
use timers::Subject;
use timers::waits::{Start, Wakeups};

use estimators::statistics::{mean, quantile, sorted};

/// The number of draws. Their sampling error is a hundredth of the width of a typical interval for
/// the median.
const DRAWS: usize = 100_000;
/// The cost of a read of the simulated reference in nanoseconds.
const READ_COST_NS: f64 = 20.0;

/// Draws for waits of one length, in ascending order: lateness and CPU time, in nanoseconds.
pub(super) struct TrueWaits {
    late: Vec<f64>,
    cpu: Vec<f64>,
}

impl TrueWaits {
    /// Draws waits of the requested length in nanoseconds.
    pub fn draw(model: &WaitModel, request_ns: f64, seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let base = model.base * (model.processes.powi(2) / 2.0).exp();
        let mut draws = Self {
            late: Vec::new(),
            cpu: Vec::new(),
        };
        for _ in 0..DRAWS {
            // A wait begins at a random point of the grid.
            let now = random.random_range(0.0..1.0) * model.grid.unwrap_or(1.0) * 64.0;
            let (late, waited) = model.draw_lateness(&mut random);
            let passed = model.due(now, request_ns, 0.0) - now + base + late;
            draws.late.push(passed - request_ns + READ_COST_NS);
            draws.cpu.push(model.cpu_time(passed, waited, &mut random));
        }
        Self {
            late: sorted(&draws.late),
            cpu: sorted(&draws.cpu),
        }
    }

    /// Returns a quantile of the lateness in nanoseconds.
    pub fn late(&self, probability: f64) -> Option<f64> {
        quantile(&self.late, probability)
    }

    /// Returns the median CPU time in nanoseconds.
    pub fn cpu(&self) -> Option<f64> {
        quantile(&self.cpu, 0.5)
    }
}

/// Whether the proportional error alone makes lateness grow with length. With rounding, each length
/// has a rounding error of its own; with a granularity that grows, the lateness of long
/// waits grows with it.
pub(super) fn is_proportional(model: &WaitModel) -> bool {
    model.grows.is_none() && model.rounding.is_none()
}

/// Draws for a periodic timer, in ascending order: lateness in nanoseconds. A timer without due times
/// is due one period after its previous expiration.
pub(super) struct TruePeriods {
    late: Vec<f64>,
    /// The relative excess of the true period over the requested one, in ppm.
    pub ppm: f64,
}

impl TruePeriods {
    /// Draws many expirations, in processes of `wakeups` each.
    pub fn draw(model: &TickModel, period_ns: u64, wakeups: u32, seed: u64) -> Answer<Self> {
        let period = period_ns as f64;
        let own = period * (1.0 + model.ppm * 1e-6);
        let mut late = Vec::new();
        for process in 0..(DRAWS as u64).div_ceil(wakeups.max(2).into()) {
            let mut timer = VirtualTicks::new(model, seed.wrapping_add(process));
            let Wakeups { start, list, .. } =
                timer.periods(REFERENCE_ID, period_ns, wakeups.max(2))?;
            let since = |from: i64, wakeup: &(i64, u64)| (wakeup.0 - from) as f64;
            if let Start::Between([start, _]) = start {
                // The number of the due time follows from the lateness by the timer's own period.
                let number =
                    |at: usize| ((since(start, &list[at]) - timer.late()[at]) / own).round();
                let each = 0..list.len();
                late.extend(each.map(|at| since(start, &list[at]) - number(at) * period));
            } else {
                let off = list.windows(2).map(|two| since(two[0].0, &two[1]) - period);
                late.extend(off);
            }
        }
        let mut ppm = model.ppm;
        if !model.missed.keeps_its_grid() {
            ppm = mean(&late).unwrap_or(0.0) / period * 1e6;
        }
        Ok(Self {
            late: sorted(&late),
            ppm,
        })
    }

    /// Returns a quantile of the lateness in nanoseconds.
    pub fn late(&self, probability: f64) -> Option<f64> {
        quantile(&self.late, probability)
    }
}
