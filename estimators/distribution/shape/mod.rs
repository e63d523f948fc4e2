//! Estimates the distribution of the cost of single invocations, measured with a reference clock
//! that moves in steps.
//!
//! With steps of length `s` and a random phase, an invocation of length `x` is measured as one of
//! the two neighbouring multiples of `s`, more often as the nearer one. In units of steps, the
//! share of samples at or below level `k` is exactly the mean of the cumulative distribution
//! function `F` over the cell `[k, k + 1]`. So quantised samples give the means of `F` over cells
//! without bias, however coarse the reference is. They do not give the values of `F` inside a cell.
//! Inside cells, a model distribution that explains all cells is used: one cost with variation, or
//! two costs. If neither explains the samples, `F` is interpolated between the centres of the
//! cells. All other models that also explain the samples are reported, because the interval of the
//! result must include what the samples do not determine.

mod fit;
mod mixture;

use std::rc::Rc;

use self::fit::{Data, Fit};
use self::mixture::Mixture;
use crate::distribution::bounds::{self, FeasibleRange, ProcessShares};
use crate::distribution::cells::{Cluster, LevelCounts, core_moments, median_share};
use crate::distribution::moments::Moments;
use crate::statistics::{bisect, mean};

/// The model chosen for the distribution of single invocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ModelKind {
    /// One cost, constant or with variation.
    OneCost,
    /// Two constant costs.
    TwoCosts,
    /// Two costs with variation.
    TwoVariableCosts,
    /// No model: the distribution is interpolated.
    Interpolated,
}

/// The kinds with a model distribution, in the order of the fits.
const MODEL_KINDS: [ModelKind; MODEL_COUNT] = [
    ModelKind::OneCost,
    ModelKind::TwoCosts,
    ModelKind::TwoVariableCosts,
];
/// The number of kinds with a model distribution.
const MODEL_COUNT: usize = 3;
/// The number of parameters of each kind: location, normal blur and tail; two locations and a
/// weight; all five. *Computed*: their number.
const PARAMETER_COUNTS: [f64; MODEL_COUNT] = [3.0, 3.0, 5.0];
/// The penalty for each parameter when models that explain the samples equally well are searched
/// for: twice the decrease of the misfit that a superfluous parameter causes on average (Akaike
/// information criterion). *Chance*.
const AKAIKE_PENALTY: f64 = 2.0;
/// A model whose misfit, with the penalty for parameters, is worse by less than this explains the
/// samples equally well: twice the logarithm of a likelihood ratio of 20. *Chance*.
const MAX_MISFIT_EXCESS: f64 = 6.0;
/// The number of processes up to which `MAX_MISFIT_EXCESS` applies; it grows in proportion with
/// more processes. *Judgement*: no model is exact, so many processes always show some misfit.
const MAX_EVIDENCE_PROCESSES: f64 = 5.0;
/// The variance, in squared steps, above which interpolation is as good as a model. *Computed*:
/// quantisation adds a sixth of a squared step, which is a twelfth of this variance.
pub const MIN_INTERPOLATED_VARIANCE: f64 = 2.0;
/// The least number of samples within a range for which their share is counted; with fewer samples
/// the share is computed from the density. *Chance*: 60 samples determine a share to 13 %.
const MIN_COUNTED_SAMPLES: f64 = 60.0;
/// The penalty for each parameter in each process when the model is chosen: 1.5 times the Akaike
/// penalty. Models with two costs pay for one more parameter than they have. *Judgement*.
const SELECTION_PENALTY: f64 = 3.0;
/// A model explains the samples if its misfit is at most this many times the expected misfit.
/// *Default*: moves no figure.
const MAX_MISFIT_RATIO: f64 = 4.0;
/// Standard error of the location of a model distribution, in steps, in addition to sampling error.
/// *Judgement*: no model is exact.
const MODEL_ERROR_STEPS: f64 = 0.005;
/// Standard deviation of the error of interpolation within a cell, in steps: at most 0.09 for a
/// single cost; larger for two costs in one cell. *Computed*.
const INTERPOLATION_ERROR_STEPS: f64 = 0.1;

/// The models fitted to the samples of one process.
#[derive(Clone, Debug)]
pub struct Fits {
    /// The step of the measuring timer, in its ticks.
    step: f64,
    cells: Rc<LevelCounts>,
    /// Moments of the cost from batches, in steps.
    moments: Moments,
    /// A fit for each of [`MODEL_KINDS`]; `None` if the samples are too scattered for a model.
    models: Option<[Fit; MODEL_COUNT]>,
}

