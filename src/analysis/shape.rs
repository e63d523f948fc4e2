//! The distribution of single invocations, seen through a reference that moves in steps.
//!
//! With steps of length `s` and a random phase, an invocation of length `x` shows as one of the two neighbouring
//! multiples of `s`, the nearer one more often. Counted in steps, the share of samples at or below level `k` is then
//! exactly the mean of the cumulative distribution `F` over the cell `[k, k + 1]`. So quantised samples tell cell means of
//! `F`, without bias, however coarse the reference is. What `F` does inside a cell they do not tell; there the simplest shape
//! that explains all cells is taken: one cost, one cost with an exponential tail, two costs, two with tails. Where
//! none does, `F` is interpolated between the middles of the cells.

mod cells;
mod mixture;

use self::cells::Cells;
pub use self::mixture::cheapest;
use self::mixture::{KINDS, Mixture, ONE_COST_SURPRISE};
use crate::analysis::moments::Moments;
use crate::analysis::statistics::{mean, quantile, sorted};

/// The second and third central moments of all but the rare interruptions, in ticks squared and cubed. `None` without
/// samples.
#[must_use]
pub fn core_moments(samples: &[i64], step: f64) -> Option<[f64; 2]> {
    let levels = levels(samples, step);
    let core = core(&levels)?;
    let centre = mean(core)?;
    let moment =
        |order: i32| core.iter().map(|level| (level - centre).powi(order)).sum::<f64>() / core.len() as f64;
    Some([moment(2) * step * step, moment(3) * step * step * step])
}

/// Samples that a share is counted from; with fewer it is taken from the density.
const FEWEST_WITHIN: f64 = 60.0;

/// The shape of the distribution of single invocations, in ticks of whatever measured them.
#[derive(Clone, Debug)]
pub struct Shape {
    step: f64,
    core_mean: f64,
    core_variance: f64,
    skewness_length: f64,
    rare: f64,
    cells: Cells,
    fitted: Option<Mixture>,
}

impl Shape {
    /// How unlikely samples make each kind of shape, least to most complicated. `None` where the samples fit none of them
    /// to begin with, or none but the simplest is needed.
    #[must_use]
    pub fn surprises(samples: &[i64], step: f64) -> Option<[f64; KINDS]> {
        let cells = Cells::of(levels(samples, step))?;
        let observed = cells.observed()?;
        if Mixture::one_cost(cells.first, &observed).surprise(&observed, cells.samples()) <= ONE_COST_SURPRISE
        {
            return None;
        }
        Some(Mixture::surprises(&Mixture::of_each_kind(cells.first, &observed), &observed, cells.samples()))
    }

    /// From samples in ticks of a reference that moves in steps of `step` ticks. `moments` are those of
    /// an invocation as batches tell them, the deviation in steps; `kind` is the kind of shape that more
    /// samples than these agree on, by its place among [`surprises`](Self::surprises); `own` that the samples are the timer's
    /// own. `None` without samples.
    #[must_use]
    pub fn of(samples: &[i64], step: f64, moments: Moments, kind: Option<usize>, own: bool) -> Option<Self> {
        let levels = levels(samples, step);
        let core = core(&levels)?;
        let core_mean = mean(core)?;
        let core_size = core.len() as f64;
        let sum = |order: i32| core.iter().map(|level| (level - core_mean).powi(order)).sum::<f64>();
        let (squares, cubes) = (sum(2), sum(3));
        let rare = 1.0 - core_size / levels.len() as f64;
        let cells = Cells::of(levels)?;
        Some(Self {
            step,
            core_mean,
            core_variance: squares / core_size,
            skewness_length: if squares > 0.0 { cubes / squares } else { 0.0 },
            rare,
            fitted: Mixture::fit(&cells, moments, kind, own),
            cells,
        })
    }

    /// The share of rare interruptions among samples. `None` without samples.
    #[must_use]
    pub fn rare_among(samples: &[i64], step: f64) -> Option<f64> {
        let levels = levels(samples, step);
        Some(1.0 - core(&levels)?.len() as f64 / levels.len() as f64)
    }

