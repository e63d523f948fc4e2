//! Fitting laws to the shares of samples by level, and to what batches know of how much a call
//! varies.

use super::law::Law;
use crate::distribution::cells::{Cells, Cluster};
use crate::distribution::moments::Moments;

/// What the shares by level may be off by beyond chance: phases are never quite random, and no law
/// is quite true. *Judgement*.
const MODEL_ERROR: f64 = 0.003;
/// The least share of samples in the window for which what batches show applies to it.
/// *Default*: moves no figure; batches hold all clusters.
const ALONE: f64 = 0.98;
/// A variance of calls below this, in squared steps, moves no figure.
/// *Judgement*.
const STEADY: f64 = 1e-3;
/// A blur has to lower the misfit by this much: twice its parameters, as Akaike has it. It cannot
/// be negative, so that chance alone would always find some. *Chance*.
const EARNED: f64 = 4.0;
/// A misfit that falls by less than this has fallen: what counts are some units.
/// *Numerical*.
const WORTH: f64 = 0.02;
/// Rounds of the coordinate search.
/// *Numerical*.
const ROUNDS: usize = 40;
/// Strides that are shorter than this part of a step end it.
/// *Numerical*: less than half of `MODEL`.
const FINEST: f64 = 2e-3;
/// What batches tell of the variance is where a search begins, if it is known as well as this, in
/// steps squared. *Numerical*.
const WELL_KNOWN: f64 = 0.1;
/// A smaller variance of levels, in steps squared, beyond what steps add, says nothing of the
/// skewness. *Numerical*.
pub const VARIES: f64 = 0.05;
/// A law with a smaller variance, in steps squared, has no skewness that shows.
/// *Judgement*.
const NO_VARIANCE: f64 = 1e-4;
/// The least share of samples in a second peak from which a search begins.
/// *Default*: moves no figure.
const PEAK: f64 = 0.01;
/// Where nothing tells the skewness: costs come on top of a floor, so they are skewed to the right,
/// by this, and to within this. *Judgement*: between a normal law (0) and a tail (2).
const USUAL_SKEWNESS: (f64, f64) = (1.0, 0.7);

/// The least deviation from which a search for two costs begins, in steps: two in one place could
/// not move apart. *Numerical*.
const LEAST_APART: f64 = 0.05;

/// A law, and how badly it fits: a sum of squared errors, each over its variance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    pub law: Law,
    pub misfit: f64,
}

/// Which parameters of a law a search moves.
type Strides = [f64; 6];

/// What a law is held against.
pub struct Data<'a> {
    cluster: &'a Cluster,
    moments: Moments,
    /// Variances of the shares.
    variances: Vec<f64>,
}

impl<'a> Data<'a> {
    /// `None` where samples are too scattered for laws. `moments` are those of a call, in steps.
    pub fn new(cells: &'a Cells, moments: Moments) -> Option<Self> {
        let cluster = cells.main.as_ref()?;
        let samples = cells.samples() * cluster.mass();
        // Batches hold what lies outside as well.
        let moments = if cluster.mass() >= ALONE {
            moments
        } else {
            Moments::UNKNOWN
        };
        let variance = |share: &f64| {
            cells.dispersion * (share * (1.0 - share)).max(1.0 / samples) / samples
                + MODEL_ERROR * MODEL_ERROR
        };
        Some(Self {
            cluster,
            moments,
            variances: cluster.shares.iter().map(variance).collect(),
        })
    }

    /// One cost that varies around one place.
    pub fn one(&self) -> Fit {
        let (mean, variance, skewness) = self.seen();
        let known = self.moments.skewness.map(|(skewness, _)| skewness);
        let start = Law::one(mean, variance.sqrt(), known.unwrap_or(skewness));
        let constant = self.fit(Law::constant(mean));
        let varied = self.search(start, [0.05, 0.0, 0.0, 0.1, 0.1, 0.1]);
        if constant.misfit <= varied.misfit + EARNED {
            constant
        } else {
            varied
        }
    }

    /// A single cost that does not vary, where it explains all there is and nothing says that it
    /// varies: no other law would say anything else.
    pub fn constant(&self) -> Option<Fit> {
        let [mean, second, _] = self.cluster.moments();
        // Phases make at most two levels of it, and a quarter of a squared step.
        let (variance, error) = self.moments.variance;
        let steady = error.is_finite() && variance + 2.0 * error < STEADY && second < 0.26;
        steady
            .then(|| self.fit(Law::constant(mean)))
            .filter(|fit| fit.misfit < EARNED)
    }

    /// The fit without the part of the misfit that rests on the usual skewness.
    pub fn without_usual_skewness(&self, fit: Fit) -> Fit {
        let usual = if self.moments.skewness.is_none() {
            self.skewness_misfit(&fit.law)
        } else {
            0.0
        };
        Fit {
            misfit: fit.misfit - usual,
            ..fit
        }
    }

    /// Two costs that do not vary, and two that do.
    pub fn two(&self) -> [Fit; 2] {
        let (mean, variance, skewness) = self.seen();
        let skewness = self
            .moments
            .skewness
            .map_or(skewness, |(skewness, _)| skewness)
            .clamp(-3.0, 3.0);
        let by_moments = Law::two(mean, variance.sqrt().max(LEAST_APART), skewness);
        let sharp = [Some(by_moments), self.two_peaks()];
        let sharp = sharp
            .into_iter()
            .flatten()
            .map(|start| self.search(start, [0.1, 0.1, 0.05, 0.0, 0.0, 0.0]));
        let sharp = best(sharp).unwrap_or_else(|| self.fit(by_moments));
        // Half of the variation within each of them.
        let half = Law::two(mean, (variance / 2.0).sqrt().max(LEAST_APART), skewness);
        let half = Law {
            normal: (variance / 2.0).sqrt(),
            ..half
        };
        let starts = [sharp.law, half].into_iter();
        let blurred = starts.map(|start| self.search(start, [0.05, 0.05, 0.03, 0.05, 0.05, 0.05]));
        [sharp, best(blurred).unwrap_or(sharp)]
    }