/// The model chosen for the samples of all processes together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelChoice {
    /// The kind with the best penalised misfit.
    pub kind: ModelKind,
    /// Other kinds that explain the samples equally well.
    pub alternatives: Vec<ModelKind>,
}

impl Fits {
    /// Fits all models to samples and to the moments `fitted_moments`. The samples are in ticks of
    /// a timer that moves in steps of `step` ticks. `moments` are the moments of the cost of an
    /// invocation from batches, used for the feasible range. All moments are in steps. `None`
    /// without samples.
    pub fn from_samples(
        samples: &[i64],
        step: f64,
        moments: Moments,
        fitted_moments: Moments,
    ) -> Option<Self> {
        let cells = LevelCounts::from_samples(samples, step)?;
        let models = Data::new(&cells, fitted_moments).map(|data| {
            if let Some(constant) = data.fit_constant_cost() {
                return [constant; MODEL_COUNT];
            }
            let [constant_costs, variable_costs] = data.fit_two_costs();
            [data.fit_one_cost(), constant_costs, variable_costs]
                .map(|fit| data.without_skewness_prior(fit))
        });
        Some(Self {
            step,
            cells: Rc::new(cells),
            moments,
            models,
        })
    }

    /// Chooses the model that explains the samples of all processes.
    pub fn choose_model(all: &[Self]) -> ModelChoice {
        let models: Option<Vec<&[Fit; MODEL_COUNT]>> =
            all.iter().map(|fits| fits.models.as_ref()).collect();
        let Some(models) = models.filter(|models| !models.is_empty()) else {
            return ModelChoice {
                kind: ModelKind::Interpolated,
                alternatives: Vec::new(),
            };
        };
        let misfits: [f64; MODEL_COUNT] =
            std::array::from_fn(|kind| models.iter().map(|fits| fits[kind].misfit).sum());
        let processes = all.len() as f64;
        let score = |kind: ModelKind, penalty: f64| {
            misfits[kind as usize] + penalty * processes * PARAMETER_COUNTS[kind as usize]
        };
        // Two costs are chosen only if they explain more than one cost does.
        let selection_score = |kind: ModelKind| {
            score(kind, SELECTION_PENALTY)
                + if kind == ModelKind::OneCost {
                    0.0
                } else {
                    SELECTION_PENALTY * processes
                }
        };
        let best = MODEL_KINDS
            .into_iter()
            .min_by(|a, b| selection_score(*a).total_cmp(&selection_score(*b)))
            .unwrap_or(ModelKind::OneCost);
        let max_misfit: f64 = all
            .iter()
            .map(|fits| {
                MAX_MISFIT_RATIO * (fits.cells.significant_levels() as f64 + PARAMETER_COUNTS[0])
            })
            .sum();
        if misfits[best as usize] > max_misfit {
            return ModelChoice {
                kind: ModelKind::Interpolated,
                alternatives: Vec::new(),
            };
        }
        let others = MODEL_KINDS.into_iter().filter(|kind| *kind != best);
        // No model is exact: a misfit in many processes is not evidence for another model.
        let max_excess = MAX_MISFIT_EXCESS * (processes / MAX_EVIDENCE_PROCESSES).max(1.0);
        let alternatives = others
            .filter(|kind| score(*kind, AKAIKE_PENALTY) < score(best, AKAIKE_PENALTY) + max_excess);
        // If the variation extends over many steps, no model is needed.
        let needs_no_model = all.iter().all(|fits| {
            fits.cells
                .main
                .as_ref()
                .is_some_and(|main| main.moments()[1] > MIN_INTERPOLATED_VARIANCE)
        });
        ModelChoice {
            kind: best,
            alternatives: alternatives
                .chain(needs_no_model.then_some(ModelKind::Interpolated))
                .collect(),
        }
    }

    /// Returns the range of results that the samples of all processes allow under any distribution.
    /// `reach` is the distance from the median, in ticks, within which calls are counted. `None` if
    /// the cost varies over many steps in most processes, because their samples show the
    /// distribution directly.
    pub fn feasible_range(all: &[Self], reach: f64) -> Option<FeasibleRange> {
        let step = all.first()?.step;
        let processes: Vec<ProcessShares> = all.iter().filter_map(Self::process_shares).collect();
        if 2 * processes.len() < all.len() {
            None
        } else {
            bounds::bound_over_processes(&processes, reach / step)
        }
    }

