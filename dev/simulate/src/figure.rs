//! Compares an estimated figure (such as a cost) with its true value, and summarises the
//! comparisons over many timers.
//!
//! An *exact interval* contains the true value in 95 % of cases and is as narrow as the
//! observations permit.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal};

use estimators::model::{Estimate, value_of};
use estimators::statistics::{CONFIDENCE, Z, mean, median};

/// A true figure and its estimate. A value is `None` if the timer has no such figure, or if the
/// estimator determined none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FoundFigure {
    /// The true value.
    pub truth: Option<f64>,
    /// The estimate.
    pub value: Option<f64>,
    /// Lower end of the 95 % interval of the estimate.
    pub low: Option<f64>,
    /// Upper end of the 95 % interval of the estimate.
    pub high: Option<f64>,
}

impl FoundFigure {
    /// A true figure with its estimate.
    #[must_use]
    pub fn new(truth: Option<f64>, found: Option<Estimate>) -> Self {
        Self {
            truth,
            value: value_of(found),
            low: found.and_then(|found| found.low()),
            high: found.and_then(|found| found.high()),
        }
    }

    /// The absolute error of the estimate; `None` if the estimate or the true value is missing.
    #[must_use]
    pub fn error(&self) -> Option<f64> {
        Some((self.value? - self.truth?).abs())
    }

    /// Half the width of the interval.
    #[must_use]
    pub fn half_width(&self) -> Option<f64> {
        Some((self.high? - self.low?) / 2.0)
    }

    /// Whether the interval contains the true value, up to rounding errors; `None` if either is
    /// missing.
    #[must_use]
    pub fn covered(&self) -> Option<bool> {
        let truth = self.truth?;
        let slack = 1e-9 * truth.abs();
        Some(self.low? - slack <= truth && truth <= self.high? + slack)
    }

    /// The interval score (T. Gneiting and A. E. Raftery, *Strictly proper scoring rules,
    /// prediction, and estimation*, JASA 102, 2007, equation 43; R. L. Winkler, JASA 67, 1972): the
    /// width plus forty times the distance by which the true value lies outside. Its mean is
    /// smallest for the narrowest intervals that contain the true value in 95 % of cases.
    pub(super) fn score(&self) -> Option<f64> {
        const SHARE_OUTSIDE: f64 = 1.0 - CONFIDENCE;
        let (truth, low, high) = (self.truth?, self.low?, self.high?);
        Some(high - low + 2.0 / SHARE_OUTSIDE * ((low - truth).max(0.0) + (truth - high).max(0.0)))
    }

    /// Whether the estimate is within `tolerance` of the true value, or both are missing.
    pub(super) fn holds(&self, tolerance: f64) -> bool {
        self.error()
            .map_or(self.truth.is_none() && self.value.is_none(), |error| {
                error <= tolerance
            })
    }

    /// The probability that the true value lies outside this interval with an error above
    /// `relevant`, although the interval is correct (normally distributed errors).
    pub(super) fn unavoidable(&self, relevant: f64) -> f64 {
        let half = self
            .half_width()
            .filter(|half| half.is_finite() && *half > 0.0);
        half.map_or(0.0, |half| {
            2.0 * Normal::standard().sf(Z * (relevant / half).max(1.0))
        })
    }

    /// Whether the true value lies outside the interval and the error exceeds `relevant`.
    pub(super) fn misses(&self, relevant: f64) -> bool {
        self.covered() == Some(false) && self.error().is_some_and(|error| error > relevant)
    }
}

/// Counts and errors of one figure over many timers.
#[derive(Clone, Debug, Default)]
pub struct FigureScore {
    /// Timers for which the figure was right.
    right: u32,
    /// All timers.
    timers: u32,
    /// Intervals that contain the true value.
    covered: u32,
    /// All intervals.
    intervals: u32,
    half_widths: Vec<f64>,
    errors: Vec<f64>,
    scores: Vec<f64>,
}

/// The ratio of the mean score of exact intervals to the mean absolute error, both for a normal
/// distribution: 4 φ(z) / 0.05 standard deviations divided by √(2/π). *Computed*.
const SCORE_PER_ERROR: f64 = 5.86;

/// A [`FigureScore`] as shares, means and medians. All but `right` and `intervals` are null if
/// there are no intervals; `right` is null if there are no timers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct FigureSummary {
    /// Share of timers for which the figure was right.
    pub right: Option<f64>,
    /// Share of intervals that contain the true value.
    pub covered: Option<f64>,
    /// The number of intervals.
    pub intervals: u32,
    /// Median half-width of the intervals, relative to the true value if `FigureScore::add` was
    /// told so, otherwise absolute.
    pub half_width: Option<f64>,
    /// Median error, relative or absolute like the half-width.
    pub error: Option<f64>,
    /// Mean interval score, relative or absolute like the half-width.
    pub score: Option<f64>,
    /// The mean score that exact intervals would have, for normally distributed errors of the
    /// observed mean size.
    pub exact: Option<f64>,
}

impl FigureScore {
    /// Adds the figure of one timer. `right` is the verdict of the caller, who knows which error
    /// this figure may have. With `relative`, errors and widths are divided by the true value.
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
    }

    /// Converts the counts to shares, means and medians.
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
            exact: mean(&self.errors).map(|error| SCORE_PER_ERROR * error),
        }
    }
}
