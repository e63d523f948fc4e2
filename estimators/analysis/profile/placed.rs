//! Cost and spread of each process, and over all of them.

use crate::analysis::core_frequency::Following;
use crate::analysis::cost::Cost;
use crate::analysis::interval::{Regimes, Z, over_processes, regimes};
use crate::analysis::statistics::midmean;
use crate::model::Estimate;

/// What phases that are not random shift singles by, in steps, as a standard deviation: that of a place anywhere within a step.
/// *Computed*: 1/√12.
const PHASE: f64 = 0.289;

/// Cost and spread of each process, the cost placed by singles and batches together.
pub(super) struct Placed {
    pub(super) each: Vec<Cost>,
    pub(super) costs: Vec<f64>,
    pub(super) spreads: Vec<f64>,
    /// How far from there the singles alone have it, in nanoseconds.
    pub(super) by_singles: f64,
    /// Half the width of what the laws leave uncertain, in nanoseconds.
    pub(super) model: f64,
}

/// Places the median of single calls. Singles leave it open by a step of the reference, as their phases may lock; within that
/// batches place it, as far as they know it better, and never beyond. What a call alone takes longer than one in a row, within
/// the step, is then still uncertain.
pub(super) fn placed(figures: Vec<(Cost, Option<f64>)>, step: f64) -> Placed {
    let spreads = figures.iter().filter_map(|(_, spread)| *spread).collect();
    let mut each: Vec<Cost> = figures.into_iter().map(|(cost, _)| cost).collect();
    let over =
        |figure: fn(&Cost) -> f64| midmean(&each.iter().map(figure).collect::<Vec<_>>()).unwrap_or(0.0);
    let (phase, chance) = (PHASE * step, over(|cost| cost.error));
    let by_batches = if phase > 0.0 { phase * phase / (phase * phase + chance * chance) } else { 0.0 };
    let place = |cost: &Cost| {
        let placed = cost.alone - by_batches * (cost.alone - cost.by_batches).clamp(-step, step);
        placed.min(cost.most)
    };
    let costs: Vec<f64> = each.iter().map(place).collect();
    let by_singles = over(|cost| cost.alone) - midmean(&costs).unwrap_or(0.0);
    let model = Z * over(|cost| cost.model);
    each.iter_mut().zip(&costs).for_each(|(cost, placed)| cost.p99 = cost.p99.max(*placed));
    Placed { each, costs, spreads, by_singles, model }
}

/// Cost and spread over processes.
pub(super) struct Found {
    pub(super) each: Vec<Cost>,
    pub(super) costs: Vec<f64>,
    pub(super) spreads: Vec<f64>,
    pub(super) instead: Vec<(f64, f64)>,
    pub(super) laws: Vec<(f64, f64)>,
    pub(super) regimes: Option<Regimes>,
    pub(super) following: Following,
    pub(super) samples: f64,
}

impl Found {
    pub(super) fn from(
        placed: Placed,
        mut instead: Vec<(f64, f64)>,
        laws: Vec<(f64, f64)>,
        following: Following,
        samples: f64,
    ) -> Self {
        let regimes = regimes(&placed.costs);
        if let (Some(two), Some(spread)) = (regimes, midmean(&placed.spreads)) {
            instead.extend([(two.low, spread), (two.high, spread)]);
        }
        Self {
            each: placed.each,
            costs: placed.costs,
            spreads: placed.spreads,
            instead,
            laws,
            regimes,
            following,
            samples,
        }
    }

    pub(super) fn column(&self, figure: fn(&Cost) -> f64) -> Vec<f64> {
        self.each.iter().map(figure).collect()
    }

    pub(super) fn cost(&self) -> Option<Estimate> {
        let instead: Vec<f64> = self.instead.iter().map(|(cost, _)| *cost).collect();
        let laws: Vec<f64> = self.laws.iter().map(|(cost, _)| *cost).collect();
        Some(over_processes(&self.costs)?.widened(&instead).or_around(&laws))
    }

    pub(super) fn spread(&self) -> Option<Estimate> {
        let instead: Vec<f64> = self.instead.iter().map(|(_, spread)| *spread).collect();
        let laws: Vec<f64> = self.laws.iter().map(|(_, spread)| *spread).collect();
        let known = over_processes(&self.spreads)?.widened(&instead).or_around(&laws);
        Some(known.counted(self.samples).within(0.0, 1.0))
    }
}
