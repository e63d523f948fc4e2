//! Made-up files of durations that a clock of known step measured, as programs print them, and the
//! judgement of what is found in them.

use std::fmt::Write as _;

use judgement::samples::{JudgedDurations, judge};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use reporting::durations::{TimeUnit, parse};
use reporting::parallel;
use simulated::draw::{exponential, log_uniform, normal};
use timers::Answer;

use crate::tally::{Among, Bound, Judged, Question, Requirement};

/// The step of seconds since 1970 as floating-point numbers, in nanoseconds.
const FLOATING_STEP: f64 = 1e9 / 4_194_304.0;

/// The number of durations in a file.
const VALUES: usize = 2_000;

/// The kinds of files.
pub const KINDS: [&str; 24] = [
    "known counter, whole ns",
    "all digits",
    "fixed decimals",
    "3 to 9 digits",
    "scaled to whole ns",
    "constant subtracted",
    "two modes",
    "heavy tail",
    "outliers",
    "drift",
    "many zeros",
    "100-ns ticks in µs",
    "seconds since 1970",
    "slewed by NTP",
    "batches of equal size",
    "even multiples",
    "batches of any size",
    "few values",
    "one value",
    "two precisions",
    "two clocks",
    "no step, all digits",
    "no step, rounded",
    "no step, narrow modes",
];

/// The kinds from which on a step cannot always be identified.
const HARD_KINDS: usize = 15;

/// A made-up file.
pub struct File {
    /// Its text: a number a line.
    pub text: String,
    /// The unit of the numbers.
    pub unit: TimeUnit,
    /// The step in nanoseconds; 0 without a step.
    pub step: f64,
    /// Whether rounding is finer than a quarter of the step, the scatter is below three steps, and at
    /// least three different multiples occur: two durations lie on many grids.
    pub is_clear: bool,
}

/// What is required of the answers: of all, and of those about files whose step can be found.
pub const REQUIRED: [Requirement; 2] = [
    Requirement(Question::Answer(WRONG), Among::All, Bound::AtMost(0.01)),
    Requirement(Question::Answer(CLEAR), Among::All, Bound::AtLeast(0.95)),
];
/// The step, or the limit of the step, is not that of the clock.
const WRONG: &str = "wrong";
/// The step is found, which can be.
const CLEAR: &str = "clear step found";

/// Judges `count` files of each kind.
///
/// # Errors
/// Never.
pub fn judge_files(count: usize, seed: u64) -> Answer<Vec<Judged>> {
    let kinds: Vec<usize> = (0..KINDS.len()).collect();
    let judged = parallel::map(&kinds, |&kind| {
        let mut random = StdRng::seed_from_u64(seed.wrapping_mul(1_000) + kind as u64);
        let one = |_| File::made(kind, &mut random).compared(kind);
        (0..count).map(one).collect::<Vec<_>>()
    });
    Ok(judged.concat())
}

impl File {
    /// Compares what is found in the file with the truth.
    fn compared(&self, kind: usize) -> Judged {
        /// The largest error of an exact step or limit, as a share. *Numerical*.
        const ERROR: f64 = 1e-6;
        let found = self.judged();
        let is_right = match (found.step_ns, found.step_at_most_ns) {
            (Some(step), _) => {
                let off = (step.value - self.step).abs();
                off <= step.half_width() + ERROR * self.step && step.half_width() < 0.1 * step.value
            }
            (None, Some(limit)) => limit >= self.step * (1.0 - ERROR),
            (None, None) => found.median_ns == 0.0,
        };
        let is_found = is_right && found.step_ns.is_some();
        let mut answers = vec![(WRONG, !is_right), ("step found", is_found)];
        answers.extend(self.is_clear.then_some((CLEAR, is_found)));
        let (step, limit) = (found.step_ns, found.step_at_most_ns);
        Judged {
            kinds: vec![KINDS[kind].into()],
            answers,
            wrong: (!is_right).then(|| format!("{} ns: {step:?}, at most {limit:?}", self.step)),
            ..Judged::default()
        }
    }
}

