//! Compares an estimated figure (such as a cost) with its true value, and summarises the
//! comparisons over many cases.

use serde::{Serialize, Serializer};

use estimators::model::{Estimate, value_of};
use estimators::statistics::median;

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

    /// Whether the interval contains the true value, up to rounding errors; `None` if either is
    /// missing.
    #[must_use]
    pub fn covered(&self) -> Option<bool> {
        let truth = self.truth?;
        let slack = 1e-9 * truth.abs();
        Some(self.low? - slack <= truth && truth <= self.high? + slack)
    }

    /// Whether the estimate is within `tolerance` of the true value, or both are missing.
    pub(super) fn holds(&self, tolerance: f64) -> bool {
        self.error()
            .map_or(self.truth.is_none() && self.value.is_none(), |error| {
                error <= tolerance
            })
    }

    /// Whether the true value lies outside the interval and the error exceeds `relevant`.
    pub(super) fn misses(&self, relevant: f64) -> bool {
        self.covered() == Some(false) && self.error().is_some_and(|error| error > relevant)
    }
}

/// The unit of errors and widths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unit {
    /// Percent of the true value.
    Percent,
    /// This part of the unit of the figure.
    Of(f64),
}

/// The intervals, widths and errors of one figure over many cases.
#[derive(Clone, Debug, Default)]
pub struct FigureScore {
    covered: u32,
    intervals: u32,
    half_widths: Vec<f64>,
    errors: Vec<f64>,
}

/// A [`FigureScore`] as shares and medians, which are null if there are no intervals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct FigureSummary {
    /// The number of intervals that contain the true value.
    pub covered: u32,
    /// The number of intervals.
    pub intervals: u32,
    /// Median half-width of the intervals.
    pub half_width: Option<f64>,
    /// Median error.
    pub error: Option<f64>,
}

impl Serialize for FigureScore {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.summary().serialize(to)
    }
}

impl FigureScore {
    /// Adds the figure of one case.
    pub(super) fn add(&mut self, found: &FoundFigure, unit: Unit) {
        let Some(covered) = found.covered() else {
            return;
        };
        self.intervals += 1;
        self.covered += u32::from(covered);
        let unit = match unit {
            Unit::Percent => 0.01 * found.truth.unwrap_or(1.0).abs().max(1e-300),
            Unit::Of(part) => part,
        };
        let half_width = found
            .high
            .zip(found.low)
            .map(|(high, low)| (high - low) / 2.0);
        self.half_widths.extend(half_width.map(|half| half / unit));
        self.errors.extend(found.error().map(|error| error / unit));
    }

    /// Converts the counts to shares and medians.
    #[must_use]
    pub fn summary(&self) -> FigureSummary {
        FigureSummary {
            covered: self.covered,
            intervals: self.intervals,
            half_width: median(&self.half_widths),
            error: median(&self.errors),
        }
    }
}
