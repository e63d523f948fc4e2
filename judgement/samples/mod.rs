//! Judges durations that were measured elsewhere: what their grid says of the clock, and how much of
//! their scatter is due to it.

mod counters;

use std::f64::consts::{PI, TAU};

use serde::Serialize;

use crate::model::Interval;
use crate::resolution::Resolution;
use crate::resolution::grid::{DurationGrid, TOLERANCE, find, noise};
use crate::statistics::bisect;

pub use counters::{has_step, name_step};

/// Largest error of a duration that is good, as a share. *Definition*.
pub const GOOD: f64 = 0.01;

/// The rounding of seconds since 1970 as floating-point numbers, in nanoseconds. *Computed*: 2⁻²² s.
const EPOCH_ROUNDING_NS: f64 = 238.418_579_101_562_5;

/// What durations say of the clock that measured them. Times are in nanoseconds.
#[derive(Clone, Debug, Serialize)]
pub struct JudgedDurations {
    /// The number of durations.
    pub count: f64,
    /// Their median.
    pub median_ns: f64,
    /// The step; null if it is not known.
    pub step_ns: Option<Interval>,
    /// The limit of the step, if it is not known.
    pub step_at_most_ns: Option<f64>,
    /// The reason why it is not known.
    pub reason: Option<String>,
    /// The name of a counter with this step.
    pub counter: Option<String>,
    /// The share of durations that are multiples of the step.
    pub share: Option<Interval>,
    /// The distance of durations from multiples; null if it is not known.
    pub offset_ns: Option<f64>,
    /// The coarser of two steps.
    pub coarse_step_ns: Option<Interval>,
    /// The share of durations that are multiples of it, less those that are by chance.
    pub coarse_share: Option<Interval>,
    /// What the durations were rounded to.
    pub rounding_ns: f64,
    /// The share of durations that are zero or one step long.
    pub zero_or_one_step: Option<Interval>,
    /// Standard deviation; null if the durations have different numbers of calls.
    pub scatter_ns: Option<f64>,
    /// The share of the variance that the step explains.
    pub scatter_by_step: Option<Interval>,
    /// The shortest duration of which a single value is good to 1 %: of which no error is larger.
    pub good_from_ns: Option<f64>,
    /// The number of median durations in a batch that is good to 1 %.
    pub batch: Option<f64>,
}

/// Judges durations with their numbers, which are multiples of `rounding`. If they were computed with
/// floating-point numbers, they may have been rounded before.
pub fn judge(durations: &[(f64, f64)], rounding: f64, is_floating: bool) -> JudgedDurations {
    let values: Vec<f64> = durations.iter().map(|duration| duration.0).collect();
    let noises = [noise(&values), Some(EPOCH_ROUNDING_NS)];
    let mut rounding_ns = rounding;
    if is_floating && are_whole_ns(durations, rounding.max(noises[0].unwrap_or(0.0))) {
        rounding_ns = 1.0;
    }
    let mut found = find(durations, rounding_ns);
    for noise in noises.into_iter().flatten().filter(|_| is_floating) {
        let is_hidden =
            matches!(found.resolution, Resolution::AtMost { bound, .. } if bound > 0.9 * noise);
        if noise > rounding_ns && is_hidden {
            let coarser = find(durations, noise);
            if let Resolution::Resolved { .. } = coarser.resolution {
                (rounding_ns, found) = (noise, coarser);
            }
        }
    }
    judge_by(found, durations, rounding_ns)
}

/// Whether nearly all durations are whole nanoseconds, in which most systems count, except for the
/// rounding of the differences of floating-point numbers.
fn are_whole_ns(durations: &[(f64, f64)], rounding: f64) -> bool {
    /// The largest rounding that shows it, in nanoseconds. *Judgement*.
    const MAX_ROUNDING: f64 = 0.125;
    /// The least share of them. *Judgement*: a few may be sums.
    const MIN_SHARE: f64 = 0.95;
    let is_whole = |value: f64| (value - value.round()).abs() <= TOLERANCE * rounding;
    let whole = durations.iter().filter(|it| is_whole(it.0));
    let count: f64 = durations.iter().map(|it| it.1).sum();
    rounding <= MAX_ROUNDING && whole.map(|it| it.1).sum::<f64>() >= MIN_SHARE * count
}