/// How numbers are printed.
enum Printed {
    Whole,
    Decimals(usize),
    Digits(usize),
    All,
}

impl File {
    /// What is found in the file.
    pub fn judged(&self) -> JudgedDurations {
        let series = parse(self.text.as_bytes(), None, Some(self.unit)).expect("it has numbers");
        let series = &series[0];
        judge(&series.durations, series.rounding, series.is_floating)
    }

    /// Draws a file of a kind.
    pub fn made(kind: usize, random: &mut StdRng) -> Self {
        let name = KINDS[kind];
        let mut step = match name {
            "known counter, whole ns" => {
                1e3 / [24.0, 25.0, 19.2, 54.0, 10.0, 1.0, 14.318_18, 3.579_545]
                    [random.random_range(0..8)]
            }
            "scaled to whole ns" => 1e3 / [24.0, 19.2, 54.0, 14.318_18][random.random_range(0..4)],
            "100-ns ticks in µs" => 100.0,
            "many zeros" => [1e3, 1e6, 4e6, 15.625e6, 1e7][random.random_range(0..5)],
            _ => log_uniform(1.0, 15.6e6, random),
        };
        let has_step = !name.starts_with("no step");
        // In steps.
        let scatter = match random.random_range(0..10) {
            0 => 0.0,
            1..6 => random.random_range(0.0..3.0),
            _ => random.random_range(0.0..10.0),
        };
        let base = match name {
            "many zeros" => random.random_range(0.0..1.5),
            _ => log_uniform(1.0, 1e4, random) + 3.0 * scatter,
        };
        let truths: Vec<f64> = (0..VALUES)
            .map(|at| work(name, at as f64 / VALUES as f64, (base, scatter), random))
            .collect();
        let phase = |random: &mut StdRng| random.random_range(0.0..1.0);
        let mut levels: Vec<f64> = truths
            .iter()
            .map(|truth| (truth.max(0.0) + phase(random)).floor())
            .collect();
        let few: Vec<f64> = (0..random.random_range(2..6))
            .map(|_| (base + random.random_range(0.0..30.0)).round())
            .collect();
        let subtracted = log_uniform(0.1, 10.0, random) + random.random_range(0.0..1.0);
        let calls = random.random_range(2..1_000) as f64;
        let slew = random.random_range(-5e-4..5e-4);
        let other = step * random.random_range(1.1..3.0);
        let unit =
            [TimeUnit::Ns, TimeUnit::Us, TimeUnit::Ms, TimeUnit::S][random.random_range(0..4)];
        let mut ns: Vec<f64> = Vec::new();
        for (level, truth) in levels.iter_mut().zip(&truths) {
            ns.push(match name {
                "scaled to whole ns" | "known counter, whole ns" => {
                    let start = (1e9 * phase(random)).floor();
                    ((start + *level) * step).floor() - (start * step).floor()
                }
                "constant subtracted" => (*level - subtracted) * step,
                "seconds since 1970" => {
                    let start = (1e9 * phase(random) / step).floor() * step;
                    ((1.7e9 + (start + *level * step) / 1e9) - (1.7e9 + start / 1e9)) * 1e9
                }
                "slewed by NTP" => *level * step * (1.0 + slew),
                "batches of equal size" => *level * step / calls,
                "even multiples" => (*level / 2.0).round() * 2.0 * step,
                "batches of any size" => *level * step / random.random_range(1..1_000) as f64,
                "few values" => few[random.random_range(0..few.len())] * step,
                "one value" => base.round() * step,
                "two precisions" if phase(random) < 0.5 => (*level / 10.0).round() * 10.0 * step,
                "two clocks" if phase(random) < 0.4 => {
                    (truth * step / other + phase(random)).floor() * other
                }
                _ if has_step => *level * step,
                "no step, narrow modes" => {
                    let mode = random.random_range(1..5) as f64;
                    step * (base.floor() + mode * base.ceil() + 0.1 * base * normal(random))
                }
                _ => truth * step,
            });
        }
        match name {
            "slewed by NTP" => step *= 1.0 + slew,
            "batches of equal size" => step /= calls,
            "even multiples" => step *= 2.0,
            // Shorter steps are hidden by those of the numbers.
            "seconds since 1970" if step < 4.0 * FLOATING_STEP => step = FLOATING_STEP,
            "batches of any size" | "two clocks" => step = 0.0,
            _ if !has_step => step = 0.0,
            _ => {}
        }
        let printed = match name {
            "known counter, whole ns" | "scaled to whole ns" => Printed::Whole,
            "100-ns ticks in µs" => Printed::Decimals(random.random_range(1..4)),
            "all digits" | "seconds since 1970" | "no step, all digits" => Printed::All,
            "fixed decimals" => Printed::Decimals(random.random_range(3..10)),
            "3 to 9 digits" => Printed::Digits(random.random_range(3..10)),
            "no step, rounded" if phase(random) < 0.5 => {
                Printed::Digits(random.random_range(3..10))
            }
            _ => match random.random_range(0..4) {
                0 => Printed::All,
                1 => Printed::Digits(random.random_range(3..10)),
                2 => Printed::Decimals(random.random_range(3..10)),
                _ => Printed::Whole,
            },
        };
        let unit = match (&printed, name) {
            (Printed::Whole, _) => TimeUnit::Ns,
            (_, "100-ns ticks in µs") => TimeUnit::Us,
            _ => unit,
        };
        Self::printed(kind, (&ns, step), printed, unit)
    }

