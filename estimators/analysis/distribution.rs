//! What the distribution of single invocations is: one cost or several, a tail, and how much lies between processes. The
//! authors of the metric wanted such a description beside the spread (ICPE 2011, section 6).

use crate::analysis::shape::{Described, Shape};
use crate::analysis::singles::View;
use crate::analysis::statistics::{mean, midmean, standard_deviation};
use crate::model::{Distribution, Mode};

/// A cost with less weight than this is part of the tail.
/// *Default*: moves no figure.
const LEAST_SHARE: f64 = 0.005;

/// Over all processes, whose median costs are `costs`.
pub(super) fn distribution(shapes: &[Shape], view: &View, costs: &[f64]) -> Option<Distribution> {
    let each: Vec<Described> = shapes.iter().map(Shape::described).collect();
    let over = |figure: &dyn Fn(&Described) -> f64| midmean(&each.iter().map(figure).collect::<Vec<_>>());
    let medians: Vec<f64> = shapes.iter().map(Shape::median).collect();
    Some(Distribution {
        modes: modes(&each, &medians, view, midmean(costs)?),
        within_ns: over(&|described| described.deviation)? * view.ns_per_tick,
        between_ns: standard_deviation(costs),
        tail_share: mean(&each.iter().map(|described| described.rare).collect::<Vec<_>>())?.clamp(0.0, 1.0),
    })
}

/// The costs that most processes have, each as far from the median cost as there.
fn modes(each: &[Described], medians: &[f64], view: &View, median: f64) -> Vec<Mode> {
    let told = |described: &Described| described.modes.iter().filter(|mode| mode.1 > LEAST_SHARE).count();
    let mut counts: Vec<usize> = each.iter().map(told).collect();
    counts.sort_unstable();
    let usual = counts.get(counts.len() / 2).copied().unwrap_or(0);
    let like: Vec<(Vec<(f64, f64)>, f64)> = each
        .iter()
        .zip(medians)
        .filter(|(described, _)| told(described) == usual)
        .map(|(described, median)| {
            (described.modes.iter().copied().filter(|mode| mode.1 > LEAST_SHARE).collect(), *median)
        })
        .collect();
    (0..usual)
        .filter_map(|number| {
            let apart: Vec<f64> = like.iter().map(|(modes, median)| modes[number].0 - median).collect();
            let share: Vec<f64> = like.iter().map(|(modes, _)| modes[number].1).collect();
            let ns = (median + midmean(&apart)? * view.ns_per_tick).max(0.0);
            Some(Mode { ns, share: midmean(&share)?.clamp(0.0, 1.0) })
        })
        .collect()
}