    /// The median, in ticks.
    #[must_use]
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// The cost that this share of invocations does not exceed, in ticks.
    #[must_use]
    pub fn quantile(&self, probability: f64) -> f64 {
        let levels = &self.cells.levels;
        let (mut low, mut high) = (levels[0] - 2.0, levels[levels.len() - 1] + 2.0);
        for _ in 0..64 {
            let middle = f64::midpoint(low, high);
            if self.share_below(middle) < probability { low = middle } else { high = middle }
        }
        high * self.step
    }

    /// The mean of all but the rare interruptions, in ticks. Quantisation does not move it.
    #[must_use]
    pub fn core_mean(&self) -> f64 {
        self.core_mean * self.step
    }

    /// The variance of all but the rare interruptions, in ticks squared, quantisation included.
    #[must_use]
    pub fn core_variance(&self) -> f64 {
        self.core_variance * self.step * self.step
    }

    /// The third central moment over the second, of all but the rare interruptions, in ticks: zero for a symmetric
    /// distribution, the length of the tail for a skewed one.
    #[must_use]
    pub fn skewness_length(&self) -> f64 {
        self.skewness_length * self.step
    }

    /// The share of invocations that are rare interruptions, far above all others.
    #[must_use]
    pub fn rare(&self) -> f64 {
        self.rare
    }

    /// The share of invocations within `reach` ticks of the median, both ends included.
    #[must_use]
    pub fn share_within(&self, reach: f64) -> f64 {
        let (median, reach) = (self.median() / self.step, reach / self.step);
        let below = median - reach;
        let above = median + reach;
        let share = self.share_below(above + self.slack(above)) - self.share_below(below - self.slack(below));
        let samples = self.cells.levels.len() as f64;
        if self.fitted.is_some() || share * samples >= FEWEST_WITHIN {
            return share.clamp(1.0 / samples, 1.0);
        }
        // Too few to count: the density around the median, from as far as it takes, times the reach.
        let mut wider = reach.max(1e-9);
        let mut within = share;
        while within * samples < FEWEST_WITHIN && within < 0.5 {
            wider *= 1.5;
            within = self.share_below(median + wider) - self.share_below(median - wider);
        }
        (within * reach / wider).clamp(f64::EPSILON, 1.0)
    }

    /// How far a single cost may lie from its fitted place, in steps. A smooth distribution needs none.
    fn slack(&self, level: f64) -> f64 {
        match self.fitted {
            Some(mixture) if self.cells.in_window(level) => {
                if mixture.tail > 0.0 {
                    0.0
                } else {
                    0.03
                }
            }
            _ => 0.0,
        }
    }

    fn share_below(&self, level: f64) -> f64 {
        match &self.fitted {
            Some(mixture) if self.cells.in_window(level) => {
                self.cells.below + (self.cells.above - self.cells.below) * mixture.cumulative(level)
            }
            _ => self.cells.interpolated(level),
        }
    }
}

fn levels(samples: &[i64], step: f64) -> Vec<f64> {
    sorted(&samples.iter().map(|&ticks| (ticks as f64 / step).round()).collect::<Vec<_>>())
}

/// All but the rare interruptions, which lie too far above the others to be the timer's own way of being slow.
fn core(levels: &[f64]) -> Option<&[f64]> {
    let (middle, high) = (quantile(levels, 0.5)?, quantile(levels, 0.98)?);
    let cut = high + 2.0 * (high - middle) + 3.0;
    Some(&levels[..levels.partition_point(|&level| level <= cut)])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls that vary together, as those in a row do where the core learns of their branches, make batches vary more than
    /// single calls; what single calls show bounds it.
    #[test]
    fn batches_cannot_make_single_calls_vary_that_do_not() {
        let mostly = [[206; 300].as_slice(), &[180; 40], &[232; 5]].concat();
        for skewness in [None, Some(0.3), Some(-1.5), Some(3.0)] {
            let moments = Moments { deviation: 1.3, skewness };
            let shape = Shape::of(&mostly, 26.0, moments, None, false).expect("samples");
            assert!(shape.share_within(26.0) > 0.97, "{skewness:?}: {}", shape.share_within(26.0));
            assert!((shape.median() - 205.0).abs() < 6.5, "{skewness:?}: {}", shape.median());
        }
    }
}