    /// Returns the shares of levels; `None` if the cost varies over many steps.
    fn process_shares(&self) -> Option<ProcessShares<'_>> {
        let main = self
            .cells
            .main
            .as_ref()
            .filter(|main| main.moments()[1] < MIN_INTERPOLATED_VARIANCE)?;
        Some(ProcessShares {
            cells: &self.cells,
            main,
            moments: self.moments,
        })
    }

    /// Returns the distribution under the given kind of model.
    pub fn shape(&self, kind: ModelKind) -> CostShape {
        let model = self
            .models
            .as_ref()
            .and_then(|models| models.get(kind as usize))
            .map(|fit| fit.model);
        let single_cost = |cluster: &Cluster| {
            let [mean, second, third] = cluster.moments();
            let variance = (second - 1.0 / 6.0).max(0.0);
            Mixture::one_cost(
                mean,
                variance.sqrt(),
                if variance > fit::MIN_SKEWNESS_VARIANCE {
                    third / variance.powf(1.5)
                } else {
                    0.0
                },
            )
        };
        CostShape {
            step: self.step,
            cells: Rc::clone(&self.cells),
            model,
            others: self.cells.others.iter().map(single_cost).collect(),
        }
    }
}

/// The distribution of single invocations, in ticks of the timer that measures them.
#[derive(Clone, Debug)]
pub struct CostShape {
    step: f64,
    cells: Rc<LevelCounts>,
    model: Option<Mixture>,
    /// Model distributions of the clusters in `cells.others`.
    others: Vec<Mixture>,
}

/// Summary of a distribution, in ticks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DistributionSummary {
    /// The location of each mode with its share of all invocations, in ascending order. Empty if
    /// the distribution is interpolated.
    pub modes: Vec<(f64, f64)>,
    /// Standard deviation around the mode that holds the median. Without modes, the standard
    /// deviation of all invocations except rare interruptions.
    pub deviation: f64,
    /// The share of invocations far above all other invocations.
    pub interruption_share: f64,
}

impl CostShape {
    /// The distance of the median from the mean of the main cluster, in ticks; negative if the
    /// median is lower. `None` without a main cluster.
    pub fn median_above_main_mean(&self) -> Option<f64> {
        Some(self.median() - self.cells.main.as_ref()?.mean() * self.step)
    }

    /// The median, in ticks. If half of the invocations cost much less than the other half, the
    /// highest of the lower costs.
    pub fn median(&self) -> f64 {
        self.quantile(median_share(self.cells.median_gap))
    }

    /// The median, in ticks, if it is the least of the higher half of the costs. Differs from
    /// [`Self::median`] only if a gap separates the halves.
    pub fn median_above_gap(&self) -> f64 {
        let gap = self.cells.median_gap;
        gap.map_or(self.median(), |gap| self.quantile(gap.upper_share))
    }

    /// The median, in ticks, if all costs of the narrow mode that holds it are equal. Interpolation
    /// spreads them over two steps, so a median near the edge of the mode is off by almost a step.
    pub fn median_of_equal_costs(&self) -> f64 {
        let mode = match self.model {
            Some(_) => None,
            None => self.cells.narrow_mode(self.median() / self.step),
        };
        mode.map_or(self.median(), |mode| mode * self.step)
    }

    /// The cost, in ticks, that the given share of invocations does not exceed.
    pub fn quantile(&self, probability: f64) -> f64 {
        let levels = &self.cells.levels;
        // A sample differs from its cost by less than one step.
        let range = (levels[0] - 1.0, levels[levels.len() - 1] + 1.0);
        let (_, high) = bisect(range, 64, |level| self.share_below(level) < probability);
        high * self.step
    }

    /// Like [`Self::quantile`], but by interpolation without a model: for quantiles far in the
    /// tail, which the models do not describe.
    pub fn interpolated_quantile(&self, probability: f64) -> f64 {
        Self {
            model: None,
            ..self.clone()
        }
        .quantile(probability)
    }

    /// The mean of all invocations except rare interruptions, in ticks. Quantisation does not bias
    /// it.
    pub fn core_mean(&self) -> f64 {
        mean(self.cells.core()).unwrap_or(0.0) * self.step
    }

    /// The variance of all invocations except rare interruptions, in squared ticks, including the
    /// variance due to quantisation.
    pub fn core_variance(&self) -> f64 {
        core_moments(&self.cells)[0] * self.step * self.step
    }

    /// The third central moment divided by the second, of all invocations except rare
    /// interruptions, in ticks.
    pub fn skewness_length(&self) -> f64 {
        let [second, third] = core_moments(&self.cells);
        if second > 0.0 {
            third / second * self.step
        } else {
            0.0
        }
    }

    /// The share of invocations that are rare interruptions, far above all other invocations.
    pub fn interruption_share(&self) -> f64 {
        1.0 - self.cells.core().len() as f64 / self.cells.samples()
    }

