//! Jumps from zero: with so little work that most intervals are zero, those that are not show one
//! step each.

use std::collections::BTreeMap;

use crate::model::Interval;
use crate::resolution::lattice::{self, Lattice};
use crate::statistics::{Z, quantile, sorted};
use crate::trace::Intervals;

/// What the jumps from zero say.
pub enum Jump {
    /// Intervals are hardly ever zero: the work is never shorter than a step.
    None,
    /// Steps of one tick.
    Unit {
        /// Or of so many, as far as chance may have hidden those of two that such a counter shows
        /// as well.
        longest: f64,
    },
    /// Steps of equal length.
    Step(Interval, usize),
    /// Steps of different lengths.
    Uneven {
        /// Nearly all of the time lies within steps that are no longer.
        longest: f64,
    },
}

impl Jump {
    /// From the intervals with so little work that many of them show no more than `zero`; `found`
    /// is the lattice that all intervals lie on, if there is one.
    pub fn from_groups(groups: &[Intervals], zero: i64, found: Option<Lattice>) -> Self {
        /// Intervals that are looked at together.
        /// *Judgement*.
        const POOL: usize = 16;
        /// The share of them that has to show no move, so that those that do show one step.
        /// *Judgement*.
        const STILL: (usize, usize) = (2, 5);
        /// Ticks that a step has to be longer than where every reading is made unique, which moves
        /// by one or two itself. *Default*: moves no figure.
        const BEYOND: f64 = 3.0;
        let (mut steps, mut pool) = (Vec::new(), Vec::new());
        for deltas in by_amount(groups).into_values() {
            pool.extend(deltas);
            if pool.len() < POOL {
                continue;
            }
            let still = pool.iter().filter(|&&delta| delta <= zero).count();
            if STILL.1 * still < STILL.0 * pool.len() {
                break;
            }
            steps.extend(
                pool.drain(..)
                    .filter(|&delta| delta > zero)
                    .map(|delta| delta as f64),
            );
        }
        match quantile(&sorted(&steps), 0.5) {
            Some(typical) if zero == 0 || typical > BEYOND => {
                match (Self::judge(&steps, typical), found) {
                    // A read that now and then takes several steps longer makes one typical that is
                    // several steps itself. A lattice that explains them says how long one is.
                    (Self::Uneven { .. }, Some(found)) if explains(found.step, &steps) => {
                        Self::mean_of(&steps, found.step)
                    }
                    (judged, _) => judged,
                }
            }
            _ => Self::None,
        }
    }

    fn judge(steps: &[f64], typical: f64) -> Self {
        /// Jumps of one tick, at least; and as a share. *Computed* and *judgement*: one is enough,
        /// as a step of two ticks or more never shows one; 5 % may be anything.
        const ONES: (f64, f64) = (1.0, 0.5);
        /// Those of two among one and two, at most.
        /// *Default*: moves no figure.
        const TWOS: f64 = 0.05;
        /// The share of short steps that has to be what truncation makes of one length.
        /// *Default*: moves no figure.
        const NEAR: f64 = 0.95;
        let count = steps.len() as f64;
        let ones = steps.iter().filter(|&&step| step == 1.0).count() as f64;
        let twos = steps.iter().filter(|&&step| step == 2.0).count() as f64;
        // A counter of one to two ticks a step shows one or two ticks; longer intervals are
        // interruptions.
        if ones >= ONES.0 && ones >= ONES.1 * count && twos <= TWOS * (ones + twos) {
            let share = Interval::exact(twos / (ones + twos)).counted(ones + twos);
            return Self::Unit {
                longest: 1.0 + share.high,
            };
        }
        if typical < lattice::SHORTEST {
            // So short that neighbouring values are all that truncation can make of one step.
            let (low, high) = (typical.floor() - 1.0, typical.ceil() + 1.0);
            let mean = steps.iter().sum::<f64>() / count;
            let near = steps
                .iter()
                .filter(|step| (low..=high).contains(*step) && (**step - mean).abs() < 1.0)
                .count();
            return if near as f64 >= NEAR * count {
                Self::mean_of(steps, typical)
            } else {
                Self::uneven(steps)
            };
        }
        let reach = lattice::tolerance(typical);
        let fits = steps.iter().filter(|step| {
            let multiple = (**step / typical).round().max(1.0);
            (**step - multiple * typical).abs() <= reach * multiple.sqrt() + 0.5
        });
        if fits.count() as f64 >= CONSISTENT * count {
            Self::mean_of(steps, typical)
        } else {
            Self::uneven(steps)
        }
    }

