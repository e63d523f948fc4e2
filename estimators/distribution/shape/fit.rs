//! Fits model distributions to the samples of one process and to the moments of the cost of a call
//! that batches show. A *level* is a multiple of the reference's step; the *share* of a level is
//! the share of samples that show it.

use super::AKAIKE_PENALTY;
use super::mixture::Mixture;
use crate::distribution::cells::{Cluster, LevelCounts, SHARE_ERROR, UNINTERRUPTED_SHARE};
use crate::distribution::moments::Moments;

/// A cost whose variance is below this, in squared steps, counts as constant, and has no skewness.
/// *Judgement*: so small a variance changes no result.
const MAX_CONSTANT_VARIANCE: f64 = 1e-3;
/// Smaller decreases of the misfit do not continue a search. *Numerical*: only differences of
/// several units decide between models.
const MIN_MISFIT_DECREASE: f64 = 0.02;
/// The largest number of rounds of the coordinate search. *Numerical*: halved or doubled, it
/// changes only the widths of intervals.
const MAX_ROUNDS: usize = 40;
/// The search ends when all strides are shorter than this, in steps. *Numerical*: less than half of
/// `MODEL_ERROR_STEPS`.
const MIN_STRIDE_STEPS: f64 = 2e-3;
/// The least variance of levels, in squared steps, in excess of the variance due to quantisation,
/// that allows an estimate of the skewness. *Numerical*.
pub const MIN_SKEWNESS_VARIANCE: f64 = 0.05;
/// Prior mean and standard deviation of the skewness, used if the samples do not determine it.
/// Costs have a lower limit, so their distribution is skewed to the right. *Judgement*: between a
/// normal distribution (0) and an exponential one (2).
const PRIOR_SKEWNESS: (f64, f64) = (1.0, 0.7);

/// The least standard deviation with which a search for two costs starts, in steps. *Numerical*: a
/// search that starts from two equal costs cannot separate them.
const MIN_START_DEVIATION: f64 = 0.05;

/// A model distribution and its *misfit*: the sum of squared differences between expected and
/// observed values, each divided by the variance of the observed value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    pub model: Mixture,
    pub misfit: f64,
}

/// The initial stride of the search in each parameter; 0 keeps a parameter fixed.
type Strides = [f64; 6];

/// The samples to which model distributions are fitted.
pub struct Data<'a> {
    cluster: &'a Cluster,
    moments: Moments,
    /// The variance of each share in `cluster.shares`.
    variances: Vec<f64>,
}

impl<'a> Data<'a> {
    /// Prepares the samples of one process for a fit. `moments` are the moments of the cost of a
    /// call, in steps. `None` if the samples are too scattered for a model distribution.
    pub fn new(cells: &'a LevelCounts, moments: Moments) -> Option<Self> {
        let cluster = cells.main.as_ref()?;
        let samples = cells.samples() * cluster.share();
        // Batches include calls outside the main cluster.
        let moments = if cluster.share() >= UNINTERRUPTED_SHARE {
            moments
        } else {
            Moments::UNKNOWN
        };
        let variance = |share: &f64| {
            cells.dispersion * (share * (1.0 - share)).max(1.0 / samples) / samples
                + SHARE_ERROR * SHARE_ERROR
        };
        Some(Self {
            cluster,
            moments,
            variances: cluster.shares.iter().map(variance).collect(),
        })
    }

    /// Fits a single cost, constant or with a unimodal distribution, whichever explains the samples
    /// better.
    pub fn fit_one_cost(&self) -> Fit {
        let (mean, variance, skewness) = self.sample_moments();
        let known = self.moments.skewness.map(|(skewness, _)| skewness);
        let start = Mixture::one_cost(mean, variance.sqrt(), known.unwrap_or(skewness));
        let constant = self.with_misfit(Mixture::one_constant_cost(mean));
        let varied = self.coordinate_search(start, [0.05, 0.0, 0.0, 0.1, 0.1, 0.1]);
        // A blur has two parameters; even for a constant cost, the best fit has some blur.
        if constant.misfit <= varied.misfit + 2.0 * AKAIKE_PENALTY {
            constant
        } else {
            varied
        }
    }

