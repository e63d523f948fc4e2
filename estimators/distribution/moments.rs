//! Variation of single invocations that no single sample can show, because it is shorter than a
//! step of the reference: its size and its skewness, from batches, whose variation adds up.

use std::f64::consts::{PI, TAU};

use crate::distribution::cells::{Cells, Cluster, without_rare};
use crate::statistics::{bisected, mean};
use crate::trace::{Batches, Reference, Run};

/// Variance and skewness of an invocation, each with its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// In whatever unit squared; an infinite error says that nothing is known.
    pub variance: (f64, f64),
    /// Third central moment over the cube of the deviation; that of an exponential tail is 2.
    pub skewness: Option<(f64, f64)>,
}

impl Moments {
    /// Nothing is known.
    pub const UNKNOWN: Self = Self {
        variance: (0.0, f64::INFINITY),
        skewness: None,
    };

    /// In a unit that is `factor` times as small.
    pub fn scaled(self, factor: f64) -> Self {
        let (value, error) = self.variance;
        Self {
            variance: (value * factor * factor, error * factor * factor),
            ..self
        }
    }
}

/// Successive batches that are compared with their own mean only: what drifts, as the frequency of
/// the core does, takes longer. *Judgement*.
const BLOCK: usize = 20;
/// By how much the share of batches that are taken may differ from that of batches all of whose
/// calls are alike: more hold others too. *Chance*.
const OTHERS: f64 = 0.15;
/// The share of batches that a cluster has to hold for its calls to be those of which most are.
/// *Judgement*.
const MOST_OF: f64 = 0.4;
/// Fewer batches tell nothing.
/// *Chance*: a variance known to 22 %.
const FEWEST: usize = 40;

/// The moments of an invocation in one process in steps of the reference, from batches of few, some
/// and many calls: what differs from call to call adds up with the calls, so all give the same
/// variance. What lasts for many calls, as the frequency of a core does or what it has learned of
/// branches, shows in long batches only; so the smallest counts.
pub fn of_calls(run: &Run, reference: &Reference) -> Moments {
    let cells = Cells::from_samples(&run.singles.deltas, reference.step);
    let alone = cells.map_or(1.0, |cells| match &cells.main {
        Some(main) => main.mass(),
        None => cells.core().len() as f64 / cells.samples(),
    });
    let all = [&run.few, &run.some, &run.batches]
        .map(|batches| Sum::from_batches(batches, reference.step, alone));
    let Some(variance) = together(all.iter().flatten().map(|sum| sum.variance)) else {
        return Moments::UNKNOWN;
    };
    let skewness = all[0]
        .as_ref()
        .and_then(|few| few.third)
        .and_then(|third| skewness(third, variance));
    Moments { variance, skewness }
}

/// What several estimates of one variance tell together: the smallest, and those that agree with
/// it.
fn together(each: impl Iterator<Item = (f64, f64)> + Clone) -> Option<(f64, f64)> {
    /// Standard errors that two estimates of the same may lie apart.
    /// *Chance*.
    const AGREE: f64 = 3.0;
    let least = each
        .clone()
        .min_by(|a, b| (a.0 + a.1).total_cmp(&(b.0 + b.1)))?;
    let like = each.filter(|other| (other.0 - least.0).abs() <= AGREE * other.1.hypot(least.1));
    let (mut weights, mut sum) = (0.0, 0.0);
    for (value, error) in like {
        weights += error.powi(-2);
        sum += value * error.powi(-2);
    }
    Some((sum / weights, weights.powf(-0.5)))
}

/// The third central moment over the cube of the deviation, and its error. `None` where it is not
/// known at all.
fn skewness((third, third_error): (f64, f64), (variance, error): (f64, f64)) -> Option<(f64, f64)> {
    /// A skewness that is not known better than this is not known.
    /// *Judgement*: it lies between 0 and 2.
    const WORTHLESS: f64 = 1.0;
    /// No estimate of it is better than this.
    /// *Default*: moves no figure.
    const BEST: f64 = 0.1;
    let value = third / variance.powf(1.5);
    let uncertainty = (third_error / variance.powf(1.5))
        .hypot(1.5 * value * error / variance)
        .max(BEST);
    (variance > 0.0 && uncertainty < WORTHLESS).then_some((value, uncertainty))
}

/// What a sum of calls tells of one call, in steps: its variance, and its third central moment
/// where that can be told.
struct Sum {
    variance: (f64, f64),
    third: Option<(f64, f64)>,
}