    /// Standard deviation of the model error of the median, in ticks: no model is exact, and
    /// without a model the median is interpolated.
    pub fn model_uncertainty(&self) -> f64 {
        if self.model.is_some() {
            return MODEL_ERROR_STEPS * self.step;
        }
        let median = self.median() / self.step;
        // The steeper the distribution, the more the median depends on its shape inside the cell.
        let rise = self.cells.interpolated(median + 0.5) - self.cells.interpolated(median - 0.5);
        INTERPOLATION_ERROR_STEPS * self.step * (2.0 * rise).min(1.0)
    }

    /// The share of invocations within `reach` ticks of the median, limits included.
    pub fn share_within(&self, reach: f64) -> f64 {
        self.share_around(self.median(), reach)
    }

    /// The share of invocations within `reach` ticks of a possible median, limits included.
    pub fn share_around(&self, median: f64, reach: f64) -> f64 {
        let (median, reach) = (median / self.step, reach / self.step);
        let location_tolerance = self.location_tolerance();
        let share = self.share_below(median + reach + location_tolerance)
            - self.share_below(median - reach - location_tolerance);
        let samples = self.cells.samples();
        let min_samples = MIN_COUNTED_SAMPLES.min(samples / 4.0).max(2.0);
        if self.model.is_some() || share * samples >= min_samples {
            return share.clamp(1.0 / samples, 1.0);
        }
        // Too few samples to count: multiply `reach` by the density around the median, estimated
        // from the distance of the nearest samples (Loftsgaarden and Quesenberry, Ann. Math. Stat.
        // 36, 1965).
        let share_around =
            |reach: f64| self.share_below(median + reach) - self.share_below(median - reach);
        let range = (
            reach,
            self.cells.levels[samples as usize - 1] - self.cells.levels[0] + 2.0,
        );
        let (_, high) = bisect(range, 50, |reach| {
            share_around(reach) * samples < min_samples
        });
        ((min_samples - 1.0) / samples * reach / high).clamp(f64::EPSILON, 1.0)
    }

    /// Returns the summary of the distribution, in ticks.
    pub fn summary(&self) -> DistributionSummary {
        let interruption_share = self.interruption_share();
        let (Some(model), Some(main)) = (self.model, &self.cells.main) else {
            return DistributionSummary {
                modes: Vec::new(),
                deviation: self.core_variance().sqrt(),
                interruption_share,
            };
        };
        let component_mean = |number: usize| (model.locations[number] + model.tail) * self.step;
        let mut modes: Vec<(f64, f64)> = self
            .other_clusters()
            .map(|(cluster, model)| (model.mean() * self.step, cluster.share()))
            .collect();
        modes.push((component_mean(0), main.share() * (1.0 - model.weight)));
        if model.weight > 0.0 {
            modes.push((component_mean(1), main.share() * model.weight));
        }
        modes.sort_by(|a, b| a.0.total_cmp(&b.0));
        let deviation = (model.normal * model.normal + model.tail * model.tail).sqrt() * self.step;
        DistributionSummary {
            modes,
            deviation,
            interruption_share,
        }
    }

    /// The clusters other than the main one, with their model distributions.
    fn other_clusters(&self) -> impl Iterator<Item = (&Cluster, &Mixture)> {
        self.cells.others.iter().zip(&self.others)
    }

    /// The largest distance of a single cost from its fitted location, in steps; 0 for a smooth
    /// distribution.
    fn location_tolerance(&self) -> f64 {
        /// Error of a fitted location, in steps. *Default*: moves no figure.
        const LOCATION_ERROR_STEPS: f64 = 0.03;
        self.model
            .filter(|model| model.tail + model.normal < LOCATION_ERROR_STEPS)
            .map_or(0.0, |_| LOCATION_ERROR_STEPS)
    }

    /// The share of invocations with a cost of at most `level` steps.
    fn share_below(&self, level: f64) -> f64 {
        match &self.model {
            Some(model) => self
                .cumulative_in_cluster(model, level)
                .unwrap_or_else(|| self.cells.interpolated(level)),
            None => self.cells.interpolated(level),
        }
    }

    /// The cumulative distribution at `level`, in steps; `None` outside all clusters. The main
    /// cluster follows `model`, and each other cluster has a model of one cost.
    fn cumulative_in_cluster(&self, model: &Mixture, level: f64) -> Option<f64> {
        let main = self.cells.main.as_ref()?;
        if main.window().contains(&level) {
            return Some(main.share_below + main.share() * model.cumulative(level));
        }
        let (cluster, model) = self
            .other_clusters()
            .find(|(cluster, _)| cluster.window().contains(&level))?;
        Some(cluster.share_below + cluster.share() * model.cumulative(level))
    }
}
