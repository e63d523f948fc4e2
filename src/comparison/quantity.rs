//! The figures that are compared.

use serde::Serialize;

use super::{Compared, Difference, Figure, Unit, Verdict};
use crate::model::{AccuracyKind, TimerRow};

/// The kernel may let its clock run faster or slower by this share to set it (adjtimex(2): 500 ppm), and nanoseconds are
/// what it says.
pub(super) const SLEW: f64 = 500e-6;

/// Costs and accuracies that differ by less than this share are as good as the same: what vendors, kernels and hypervisors
/// declare of rates is rounded by as much (10.00 and 10.02 ns), and Quality moves by a twentieth of a percent of itself.
pub const SMALLEST: f64 = 0.005;
/// The same for Quality: what smallest differences of both together make of it (their exponents are -0.1).
pub const SMALLEST_QUALITY: f64 = 0.001;
/// Spreads that differ by less than this share of them are as good as the same: Quality goes by their square root.
pub const SMALLEST_SPREAD: f64 = 2.0 * SMALLEST_QUALITY;

/// A figure of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Quantity {
    /// In percent; differences in points.
    Quality,
    /// In nanoseconds; differences in nanoseconds and in percent.
    Cost,
    /// In nanoseconds; differences in nanoseconds and in percent.
    Accuracy,
    /// A share.
    Spread,
    /// Of a timer that waits, in nanoseconds: the step of its lengths or wake-ups.
    Granularity,
    /// Of a timer that waits, in nanoseconds: its shortest wait.
    Floor,
    /// Of a timer that waits, in nanoseconds: its median lateness.
    Lateness,
    /// Of a timer that waits, in nanoseconds: the 99th percentile of its lateness.
    #[serde(rename = "p99")]
    Tail,
    /// Of a timer that waits, in nanoseconds: CPU time a wait.
    Cpu,
    /// Of a periodic timer, in ppm: by how much its period is too long.
    Rate,
}

impl Quantity {
    /// All of them, Quality first, those of timers that wait last.
    pub const ALL: [Self; 10] = [
        Self::Quality,
        Self::Cost,
        Self::Accuracy,
        Self::Spread,
        Self::Granularity,
        Self::Floor,
        Self::Lateness,
        Self::Tail,
        Self::Cpu,
        Self::Rate,
    ];

    /// Those of clocks.
    pub(super) const OF_CLOCKS: [Self; 4] = [Self::Quality, Self::Cost, Self::Accuracy, Self::Spread];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Quality => "Quality",
            Self::Cost => "cost",
            Self::Accuracy => "accuracy",
            Self::Spread => "spread",
            Self::Granularity => "granularity",
            Self::Floor => "floor",
            Self::Lateness => "lateness",
            Self::Tail => "p99",
            Self::Cpu => "cpu",
            Self::Rate => "rate",
        }
    }

    /// Its value and interval in a row, as the report has them; nothing where it was not determined.
    pub(super) fn of<F, V>(self, row: &TimerRow<F, V>) -> Option<Figure> {
        let percent = |share: Option<f64>| share.map(|share| share * 100.0);
        let (value, low, high) = match self {
            Self::Quality => (percent(row.quality), percent(row.quality_low), percent(row.quality_high)),
            Self::Cost => {
                let cost = row.cost.as_ref()?;
                (cost.median_ns, cost.low_ns, cost.high_ns)
            }
            Self::Accuracy => {
                let accuracy = row.accuracy.as_ref().filter(|a| a.kind == AccuracyKind::Resolved)?;
                (accuracy.ns, accuracy.low_ns, accuracy.high_ns)
            }
            Self::Spread => (row.spread, row.spread_low, row.spread_high),
            Self::Granularity | Self::Floor | Self::Lateness | Self::Tail | Self::Cpu | Self::Rate => {
                return None;
            }
        };
        Figure::new(value?, low, high)
    }

    /// As [`of`](Self::of), times with what a nanosecond itself may be off by.
    pub(super) fn slewed<F, V>(self, row: &TimerRow<F, V>) -> Option<Figure> {
        let figure = self.of(row)?;
        let interval = figure.interval.filter(|_| self.is_relative());
        let widened = interval.map(|(low, high)| (low * (1.0 - SLEW), high * (1.0 + SLEW)));
        Some(Figure { interval: widened.or(figure.interval), ..figure })
    }

    /// Whether a difference is more than noise by its own 95 % interval, and in which direction.
    pub(super) fn judged(self, timer: String, difference: Difference, single_process: bool) -> Compared {
        let matters = self.matters(&difference);
        let verdict = match difference.is_more_than_noise() {
            None => Verdict::Unjudged,
            Some(true) if matters => self.direction(&difference),
            Some(_) => Verdict::Noise,
        };
        Compared {
            timer,
            quantity: self,
            difference,
            verdict,
            matters,
            single_process,
            unit: None::<Unit>,
            probability: None,
            detectable: None,
        }
    }

    /// Whether a difference is as large as the smallest that matters.
    pub(super) fn matters(self, difference: &Difference) -> bool {
        difference.absolute.abs() >= self.smallest() * difference.old.value.abs()
    }

    /// Better or worse, by the sign of a difference.
    pub(super) fn direction(self, difference: &Difference) -> Verdict {
        let better = match self {
            Self::Quality | Self::Spread => difference.absolute > 0.0,
            Self::Rate => difference.new.value.abs() < difference.old.value.abs(),
            _ => difference.absolute < 0.0,
        };
        if better { Verdict::Better } else { Verdict::Worse }
    }

    /// The smallest difference that matters, as a share of the old figure.
    pub(super) fn smallest(self) -> f64 {
        match self {
            Self::Quality => SMALLEST_QUALITY,
            Self::Spread => SMALLEST_SPREAD,
            Self::Rate => 0.0,
            _ => SMALLEST,
        }
    }

    /// Whether its differences are told in percent too.
    pub(super) fn is_relative(self) -> bool {
        !matches!(self, Self::Quality | Self::Spread | Self::Rate)
    }
}