impl Sum {
    /// Fewest steps that batches have to vary by, as a deviation, for their third moment to be that
    /// of the calls: what steps add to it is then gone. *Computed*.
    const LEAST_DEVIATION: f64 = 0.4;
    /// What is left of the steps in the variance of sums whose lengths form a lattice of their own,
    /// as two costs half a step apart do: the second term of the series that is taken off, at most.
    /// *Computed*: 1/4π².
    const LATTICE: f64 = 0.025;
    /// Lengths with tails make variances scatter more than a normal law does, by about so much.
    /// *Judgement*.
    const TAILS: f64 = 1.3;

    /// `alone` is the share of calls that are those of which most are.
    fn from_batches(batches: &Batches, step: f64, alone: f64) -> Option<Self> {
        let levels = of_main(&batches.deltas, step)?;
        let expected = alone.powf(batches.calls as f64);
        let taken = levels.len() as f64 / batches.deltas.len() as f64;
        if levels.len() < FEWEST || batches.calls == 0 || (taken - expected).abs() > OTHERS {
            return None;
        }
        let (mut second, mut third, mut blocks) = (0.0, 0.0, 0.0);
        for block in levels.chunks_exact(BLOCK) {
            let (centre, size) = (mean(block)?, BLOCK as f64);
            let moment = |order: i32| {
                block
                    .iter()
                    .map(|level| (level - centre).powi(order))
                    .sum::<f64>()
            };
            second += moment(2) / (size - 1.0);
            third += moment(3) * size / ((size - 1.0) * (size - 2.0));
            blocks += 1.0;
        }
        let (second, third) = (second / blocks, third / blocks);
        let (phase, calls) = (mean(&levels)?, batches.calls as f64);
        let own = without_steps(second, phase);
        let chance = Self::TAILS * second * (2.0 / levels.len() as f64).sqrt();
        // How much the variance behind the steps moves when that in front of them does.
        let slope =
            (without_steps(second + chance, phase) - without_steps(second - chance, phase)) / 2.0;
        let error = slope.max(chance / 4.0).hypot(Self::LATTICE);
        let of_third = Self::TAILS * (6.0 / levels.len() as f64).sqrt() * second.powf(1.5);
        let third = (own > Self::LEAST_DEVIATION * Self::LEAST_DEVIATION)
            .then(|| (third / calls, of_third.hypot(Self::LATTICE) / calls));
        Some(Self {
            variance: (own / calls, error / calls),
            third,
        })
    }
}

/// The lengths of batches in the cluster that holds the most: of calls that were neither
/// interrupted nor slow in a way of their own. Where there is none that stands by itself, all but
/// the rare ones.
fn of_main(deltas: &[i64], step: f64) -> Option<Vec<f64>> {
    let cells = Cells::from_samples(deltas, step)?;
    let most = cells
        .main
        .iter()
        .chain(&cells.others)
        .max_by(|a, b| a.mass().total_cmp(&b.mass()));
    let Some(window) = most
        .filter(|most| most.mass() > MOST_OF)
        .map(Cluster::window)
    else {
        return Some(without_rare(deltas, step));
    };
    let levels = deltas.iter().map(|&ticks| (ticks as f64 / step).round());
    Some(levels.filter(|level| window.contains(level)).collect())
}

/// The variance of lengths whose multiples of a step have this variance and this mean, in steps. A
/// length that does not vary shows at two levels, by its place between them; one that varies by
/// half a step shows a sixth of a squared step more than it has. In between the first terms of the
/// Fourier series of `f (1 − f)` tell.
fn without_steps(variance: f64, mean: f64) -> f64 {
    let seen = |own: f64| {
        let term = |order: f64| {
            (TAU * order * mean).cos() * (-2.0 * PI * PI * order * order * own).exp()
                / (PI * PI * order * order)
        };
        own + 1.0 / 6.0 - (1..=4).map(|order| term(f64::from(order))).sum::<f64>()
    };
    bisected((0.0, variance.max(0.0) + 0.2), 50, |own| {
        seen(own) < variance
    })
    .0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_taken_off_by_phase() {
        // A constant length at 0.3 of a step shows with a variance of 0.21, one in the middle with
        // 0.25.
        assert!(without_steps(0.21, 7.3) < 0.01 && without_steps(0.25, 2.5) < 0.02);
        // Far from constant, a sixth.
        assert!((without_steps(4.0 + 1.0 / 6.0, 2.5) - 4.0).abs() < 1e-6);
        assert_eq!(without_steps(0.0, 3.0), 0.0);
    }
}