    fn uneven(steps: &[f64]) -> Self {
        Self::Uneven {
            longest: longest_of(steps),
        }
    }

    /// The mean of the steps, those of several steps in one included.
    fn mean_of(steps: &[f64], typical: f64) -> Self {
        let multiple = |step: f64| (step / typical).round().max(1.0);
        let fits = |step: &&f64| {
            (**step - multiple(**step) * typical).abs() <= 1.5 * lattice::tolerance(typical)
        };
        let kept: Vec<f64> = steps.iter().filter(fits).copied().collect();
        let multiples: f64 = kept.iter().map(|&step| multiple(step)).sum();
        let value = kept.iter().sum::<f64>() / multiples;
        let residual = kept
            .iter()
            .map(|&step| (step - multiple(step) * value).powi(2))
            .sum::<f64>();
        let half = Z * residual.sqrt() / multiples;
        Self::Step(
            Interval {
                value,
                low: value - half,
                high: value + half,
            },
            kept.len(),
        )
    }
}

/// The share of the steps that has to be of one length: a few were interrupted.
/// *Default*: moves no figure.
const CONSISTENT: f64 = 0.9;

/// Whether the steps lie on the lattice of this step, and not by chance: they are mostly multiples
/// of it, single steps are among them, and multiples leave out more than half of all lengths, so
/// that those of an irregular clock would fall in between.
fn explains(step: f64, steps: &[f64]) -> bool {
    /// The share that has to be single steps. Of a clock with a longer step none were: all of its
    /// steps are several of a divisor. *Default*: moves no figure.
    const SINGLE: f64 = 0.02;
    /// The part of all lengths that multiples may take up.
    /// *Default*: moves no figure.
    const TAKEN: f64 = 0.5;
    let reach = lattice::tolerance(step);
    let (mut on, mut single) = (0.0, 0.0);
    for length in steps {
        let multiple = (length / step).round();
        if multiple >= 1.0 && (length - multiple * step).abs() <= reach {
            on += 1.0;
            single += f64::from(u8::from(multiple == 1.0));
        }
    }
    let count = steps.len() as f64;
    2.0 * reach + 1.0 < TAKEN * step
        && on >= CONSISTENT * count
        && single >= (SINGLE * count).max(1.0)
}

/// Nearly all of the time lies within steps that are no longer than this. Of the longest intervals
/// a few were interrupted.
fn longest_of(steps: &[f64]) -> f64 {
    /// The share of the time.
    /// *Default*: moves no figure.
    const NEARLY_ALL: f64 = 0.95;
    let steps = sorted(steps);
    let kept = &steps[..steps.len() - (steps.len() / 100).max(1).min(steps.len() - 1)];
    let mut left = NEARLY_ALL * kept.iter().sum::<f64>();
    let longest = kept.iter().find(|step| {
        left -= **step;
        left <= 0.0
    });
    longest.or(kept.last()).copied().unwrap_or(f64::INFINITY)
}

/// All intervals of each amount of work, the least work first.
pub fn by_amount(groups: &[Intervals]) -> BTreeMap<u64, Vec<i64>> {
    let mut amounts = BTreeMap::<u64, Vec<i64>>::new();
    for group in groups {
        amounts.entry(group.work).or_default().extend(&group.deltas);
    }
    amounts
}