    /// Fits a single constant cost. `None` unless a constant cost explains all samples and the
    /// batches show no variation. If it does, every other model would give the same result.
    pub fn fit_constant_cost(&self) -> Option<Fit> {
        let [mean, second, _] = self.cluster.moments();
        // A constant cost shows at no more than two levels, with a variance of at most a quarter of
        // a squared step.
        let (variance, error) = self.moments.variance;
        let is_constant =
            error.is_finite() && variance + 2.0 * error < MAX_CONSTANT_VARIANCE && second < 0.26;
        is_constant
            .then(|| self.with_misfit(Mixture::one_constant_cost(mean)))
            .filter(|fit| fit.misfit < 2.0 * AKAIKE_PENALTY)
    }

    /// Returns the fit with the contribution of the prior skewness subtracted from the misfit.
    pub fn without_skewness_prior(&self, fit: Fit) -> Fit {
        let prior = if self.moments.skewness.is_none() {
            self.misfit_of_skewness(&fit.model)
        } else {
            0.0
        };
        Fit {
            misfit: fit.misfit - prior,
            ..fit
        }
    }

    /// Fits two constant costs, and two costs with blur.
    pub fn fit_two_costs(&self) -> [Fit; 2] {
        let (mean, variance, skewness) = self.sample_moments();
        let skewness = self
            .moments
            .skewness
            .map_or(skewness, |(skewness, _)| skewness)
            .clamp(-3.0, 3.0);
        let by_moments =
            Mixture::two_costs(mean, variance.sqrt().max(MIN_START_DEVIATION), skewness);
        let constant_costs = [Some(by_moments), self.costs_at_peaks()]
            .into_iter()
            .flatten()
            .map(|start| self.coordinate_search(start, [0.1, 0.1, 0.05, 0.0, 0.0, 0.0]));
        let constant_costs =
            least_misfit(constant_costs).unwrap_or_else(|| self.with_misfit(by_moments));
        // Assign half of the variance to the blur of each cost.
        let half_spread = Mixture::two_costs(
            mean,
            (variance / 2.0).sqrt().max(MIN_START_DEVIATION),
            skewness,
        );
        let half_spread = Mixture {
            normal: (variance / 2.0).sqrt(),
            ..half_spread
        };
        let variable_costs = [constant_costs.model, half_spread]
            .into_iter()
            .map(|start| self.coordinate_search(start, [0.05, 0.05, 0.03, 0.05, 0.05, 0.05]));
        [
            constant_costs,
            least_misfit(variable_costs).unwrap_or(constant_costs),
        ]
    }

    /// Returns mean, variance and skewness of the samples in the main cluster, corrected for the
    /// mean variance due to quantisation. The variance from batches is used if it is
    /// known.
    fn sample_moments(&self) -> (f64, f64, f64) {
        let [mean, second, third] = self.cluster.moments();
        let observed = (second - 1.0 / 6.0).max(0.0);
        let (variance, error) = self.moments.variance;
        let variance = if error.is_finite() {
            variance
        } else {
            observed
        };
        let skewness = if observed > MIN_SKEWNESS_VARIANCE {
            third / observed.powf(1.5)
        } else {
            PRIOR_SKEWNESS.0
        };
        (mean, variance.max(0.0), skewness)
    }

    /// Returns two constant costs at the two highest separate peaks of the shares; `None` if there
    /// is only one peak.
    fn costs_at_peaks(&self) -> Option<Mixture> {
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
            .find(|(share, number)| *share > 0.0 && number.abs_diff(first.1) > 1)?;
        let (low, high) = if first.1 < second.1 {
            (first, second)
        } else {
            (second, first)
        };
        let location = |number: usize| self.cluster.first + number as f64;
        let weight = high.0 / (low.0 + high.0);
        Some(Mixture {
            locations: [location(low.1), location(high.1)],
            weight,
            normal: 0.0,
            tail: 0.0,
        })
    }