    /// Mean, variance and skewness of what lies in the window, without what steps add on average;
    /// the variance that batches tell where theirs is known better.
    fn seen(&self) -> (f64, f64, f64) {
        let [mean, second, third] = self.cluster.moments();
        let seen = (second - 1.0 / 6.0).max(0.0);
        let (variance, error) = self.moments.variance;
        let variance = if error.is_finite() && error < WELL_KNOWN {
            variance
        } else {
            seen
        };
        let skewness = if seen > VARIES {
            third / seen.powf(1.5)
        } else {
            USUAL_SKEWNESS.0
        };
        (mean, variance.max(0.0), skewness)
    }

    /// Two costs at the two highest levels that are apart, where there are such.
    fn two_peaks(&self) -> Option<Law> {
        let shares = &self.cluster.shares;
        let peak = |number: &usize| {
            let at = |offset: isize| {
                number
                    .checked_add_signed(offset)
                    .and_then(|n| shares.get(n))
                    .copied()
                    .unwrap_or(0.0)
            };
            (at(0) >= at(-1) && at(0) >= at(1)).then(|| (at(-1) + at(0) + at(1), *number))
        };
        let mut peaks: Vec<(f64, usize)> = (0..shares.len())
            .filter_map(|number| peak(&number))
            .collect();
        peaks.sort_by(|a, b| b.0.total_cmp(&a.0));
        let first = *peaks.first()?;
        let second = *peaks
            .iter()
            .find(|(share, number)| *share > PEAK && number.abs_diff(first.1) > 1)?;
        let (low, high) = if first.1 < second.1 {
            (first, second)
        } else {
            (second, first)
        };
        let place = |number: usize| self.cluster.first + number as f64;
        let weight = high.0 / (low.0 + high.0);
        Some(Law {
            place: [place(low.1), place(high.1)],
            weight,
            normal: 0.0,
            tail: 0.0,
        })
    }

    fn fit(&self, law: Law) -> Fit {
        Fit {
            law,
            misfit: self.misfit(&law),
        }
    }

    /// Coordinate search from here with shrinking strides for the two places, the weight, the
    /// normal blur, the tail, and the tail at the cost of the blur.
    fn search(&self, start: Law, mut strides: Strides) -> Fit {
        let mut best = self.fit(start);
        for _ in 0..ROUNDS {
            let mut improved = false;
            for (parameter, stride) in strides
                .into_iter()
                .enumerate()
                .filter(|(_, stride)| *stride > 0.0)
            {
                for delta in [-stride, stride] {
                    let next = self.fit(moved(best.law, parameter, delta));
                    if next.misfit < best.misfit {
                        improved |= best.misfit - next.misfit > WORTH;
                        best = next;
                    }
                }
            }
            if !improved {
                strides = strides.map(|stride| stride / 2.5);
                if strides.iter().all(|stride| *stride < FINEST) {
                    break;
                }
            }
        }
        best
    }

    fn misfit(&self, law: &Law) -> f64 {
        let mut before = [
            law.integral(self.cluster.first - 1.0),
            law.integral(self.cluster.first),
        ];
        let mut sum = 0.0;
        for (number, (share, variance)) in
            self.cluster.shares.iter().zip(&self.variances).enumerate()
        {
            let here = law.integral(self.cluster.first + number as f64 + 1.0);
            // The mean of the cumulative distribution over this cell, less that over the one
            // before.
            let expected = here - 2.0 * before[1] + before[0];
            sum += (expected - share).powi(2) / variance;
            before = [before[1], here];
        }
        sum + self.moments_misfit(law)
    }

    fn moments_misfit(&self, law: &Law) -> f64 {
        let (known, error) = self.moments.variance;
        let variance = law.variance();
        let of_variance = if error.is_finite() {
            ((variance - known) / error).powi(2)
        } else {
            0.0
        };
        of_variance + self.skewness_misfit(law)
    }

    fn skewness_misfit(&self, law: &Law) -> f64 {
        let (skewness, uncertainty) = self.moments.skewness.unwrap_or(USUAL_SKEWNESS);
        let variance = law.variance();
        // A variance that does not show has no skewness that could.
        if variance > NO_VARIANCE {
            ((law.third() / variance.powf(1.5) - skewness) / uncertainty).powi(2)
        } else {
            0.0
        }
    }
}

fn best(fits: impl Iterator<Item = Fit>) -> Option<Fit> {
    fits.min_by(|a, b| a.misfit.total_cmp(&b.misfit))
}

fn moved(mut law: Law, parameter: usize, delta: f64) -> Law {
    match parameter {
        0 if law.weight == 0.0 => law.place = [law.place[0] + delta; 2],
        0 => law.place[0] += delta,
        1 => law.place[1] += delta,
        2 => law.weight = (law.weight + delta).clamp(0.001, 0.999),
        3 => law.normal = (law.normal + delta).max(0.0),
        // The mean stays where it is, and with the last the variance as well.
        5 => {
            let blur = law.normal.hypot(law.tail);
            let tail = (law.tail + delta).clamp(0.0, blur);
            let normal = (blur * blur - tail * tail).max(0.0).sqrt();
            law = Law {
                tail,
                normal,
                ..law.shifted(law.tail - tail)
            };
        }
        _ => {
            let tail = (law.tail + delta).max(0.0);
            law = Law {
                tail,
                ..law.shifted(law.tail - tail)
            };
        }
    }
    law
}
