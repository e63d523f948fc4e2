//! Simulates runs of one machine from a kept report. The core frequency differs between runs, and
//! the costs follow it. The variation of each timer between runs is drawn once for the machine.

use std::ops::Range;
use std::path::Path;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use timermeter::model::{Cycles, Following, Interval, ReadsBy, Report, Status, TimerRow};
use timermeter::quality::{COST_EXPONENT, RESOLUTION_EXPONENT, SPREAD_EXPONENT, quality};
use timermeter::statistics::{CONFIDENCE, student_quantile};

/// Number of processes that measure a timer.
const PROCESSES: usize = 5;
/// Standard deviation of the logarithm of a cost between processes; each timer draws its own.
const COST_DEVIATIONS: Range<f64> = 0.005..0.03;
/// Standard deviation of the logit of a spread between processes.
const SPREAD_DEVIATION: f64 = 0.1;
/// Standard deviation of the logarithm of a step between processes.
const STEP_DEVIATION: f64 = 1e-4;

/// The variation between runs, as standard deviations of logarithms.
pub struct Scatter {
    /// For the core frequency.
    pub core_frequency: f64,
    /// For the cost in cycles of a timer that is read in user mode; each timer draws its own from
    /// this range.
    pub in_user_mode: Range<f64>,
    /// For the cost in cycles of a timer that the kernel reads; each timer draws its own from this
    /// range.
    pub by_kernel: Range<f64>,
}

/// A change of the cost of one timer, as a share of its cost.
#[derive(Clone, Copy)]
pub struct PlantedChange<'a> {
    pub timer: &'a str,
    pub share: f64,
}

/// A simulated machine; its seed determines all its runs.
pub struct Machine {
    seed: u64,
    base: Report,
    quantile: f64,
}

impl Machine {
    pub fn new(seed: u64) -> Self {
        let path = "../../reports/amd-epyc-zen-5-kvm-debian-12/2026-11-23/report.json";
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        let mut base = timermeter::report::read(&path).expect("a kept report");
        base.timers
            .retain(|row| row.status == Status::Ok && row.cost.is_some());
        let quantile = student_quantile(CONFIDENCE, PROCESSES - 1);
        Self {
            seed,
            base,
            quantile,
        }
    }

    pub fn timers(&self) -> impl ExactSizeIterator<Item = &str> {
        self.base.timers.iter().map(|row| row.id.as_str())
    }

    /// Simulates the run with this number, with the planted change if there is one.
    pub fn run(&self, number: u64, scatter: &Scatter, planted: Option<PlantedChange>) -> Report {
        let mut run_random = StdRng::seed_from_u64(self.seed.wrapping_mul(1 << 20) ^ (number + 1));
        // The same seed in each run gives a timer the same variation in all of them.
        let mut timer_random = StdRng::seed_from_u64(self.seed);
        let mut report = self.base.clone();
        let base_hz = report
            .frequency
            .effective_hz
            .expect("the kept report has a frequency")
            .value;
        let hz = base_hz * (scatter.core_frequency * normal(&mut run_random)).exp();
        let frequency = &mut report.frequency;
        let around = Interval::with_ends(hz, Some((hz * 0.998, hz * 1.002)));
        [frequency.effective_hz, frequency.cycles_hz] = [Some(around); 2];
        report.created = format!("2026-11-20T12:{:02}:{:02}Z", number / 60 % 60, number % 60);
        for row in &mut report.timers {
            let share = planted
                .filter(|change| change.timer == row.id)
                .map_or(0.0, |change| change.share);
            let reads_by = row
                .properties
                .as_ref()
                .and_then(|properties| properties.reads_by);
            let in_user_mode = matches!(reads_by, Some(ReadsBy::Instruction | ReadsBy::Vdso));
            let range = if in_user_mode {
                &scatter.in_user_mode
            } else {
                &scatter.by_kernel
            };
            let deviation = timer_random
                .random_range(range.start.ln()..range.end.ln())
                .exp();
            let shift = share.ln_1p() + deviation * normal(&mut run_random) + (base_hz / hz).ln();
            let observed_cost = timer_random.random_range(COST_DEVIATIONS);
            // Half of the timers get `None`, as after a run whose core kept its frequency.
            let follows = timer_random.random::<bool>().then_some(Following::Core);
            self.observe(row, shift, observed_cost, hz, &mut run_random);
            row.cost
                .as_mut()
                .expect("only rows with a cost are kept")
                .follows = follows;
        }
        report
    }

    /// Sets the figures of a row to those that the processes of a run observe. `shift` is added to
    /// the logarithm of the true cost, and `hz` is the core frequency of the run.
    fn observe(
        &self,
        row: &mut TimerRow,
        shift: f64,
        observed_cost: f64,
        hz: f64,
        random: &mut StdRng,
    ) {
        let interval = |[value, low, high]: [f64; 3]| Some(Interval { value, low, high });
        let (Some(cost_ns), Some(step_ns)) = (row.cost_ns, row.resolution_ns) else {
            return;
        };
        let truth = cost_ns.value.ln() + shift;
        let costs = self.vary(truth, observed_cost, random).map(f64::exp);
        row.cost_ns = interval(costs);
        row.cost_cycles = interval(costs.map(|ns| ns * hz / 1e9));
        let share = row.spread.expect("a spread").value.clamp(0.01, 0.999);
        let shares = self.vary((share / (1.0 - share)).ln(), SPREAD_DEVIATION, random);
        let shares = shares.map(|logit| 1.0 / (1.0 + (-logit).exp()));
        row.spread = interval(shares);
        let steps = self
            .vary(step_ns.value.ln(), STEP_DEVIATION, random)
            .map(f64::exp);
        row.resolution_ns = interval(steps);
        let cycles = |ns: f64| Cycles(ns * hz / 1e9);
        let value = quality(cycles(steps[0]), cycles(costs[0]), shares[0]).expect("a Quality");
        let squared_half_width = |exponent: f64, figure: [f64; 3]| {
            (exponent * (figure[2] / figure[1]).ln() / 2.0).powi(2)
        };
        let half = squared_half_width(COST_EXPONENT, costs)
            + squared_half_width(SPREAD_EXPONENT, shares)
            + squared_half_width(RESOLUTION_EXPONENT, steps);
        let half = half.sqrt();
        row.quality = interval([value, value * (-half).exp(), (value * half.exp()).min(1.0)]);
        if let Some(observations) = &mut row.observations {
            observations.processes = PROCESSES as u32;
        }
    }

    /// Draws one observation for each process. Returns their mean and the ends of its Student
    /// interval.
    fn vary(&self, truth: f64, deviation: f64, random: &mut StdRng) -> [f64; 3] {
        let each: [f64; PROCESSES] = std::array::from_fn(|_| deviation * normal(random));
        let count = PROCESSES as f64;
        let mean = each.iter().sum::<f64>() / count;
        let squares: f64 = each.iter().map(|value| (value - mean).powi(2)).sum();
        let half = self.quantile * (squares / (count - 1.0) / count).sqrt();
        [truth + mean, truth + mean - half, truth + mean + half]
    }
}

/// Draws from the standard normal distribution (Box and Muller).
fn normal(random: &mut StdRng) -> f64 {
    let [first, second]: [f64; 2] = std::array::from_fn(|_| random.random());
    (-2.0 * (1.0 - first).ln()).sqrt() * (std::f64::consts::TAU * second).cos()
}