    fn printed(kind: usize, (ns, step): (&[f64], f64), printed: Printed, unit: TimeUnit) -> Self {
        let mut text = String::new();
        let size = unit.ns();
        let most = ns.iter().fold(0.0_f64, |most, ns| most.max(ns.abs()));
        let mean = ns.iter().sum::<f64>() / ns.len() as f64;
        let variance = ns.iter().map(|ns| (ns - mean).powi(2)).sum::<f64>() / ns.len() as f64;
        for ns in ns {
            let value = ns / size;
            let written = match printed {
                Printed::Whole => writeln!(text, "{:.0}", value),
                Printed::Decimals(decimals) => writeln!(text, "{value:.decimals$}"),
                Printed::Digits(digits) => writeln!(text, "{:.*e}", digits - 1, value),
                Printed::All => writeln!(text, "{value}"),
            };
            written.expect("a string can be written");
        }
        let rounding = match printed {
            Printed::Whole => 1.0,
            Printed::Decimals(decimals) => size * 0.1_f64.powi(decimals as i32),
            Printed::Digits(digits) => 10.0_f64.powf(most.log10().floor() + 1.0 - digits as f64),
            Printed::All if KINDS[kind] == "seconds since 1970" && step > FLOATING_STEP => {
                FLOATING_STEP
            }
            Printed::All => 0.0,
        };
        let mut multiples: Vec<i64> = ns.iter().map(|ns| (ns / step).round() as i64).collect();
        multiples.sort_unstable();
        multiples.dedup();
        Self {
            text,
            unit,
            step,
            is_clear: multiples.len() > 2
                && kind < HARD_KINDS
                && rounding < step / 4.0
                && variance.sqrt() < 3.0 * step,
        }
    }
}

/// The duration of a piece of work in steps, at a time from 0 to 1.
fn work(name: &str, time: f64, (base, scatter): (f64, f64), random: &mut StdRng) -> f64 {
    let noise = scatter * normal(random);
    base + match name {
        "two modes" if random.random_range(0.0..1.0) < 0.3 => 2.0 * scatter + 5.0 + noise,
        "heavy tail" => scatter * (exponential(1.0, random) + normal(random).abs().powi(4)),
        "outliers" if random.random_range(0.0..1.0) < 0.02 => base * exponential(20.0, random),
        "drift" => noise + 20.0 * scatter * time,
        _ => noise,
    }
}
