//! Runs of one simulated machine, made from a kept report: the core runs at another frequency each
//! time, the costs follow it, and what the runs of each timer differ by is drawn once.

use std::ops::Range;
use std::path::Path;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use timermeter::model::{Cycles, Following, Interval, ReadsBy, Report, Status, TimerRow};
use timermeter::quality::{COST_EXPONENT, RESOLUTION_EXPONENT, SPREAD_EXPONENT, quality};
use timermeter::statistics::{CONFIDENCE, student_quantile};

/// Fresh processes of a timer.
const PROCESSES: usize = 5;
/// Standard deviation of what a process sees: of the logarithm of a cost, of the logit of a spread,
/// of the logarithm of a step.
const OBSERVED_COST: Range<f64> = 0.005..0.03;
const OBSERVED_SPREAD: f64 = 0.1;
const OBSERVED_STEP: f64 = 1e-4;

/// What runs differ by: standard deviations of logarithms.
pub struct Scatter {
    /// Of the frequency of the core.
    pub core: f64,
    /// Of the costs in cycles of a timer that is read in user mode: each timer has its own, drawn
    /// from these.
    pub in_user_mode: Range<f64>,
    /// Of a timer that the kernel answers.
    pub by_kernel: Range<f64>,
}

/// A change of one timer: by which share its calls take more.
#[derive(Clone, Copy)]
pub struct Planted<'a> {
    pub timer: &'a str,
    pub share: f64,
}

/// A machine, its runs drawn from a seed.
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

    /// The report of the run of this number, with a change or without.
    pub fn run(&self, number: u64, scatter: &Scatter, planted: Option<Planted>) -> Report {
        let mut run = StdRng::seed_from_u64(self.seed.wrapping_mul(1 << 20) ^ (number + 1));
        // What the runs of a timer differ by is the same in each.
        let mut own = StdRng::seed_from_u64(self.seed);
        let mut report = self.base.clone();
        let base_hz = report
            .frequency
            .effective_hz
            .expect("the kept report has a frequency")
            .value;
        let hz = base_hz * (scatter.core * normal(&mut run)).exp();
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
            let deviation = own.random_range(range.start.ln()..range.end.ln()).exp();
            let shift = share.ln_1p() + deviation * normal(&mut run) + (base_hz / hz).ln();
            let observed_cost = own.random_range(OBSERVED_COST);
            // A run in which the core kept its frequency cannot tell.
            let follows = own.random::<bool>().then_some(Following::Core);
            self.observe(row, shift, observed_cost, hz, &mut run);
            row.cost
                .as_mut()
                .expect("only rows with a cost are kept")
                .follows = follows;
        }
        report
    }

    fn observe(
        &self,
        row: &mut TimerRow,
        shift: f64,
        observed_cost: f64,
        hz: f64,
        run: &mut StdRng,
    ) {
        let known = |[value, low, high]: [f64; 3]| Some(Interval { value, low, high });
        let (Some(cost_ns), Some(step_ns)) = (row.cost_ns, row.resolution_ns) else {
            return;
        };
        let truth = cost_ns.value.ln() + shift;
        let costs = self.vary(truth, observed_cost, run).map(f64::exp);
        row.cost_ns = known(costs);
        row.cost_cycles = known(costs.map(|ns| ns * hz / 1e9));
        let share = row.spread.expect("a spread").value.clamp(0.01, 0.999);
        let shares = self.vary((share / (1.0 - share)).ln(), OBSERVED_SPREAD, run);
        let shares = shares.map(|logit| 1.0 / (1.0 + (-logit).exp()));
        row.spread = known(shares);
        let steps = self
            .vary(step_ns.value.ln(), OBSERVED_STEP, run)
            .map(f64::exp);
        row.resolution_ns = known(steps);
        let cycles = |ns: f64| Cycles(ns * hz / 1e9);
        let value = quality(cycles(steps[0]), cycles(costs[0]), shares[0]).expect("a Quality");
        let part =
            |exponent: f64, part: [f64; 3]| (exponent * (part[2] / part[1]).ln() / 2.0).powi(2);
        let half = part(COST_EXPONENT, costs)
            + part(SPREAD_EXPONENT, shares)
            + part(RESOLUTION_EXPONENT, steps);
        let half = half.sqrt();
        row.quality = known([value, value * (-half).exp(), (value * half.exp()).min(1.0)]);
        if let Some(seen) = &mut row.observations {
            seen.processes = PROCESSES as u32;
        }
    }

    /// The mean of what the processes observe, with Student's interval.
    fn vary(&self, truth: f64, deviation: f64, random: &mut StdRng) -> [f64; 3] {
        let each: [f64; PROCESSES] = std::array::from_fn(|_| deviation * normal(random));
        let count = PROCESSES as f64;
        let mean = each.iter().sum::<f64>() / count;
        let squares: f64 = each.iter().map(|value| (value - mean).powi(2)).sum();
        let half = self.quantile * (squares / (count - 1.0) / count).sqrt();
        [truth + mean, truth + mean - half, truth + mean + half]
    }
}

/// A number of the normal law, by Box and Muller.
fn normal(random: &mut StdRng) -> f64 {
    let [one, other]: [f64; 2] = std::array::from_fn(|_| random.random());
    (-2.0 * (1.0 - one).ln()).sqrt() * (std::f64::consts::TAU * other).cos()
}
