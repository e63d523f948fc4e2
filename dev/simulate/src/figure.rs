//! A figure compared with what is true, and how one figure did on many timers.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal};

use timermeter::statistics::{CONFIDENCE, Z, mean, median};

/// A figure as it should be and as it was found; nothing where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FoundFigure {
    /// What is true.
    pub truth: Option<f64>,
    /// What was found.
    pub value: Option<f64>,
    /// Lower end of the 95 % interval.
    pub low: Option<f64>,
    /// Upper end of the 95 % interval.
    pub high: Option<f64>,
    /// The width that would remain with infinitely many observations.
    pub irreducible: f64,
}

impl FoundFigure {
    /// How far the figure is off; `None` where it or its truth is missing.
    #[must_use]
    pub fn error(&self) -> Option<f64> {
        Some((self.value? - self.truth?).abs())
    }

    /// Half the width of its interval.
    #[must_use]
    pub fn half_width(&self) -> Option<f64> {
        Some((self.high? - self.low?) / 2.0)
    }

    /// Whether its interval holds the truth, but for what numbers are rounded by.
    #[must_use]
    pub fn covered(&self) -> Option<bool> {
        let truth = self.truth?;
        let slack = 1e-9 * truth.abs();
        Some(self.low? - slack <= truth && truth <= self.high? + slack)
    }

    /// The interval score (T. Gneiting and A. E. Raftery, *Strictly proper scoring rules,
    /// prediction, and estimation*, JASA 102, 2007, equation 43; R. L. Winkler, JASA 67, 1972): the
    /// width, and forty times as much as the truth lies outside. Least on average where intervals
    /// hold the truth 95 times in 100 and are no wider than that takes.
    pub(super) fn score(&self) -> Option<f64> {
        const SHARE_OUTSIDE: f64 = 1.0 - CONFIDENCE;
        let (truth, low, high) = (self.truth?, self.low?, self.high?);
        Some(high - low + 2.0 / SHARE_OUTSIDE * ((low - truth).max(0.0) + (truth - high).max(0.0)))
    }

    /// Right to within `tolerance`; none where there is none.
    pub(super) fn holds(&self, tolerance: f64) -> bool {
        self.error()
            .map_or(self.truth.is_none() && self.value.is_none(), |error| {
                error <= tolerance
            })
    }

    /// How often a normal law with just this 95 % interval is off by more than that and by more
    /// than matters: what no exact interval can avoid where it is wider than what matters.
    pub(super) fn unavoidable(&self, matters: f64) -> f64 {
        let half = self
            .half_width()
            .filter(|half| half.is_finite() && *half > 0.0);
        half.map_or(0.0, |half| {
            2.0 * Normal::standard().sf(Z * (matters / half).max(1.0))
        })
    }

    /// Outside of its interval, and off by more than matters.
    pub(super) fn misses(&self, matters: f64) -> bool {
        self.covered() == Some(false) && self.error().is_some_and(|error| error > matters)
    }
}

/// How one figure did.
#[derive(Clone, Debug, Default)]
pub struct FigureScore {
    /// Timers on which it was right, and on how many it was asked.
    right: u32,
    timers: u32,
    /// Intervals that hold the truth, and those there are.
    covered: u32,
    intervals: u32,
    half_widths: Vec<f64>,
    errors: Vec<f64>,
    scores: Vec<f64>,
    irreducible: Vec<f64>,
}

/// The mean interval score of exact intervals of a normal law over its mean absolute error: 4 φ(z)
/// / 0.05 deviations over √(2/π) of them. *Computed*.
const EXACT: f64 = 5.86;

/// The same as shares and medians; null where there is nothing to take them of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct FigureSummary {
    /// Share of timers on which it was right.
    pub right: Option<f64>,
    /// Share of intervals that hold the truth.
    pub covered: Option<f64>,
    /// Intervals that there are.
    pub intervals: u32,
    /// Median half-width of the intervals: relative for resolution and cost, absolute for spread and
    /// Quality.
    pub half_width: Option<f64>,
    /// Median error, relative or absolute as the half-width.
    pub error: Option<f64>,
    /// Mean interval score, relative or absolute as the half-width.
    pub score: Option<f64>,
    /// That of exact intervals, as wide as the figure of each timer really scatters around its
    /// truth, by a normal law.
    pub exact: Option<f64>,
    /// The mean width that would remain with infinitely many single calls and batches.
    pub irreducible: Option<f64>,
}

impl FigureScore {
    /// Counts one more: whether it was right, and whether its interval, which is relative to
    /// the truth or not, holds it.
    pub(super) fn add(&mut self, found: &FoundFigure, right: bool, relative: bool) {
        self.timers += 1;
        self.right += u32::from(right);
        let Some(covered) = found.covered() else {
            return;
        };
        self.intervals += 1;
        self.covered += u32::from(covered);
        let unit = if relative {
            found.truth.unwrap_or(1.0).abs().max(1e-300)
        } else {
            1.0
        };
        self.half_widths
            .extend(found.half_width().map(|half| half / unit));
        self.errors.extend(found.error().map(|error| error / unit));
        self.scores.extend(found.score().map(|score| score / unit));
        self.irreducible.push(found.irreducible / unit);
    }

    /// As shares and medians.
    #[must_use]
    pub fn summary(&self) -> FigureSummary {
        let share = |part: u32, all: u32| (all > 0).then(|| f64::from(part) / f64::from(all));
        FigureSummary {
            right: share(self.right, self.timers),
            covered: share(self.covered, self.intervals),
            intervals: self.intervals,
            half_width: median(&self.half_widths),
            error: median(&self.errors),
            score: mean(&self.scores),
            exact: mean(&self.errors).map(|error| EXACT * error),
            irreducible: mean(&self.irreducible),
        }
    }
}
