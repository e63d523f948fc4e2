//! Judges durations that were measured elsewhere: what their grid says of the clock, and how much of
//! their scatter is due to it.

use std::borrow::Cow;

use serde::Serialize;

use estimators::model::Estimate;
use estimators::numbers::short_time;
use estimators::resolution::Step;
use estimators::resolution::grid::find;
use estimators::statistics::{quantile, sorted, variance};

/// The rounding of seconds since 1970 as floating-point numbers, in nanoseconds. *Computed*: 2⁻²² s.
const EPOCH_ROUNDING_NS: f64 = 238.418_579_101_562_5;

/// What durations say of the clock that measured them. Times are in nanoseconds.
#[derive(Clone, Debug, Serialize)]
pub struct JudgedDurations {
    /// The number of durations.
    pub count: usize,
    /// Their median.
    pub median_ns: f64,
    /// The step; null if it is not known.
    pub step_ns: Option<Estimate>,
    /// The limit of the step, if it is not known.
    pub step_at_most_ns: Option<f64>,
    /// The reason why it is not known.
    pub reason: Option<Cow<'static, str>>,
    /// What the durations were rounded to.
    pub rounding_ns: f64,
    /// Standard deviation.
    pub scatter_ns: f64,
    /// The share of the variance that the step explains.
    pub scatter_by_step: Option<f64>,
}

/// Judges durations, which are multiples of `rounding`. If they were computed with floating-point
/// numbers, they may have been rounded before.
pub fn judge(durations: &[f64], rounding: f64, is_floating: bool) -> JudgedDurations {
    /// The largest distance from whole nanoseconds, in which most systems count, and the least share
    /// of durations that are. *Judgement*: a few may be sums.
    const WHOLE: (f64, f64) = (0.02, 0.95);
    let is_whole = |value: &&f64| (*value - value.round()).abs() <= WHOLE.0;
    let whole = durations.iter().filter(is_whole).count() as f64;
    let mut rounding_ns = rounding;
    if is_floating && whole >= WHOLE.1 * durations.len() as f64 {
        rounding_ns = rounding.max(1.0);
    }
    let mut found = find(durations, rounding_ns);
    if matches!(found, Step::AtMost { bound, .. } if is_floating && bound > EPOCH_ROUNDING_NS) {
        rounding_ns = rounding_ns.max(EPOCH_ROUNDING_NS);
        found = find(durations, rounding_ns);
    }
    let (step_ns, step_at_most_ns, reason) = match found {
        Step::Resolved { step, .. } => (Some(step), None, None),
        Step::AtMost { bound, reason } => {
            let ordered = sorted(durations);
            let is_next = |two: &[f64]| (0.5..1.5).contains(&((two[1] - two[0]) / rounding_ns));
            let are_close = ordered.windows(2).any(is_next);
            let close = || {
                format!(
                    "neighbouring durations differ by {}, the unit they are stored in",
                    short_time(rounding_ns)
                )
            };
            (
                None,
                Some(bound),
                Some(if are_close { close().into() } else { reason }),
            )
        }
        Step::Unmoved => (None, None, Some("all durations are zero".into())),
    };
    let variance = variance(durations).unwrap_or(0.0);
    // Work that varies by a step or more; the step adds more to the variance of other work.
    let by_step = |step: Estimate| (step.value.powi(2) / 6.0 / variance).min(1.0);
    JudgedDurations {
        count: durations.len(),
        median_ns: quantile(&sorted(durations), 0.5).unwrap_or(0.0),
        step_ns,
        step_at_most_ns,
        reason,
        rounding_ns,
        scatter_ns: variance.sqrt(),
        scatter_by_step: step_ns.map(by_step).filter(|_| variance > 0.0),
    }
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
            (seconds(end) - seconds(begin)) * 1e9
        });
        let judged = judge(&durations.collect::<Vec<_>>(), 1e-9, true);
        assert_eq!(judged.rounding_ns, 1.0);
        let step = judged.step_ns.unwrap();
        assert!(step.contains(125.0 / 3.0), "{step:?}");
    }
}
