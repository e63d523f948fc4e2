//! Compares a counter with a clock on each CPU, with and without sleep, to detect sudden and
//! lasting changes of the counter's rate.

use crate::rate::line::Reading;
use crate::rate::{Rate, rate_from_paired_readings};
use crate::statistics::median;
use crate::trace::PairedReading;

/// The rate of the counter of a CPU relative to that of the first CPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuRate {
    /// The CPU.
    pub cpu: u32,
    /// The relative difference between the rates, in ppm.
    pub tested: TestedEffect,
}

/// An estimate that is 0 for a counter without defects.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TestedEffect {
    /// The estimate.
    pub value: f64,
    /// The uncertainty of the estimate.
    pub uncertainty: f64,
    /// The smallest true value that is detected with certainty.
    pub detectable: f64,
}

impl TestedEffect {
    /// Converts a ratio and its uncertainty to ppm; the smallest detectable value is twice the
    /// uncertainty.
    pub fn from_ratio(value: f64, uncertainty: f64) -> Self {
        Self {
            value: 1e6 * value,
            uncertainty: 1e6 * uncertainty,
            detectable: 2e6 * uncertainty,
        }
    }

    /// Returns whether the value is significantly different from 0.
    pub fn is_found(&self) -> bool {
        self.value.abs() > self.uncertainty
    }
}

/// The advance between two paired readings on the same CPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CounterAdvance {
    /// Whether the thread slept between the two paired readings.
    pub slept: bool,
    /// The advance of the clock, in nanoseconds.
    pub passed_ns: f64,
    /// The advance of the counter minus that of the clock, in nanoseconds.
    pub gained_ns: f64,
    /// Uncertainty of the gain due to the reads, in nanoseconds.
    pub uncertainty_ns: f64,
}

/// The largest relative drift between two oscillators during an observation that is not a defect of
/// the counter. *Judgement*: quartz oscillators drift by less than a tenth of that within seconds.
const MAX_DRIFT: f64 = 1e-6;
/// A paired reading that took more than this many times the usual duration was interrupted and is
/// left out. *Judgement*.
const MAX_WIDTH_RATIO: f64 = 4.0;
/// The largest share of advances with a significant gain or loss at which they count as sudden
/// changes; if there are more, the rate has changed. *Judgement*.
const MAX_SUDDEN_SHARE: f64 = 0.1;
/// The least share of the time before a change of rate, and after it, for the change to count as
/// lasting. *Judgement*.
const MIN_LASTING_SHARE: f64 = 0.125;

/// Returns, for each CPU, the advances between consecutive paired readings; `ns` is the length of a
/// tick of the counter in nanoseconds.
pub fn advances(readings: &[PairedReading], ns: f64) -> Vec<Vec<CounterAdvance>> {
    let of_cpu = |(_, paired): (u32, Vec<PairedReading>)| {
        let values: Vec<[i64; 3]> = paired.iter().map(|reading| reading.values).collect();
        let readings = Reading::from_ticks(&values, ns, 1.0);
        let pairs = readings.windows(2).zip(&paired[1..]);
        let advance = |(pair, last): (&[Reading], &PairedReading)| {
            let passed_ns = pair[1].clock - pair[0].clock;
            CounterAdvance {
                slept: last.slept,
                passed_ns,
                gained_ns: pair[1].time - pair[0].time - passed_ns,
                // That of both readings, and a step of the clock.
                uncertainty_ns: pair[0].error + pair[1].error + 1.0,
            }
        };
        pairs.map(advance).collect()
    };
    readings_by_cpu(readings).into_iter().map(of_cpu).collect()
}

/// The advance of the counter between its two reads in a paired reading, in ticks.
fn width(reading: &PairedReading) -> f64 {
    reading.values[2].wrapping_sub(reading.values[0]) as f64
}

/// Returns the uninterrupted paired readings of each CPU, in the order in which the CPUs first
/// occur.
fn readings_by_cpu(readings: &[PairedReading]) -> Vec<(u32, Vec<PairedReading>)> {
    let mut all: Vec<(u32, Vec<PairedReading>)> = Vec::new();
    for reading in readings {
        match all.iter_mut().find(|(cpu, _)| *cpu == reading.cpu) {
            Some((_, readings)) => readings.push(*reading),
            None => all.push((reading.cpu, vec![*reading])),
        }
    }
    for (_, readings) in &mut all {
        let usual = median(readings.iter().map(width)).unwrap_or(0.0);
        readings.retain(|reading| width(reading) <= MAX_WIDTH_RATIO * usual.max(1.0));
    }
    all
}