fn judge_by(grid: DurationGrid, durations: &[(f64, f64)], rounding_ns: f64) -> JudgedDurations {
    let moments = DurationMoments::of(durations);
    let limit = grid.resolution.step_or_limit();
    let (step_at_most_ns, reason) = match grid.resolution {
        Resolution::AtMost { bound, ref reason } => (Some(bound), Some(reason.to_string())),
        Resolution::Unmoved => (None, Some("all durations are zero".into())),
        Resolution::Resolved { .. } => (None, None),
    };
    let step = match grid.resolution {
        Resolution::Resolved { step, .. } => Some(step),
        _ => None,
    };
    let at_most_one = step.map(|step| {
        let short = durations.iter().filter(|it| it.0.abs() < 1.5 * step.value);
        let share = short.fold(0.0, |sum, duration| sum + duration.1) / moments.count;
        Interval::exact(share).with_counting_error(moments.count)
    });
    let good_from_ns = limit.map(|step| step / GOOD);
    let batch = good_from_ns.filter(|_| moments.median > 0.0);
    JudgedDurations {
        count: moments.count,
        median_ns: moments.median,
        step_ns: step,
        step_at_most_ns,
        reason,
        counter: step.and_then(name_step),
        share: step.map(|_| grid.share),
        offset_ns: grid.offset,
        coarse_step_ns: grid.coarse.map(|coarse| coarse.0),
        coarse_share: grid.coarse.map(|coarse| coarse.1),
        rounding_ns,
        zero_or_one_step: at_most_one,
        scatter_ns: Some(moments.variance.sqrt()),
        scatter_by_step: step
            .filter(|_| moments.variance > 0.0)
            .map(|step| moments.explained_by(step.value)),
        good_from_ns,
        batch: batch.map(|good| (good / moments.median).ceil().max(1.0)),
    }
}

/// Moments of durations, each with the number of times that it occurs.
struct DurationMoments {
    count: f64,
    median: f64,
    mean: f64,
    variance: f64,
    /// Standard error of the variance.
    error: f64,
}

impl DurationMoments {
    fn of(durations: &[(f64, f64)]) -> Self {
        let count: f64 = durations.iter().map(|duration| duration.1).sum();
        let sum = |of: &dyn Fn(f64) -> f64| {
            durations
                .iter()
                .map(|duration| duration.1 * of(duration.0))
                .sum::<f64>()
                / count
        };
        let mean = sum(&|value| value);
        let variance = sum(&|value| (value - mean).powi(2));
        let fourth = sum(&|value| (value - mean).powi(4));
        let mut ranked = durations.to_vec();
        ranked.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut rank = 0.0;
        let middle = ranked.iter().find(|duration| {
            rank += duration.1;
            2.0 * rank >= count
        });
        Self {
            count,
            median: middle.map_or(0.0, |duration| duration.0),
            mean,
            variance,
            error: ((fourth - variance * variance).max(0.0) / count).sqrt(),
        }
    }

    /// The share of the variance that a step explains, with its 95 % interval.
    fn explained_by(&self, step: f64) -> Interval {
        let share = |variance: f64| {
            1.0 - work_variance(variance / step.powi(2), self.mean / step) * step.powi(2) / variance
        };
        let ends = [-1.96, 1.96].map(|z| self.variance + z * self.error);
        let ends = ends.map(|variance| share(variance.max(1e-9 * self.variance)));
        let value = share(self.variance);
        Interval {
            value,
            low: ends[1].min(value),
            high: ends[0].max(value),
        }
        .within(0.0, 1.0)
    }
}

/// The variance of the work alone, in squared steps, if durations vary by `variance` around a `mean`
/// of steps. The step adds *f*(1 − *f*), where *f* is the fraction of a step in a duration: 1/6 on
/// average over work that varies by a step or more, and as much as all variance of constant work.
fn work_variance(variance: f64, mean: f64) -> f64 {
    /// The number of terms of the series of *f*(1 − *f*), and of halvings. *Numerical*.
    const TERMS: (i32, u32) = (20, 60);
    let by_step = |work: f64| {
        let term = |n: i32| {
            let n = f64::from(n);
            (TAU * n * mean).cos() * (-2.0 * (PI * n).powi(2) * work).exp() / (PI * n).powi(2)
        };
        1.0 / 6.0 - (1..=TERMS.0).map(term).sum::<f64>()
    };
    bisect((0.0, variance), TERMS.1, |work| {
        work + by_step(work) < variance
    })
    .0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seconds as floating-point numbers, of a clock that returns whole nanoseconds.
    #[test]
    fn whole_nanoseconds_hide_no_step() {
        let seconds = |steps: i64| (steps as f64 * 125.0 / 3.0).floor() * 1e-9;
        let durations = (0..2_000_i64).map(|at| {
            let begin = 1_000_000_000_000 + 9_973 * at;
            let end = begin + 12 + at * at % 17;
            ((seconds(end) - seconds(begin)) * 1e9, 1.0)
        });
        let durations: Vec<_> = durations.collect();
        let judged = judge(&durations, 1e-9, true);
        assert_eq!(judged.rounding_ns, 1.0);
        let step = judged.step_ns.expect("it is found");
        assert!(step.contains(125.0 / 3.0), "{step:?}");
        assert!(
            judged
                .counter
                .is_some_and(|name| name.contains("24.00 MHz"))
        );
    }
}
