//! Tells which steps an ideal observer of the same intervals would find: one who knows the true step
//! and its rivals, but not the durations of reads and work.

use estimators::resolution::common_divisor;
use estimators::trace::{Differences, Trace};

/// The likelihood ratio at which the observer prefers one step to another.
const DECISIVE_RATIO: f64 = 1e3;

/// Steps that an observer may confuse with the true one, relative to it.
const RIVALS: [f64; 6] = [0.1, 0.5, 2.0 / 3.0, 1.5, 2.0, 10.0];

/// Returns whether intervals with random work make `step`, in ticks, more probable than each of its
/// rivals and than the unit of the readings.
#[must_use]
pub fn is_findable(step: f64, trace: &Trace) -> bool {
    let random: Vec<Differences> = trace
        .groups()
        .filter(|group| group.deltas.len() < 4)
        .collect();
    let deltas: Vec<i64> = random
        .iter()
        .flat_map(|group| group.deltas.to_vec())
        .collect();
    if deltas.iter().all(|&delta| delta == 0) {
        return false;
    }
    let unit = common_divisor(&random) as f64;
    let likelihood = |step: f64| {
        let steps = step / unit;
        if steps <= 1.0 {
            return 0.0;
        }
        let each = deltas.iter().map(|&delta| {
            probability(delta as f64 / unit, steps)
                .mul_add(0.95, 0.05)
                .ln()
        });
        each.sum::<f64>()
    };
    let truth = likelihood(step);
    let rivals = RIVALS.map(|ratio| ratio * step).into_iter();
    // Whole numbers do not distinguish a frequency from one minus this frequency.
    let steps = step / unit;
    let rivals = rivals.chain((steps > 1.0).then(|| steps / (steps - 1.0) * unit));
    // Only one rival that is not finer than the unit counts.
    let tested = rivals
        .chain([unit])
        .filter(|rival| rival.max(unit) != step.max(unit));
    tested
        .map(|rival| truth - likelihood(rival))
        .all(|ratio| ratio >= DECISIVE_RATIO.ln())
}

/// Returns the probability of an interval of a clock whose readings are ⌊n·`steps`⌋ units, relative
/// to that of a clock that shows every unit. The phases of both readings are random.
fn probability(interval: f64, steps: f64) -> f64 {
    let off = interval / steps - (interval / steps).round();
    let shares = [off - 1.0, off, off + 1.0].map(|off| (1.0 - steps * off.abs()).max(0.0));
    steps * shares.iter().sum::<f64>()
}