/// Returns the rate of each further CPU relative to the first CPU.
pub fn cpu_rates(readings: &[PairedReading]) -> Vec<CpuRate> {
    let rate = |(cpu, readings): (u32, Vec<PairedReading>)| {
        let readings: Vec<[i64; 3]> = readings.iter().map(|reading| reading.values).collect();
        (cpu, rate_from_paired_readings(&readings, 1.0))
    };
    let mut all = readings_by_cpu(readings).into_iter().map(rate);
    let Some((_, Some(first))) = all.next() else {
        return Vec::new();
    };
    let relative_to_first = |(cpu, rate): (u32, Option<Rate>)| {
        let rate = rate?;
        let uncertainty = rate.uncertainty + first.uncertainty + MAX_DRIFT;
        let tested =
            TestedEffect::from_ratio(first.ns_per_tick / rate.ns_per_tick - 1.0, uncertainty);
        Some(CpuRate { cpu, tested })
    };
    all.filter_map(relative_to_first).collect()
}

/// Returns the decrease of the rate during sleep, in ppm. `None` unless the thread both slept and
/// computed.
pub fn sleep_rate_loss(series: &[Vec<CounterAdvance>]) -> Option<TestedEffect> {
    let median_ratio = |slept: bool, part: fn(&CounterAdvance) -> f64| {
        let all = series
            .iter()
            .flatten()
            .filter(|advance| advance.slept == slept && advance.passed_ns > 0.0);
        median(all.map(|advance| part(advance) / advance.passed_ns))
    };
    let awake_and_asleep = |part| Some([median_ratio(false, part)?, median_ratio(true, part)?]);
    let [awake, asleep] = awake_and_asleep(|advance| advance.gained_ns)?;
    let [awake_error, asleep_error] = awake_and_asleep(|advance| advance.uncertainty_ns)?;
    Some(TestedEffect::from_ratio(
        awake - asleep,
        awake_error + asleep_error + MAX_DRIFT,
    ))
}

/// Returns the largest sudden gain and the largest sudden loss, in nanoseconds; `rate_uncertainty`
/// is the relative uncertainty of the rate.
pub fn sudden_changes(
    series: &[Vec<CounterAdvance>],
    rate_uncertainty: f64,
) -> (Option<TestedEffect>, Option<TestedEffect>) {
    let largest_change = |sign: f64| {
        let change = |advance: &CounterAdvance| TestedEffect {
            value: sign * advance.gained_ns,
            uncertainty: advance.uncertainty_ns
                + (rate_uncertainty + MAX_DRIFT) * advance.passed_ns,
            detectable: 0.0,
        };
        let largest_of_cpu = |run: &Vec<CounterAdvance>| {
            let all: Vec<TestedEffect> = run.iter().map(change).collect();
            let significant = all
                .iter()
                .filter(|change| change.value > change.uncertainty)
                .count() as f64;
            let detectable = 2.0
                * all
                    .iter()
                    .map(|change| change.uncertainty)
                    .fold(0.0, f64::max);
            let largest = all.into_iter().max_by(|a, b| a.value.total_cmp(&b.value))?;
            let is_sudden = significant <= (MAX_SUDDEN_SHARE * run.len() as f64).max(1.0);
            let value = if is_sudden {
                largest.value.max(0.0)
            } else {
                0.0
            };
            Some(TestedEffect {
                value,
                detectable,
                ..largest
            })
        };
        let all: Vec<TestedEffect> = series.iter().filter_map(largest_of_cpu).collect();
        let detectable = all
            .iter()
            .map(|largest| largest.detectable)
            .fold(f64::INFINITY, f64::min);
        // A sudden change affects all CPUs, so the CPU with the most precise readings decides.
        let most_significant = all
            .into_iter()
            .max_by(|a, b| (a.value - a.uncertainty).total_cmp(&(b.value - b.uncertainty)))?;
        Some(TestedEffect {
            detectable,
            ..most_significant
        })
    };
    (largest_change(1.0), largest_change(-1.0))
}

/// Returns the most significant lasting change of the rate, in ppm, on the CPU with the most
/// readings. `None` if the observation is too short.
pub fn lasting_change(series: &[Vec<CounterAdvance>]) -> Option<TestedEffect> {
    let run = series.iter().max_by_key(|run| run.len())?;
    let total: f64 = run.iter().map(|advance| advance.passed_ns).sum();
    let total_gain: f64 = run.iter().map(|advance| advance.gained_ns).sum();
    let (mut passed, mut gained) = (0.0, 0.0);
    let mut best: Option<TestedEffect> = None;
    let mut detectable = 0.0_f64;
    for advance in run {
        passed += advance.passed_ns;
        gained += advance.gained_ns;
        let remaining = total - passed;
        if passed < MIN_LASTING_SHARE * total || remaining < MIN_LASTING_SHARE * total {
            continue;
        }
        let read_error = advance.uncertainty_ns * (1.0 / passed + 1.0 / remaining);
        let change = TestedEffect::from_ratio(
            (total_gain - gained) / remaining - gained / passed,
            read_error + MAX_DRIFT,
        );
        detectable = detectable.max(change.detectable);
        let significance = |tested: TestedEffect| tested.value.abs() / tested.uncertainty;
        if best.is_none_or(|best| significance(change) > significance(best)) {
            best = Some(change);
        }
    }
    best.map(|best| TestedEffect { detectable, ..best })
}