    /// Returns the model with its misfit.
    fn with_misfit(&self, model: Mixture) -> Fit {
        Fit {
            model,
            misfit: self.misfit(&model),
        }
    }

    /// Coordinate search from `start` with shrinking strides. The parameters are the two locations,
    /// the weight, the standard deviation of the normal blur, the mean of the tail, and the mean of
    /// the tail at constant variance.
    fn coordinate_search(&self, start: Mixture, mut strides: Strides) -> Fit {
        let mut best = self.with_misfit(start);
        for _ in 0..MAX_ROUNDS {
            let mut improved = false;
            for (parameter, stride) in strides
                .into_iter()
                .enumerate()
                .filter(|(_, stride)| *stride > 0.0)
            {
                for delta in [-stride, stride] {
                    let next = self.with_misfit(change_parameter(best.model, parameter, delta));
                    if next.misfit < best.misfit {
                        improved |= best.misfit - next.misfit > MIN_MISFIT_DECREASE;
                        best = next;
                    }
                }
            }
            if !improved {
                strides = strides.map(|stride| stride / 2.5);
                if strides.iter().all(|stride| *stride < MIN_STRIDE_STEPS) {
                    break;
                }
            }
        }
        best
    }

    /// The misfit of a model to the shares and moments.
    fn misfit(&self, model: &Mixture) -> f64 {
        let mut before = [
            model.integral(self.cluster.first - 1.0),
            model.integral(self.cluster.first),
        ];
        let mut sum = 0.0;
        for (number, (share, variance)) in
            self.cluster.shares.iter().zip(&self.variances).enumerate()
        {
            let integral = model.integral(self.cluster.first + number as f64 + 1.0);
            // The mean of the cumulative distribution over this cell, minus its mean over the
            // preceding cell.
            let expected = integral - 2.0 * before[1] + before[0];
            sum += (expected - share).powi(2) / variance;
            before = [before[1], integral];
        }
        sum + self.misfit_of_moments(model)
    }

    fn misfit_of_moments(&self, model: &Mixture) -> f64 {
        let (known, error) = self.moments.variance;
        let variance = model.variance();
        let variance_misfit = if error.is_finite() {
            ((variance - known) / error).powi(2)
        } else {
            0.0
        };
        variance_misfit + self.misfit_of_skewness(model)
    }

    fn misfit_of_skewness(&self, model: &Mixture) -> f64 {
        let (skewness, uncertainty) = self.moments.skewness.unwrap_or(PRIOR_SKEWNESS);
        let variance = model.variance();
        // If the variance is not observable, the skewness is not observable either.
        if variance > MAX_CONSTANT_VARIANCE {
            ((model.third_central_moment() / variance.powf(1.5) - skewness) / uncertainty).powi(2)
        } else {
            0.0
        }
    }
}

fn least_misfit(fits: impl Iterator<Item = Fit>) -> Option<Fit> {
    fits.min_by(|a, b| a.misfit.total_cmp(&b.misfit))
}

/// Changes one of the parameters of [`Data::coordinate_search`] by `delta`.
fn change_parameter(mut model: Mixture, parameter: usize, delta: f64) -> Mixture {
    match parameter {
        0 if model.weight == 0.0 => model.locations = [model.locations[0] + delta; 2],
        0 => model.locations[0] += delta,
        1 => model.locations[1] += delta,
        2 => model.weight = (model.weight + delta).clamp(0.001, 0.999),
        3 => model.normal = (model.normal + delta).max(0.0),
        // Parameters 4 and 5 are the mean of the tail. Both keep the mean of the distribution;
        // parameter 5 also keeps its variance.
        5 => {
            let blur = model.normal.hypot(model.tail);
            let tail = (model.tail + delta).clamp(0.0, blur);
            let normal = (blur * blur - tail * tail).max(0.0).sqrt();
            model = Mixture {
                tail,
                normal,
                ..model.shifted(model.tail - tail)
            };
        }
        _ => {
            let tail = (model.tail + delta).max(0.0);
            model = Mixture {
                tail,
                ..model.shifted(model.tail - tail)
            };
        }
    }
    model
}
