//! The figures that are compared.

use std::sync::LazyLock;

use serde::{Serialize, Serializer};

use super::{Difference, Interval, Verdict};
use crate::fields::{Comparable, Field, Kind, Measure, Row, Scatter, of_kind};
use crate::model::TimerRow;
use crate::text::numbers::{significant, time};

/// The kernel may let its clock run faster or slower by this share to set it (adjtimex(2): 500
/// ppm), and nanoseconds are what it says. *Definition*.
pub(super) const SLEW: f64 = 500e-6;

/// Costs and resolutions that differ by less than this share are as good as the same: what vendors,
/// kernels and hypervisors declare of rates is rounded by as much (10.00 and 10.02 ns), and Quality
/// moves by a twentieth of a percent of itself. *Seen*.
pub const SMALLEST: f64 = 0.005;
/// The same for Quality: what smallest differences of both together make of it (their exponents are
/// -0.1). *Computed*.
pub const SMALLEST_QUALITY: f64 = 0.001;
/// Spreads that differ by less than this share of them are as good as the same: Quality goes by
/// their square root. *Computed*.
pub const SMALLEST_SPREAD: f64 = 2.0 * SMALLEST_QUALITY;

/// A figure that is compared: what the list of fields knows of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity(&'static Comparable);

impl Quantity {
    /// Formula (1), in percent; differences in points.
    pub const QUALITY: Self = Self(Comparable::QUALITY);
    /// What a call costs alone, in nanoseconds.
    pub const COST: Self = Self(Comparable::COST);
    /// One step, in nanoseconds.
    pub const RESOLUTION: Self = Self(Comparable::RESOLUTION);
    /// A share.
    pub const SPREAD: Self = Self(Comparable::SPREAD);
    /// Of a timer that waits, in nanoseconds: its shortest wait.
    pub const FLOOR: Self = Self(Comparable::FLOOR);
    /// Of a timer that waits, in nanoseconds: its median lateness.
    pub const LATENESS: Self = Self(Comparable::LATENESS);

    /// All of them, Quality first, those of timers that wait last.
    pub fn all() -> impl Iterator<Item = Self> {
        Comparable::ALL.iter().map(|compared| Self(compared))
    }

    /// Those of clocks.
    pub(super) fn of_clocks() -> [Self; Comparable::OF_CLOCKS] {
        let mut of_clocks = Self::all().filter(|quantity| quantity.is_of_clocks());
        std::array::from_fn(|_| of_clocks.next().expect("as many as were counted"))
    }

    /// Those that rows of a kind have, each with its field.
    pub(super) fn of_rows(kind: Kind) -> &'static [(Self, &'static Field)] {
        static ALL: LazyLock<[Vec<(Quantity, &Field)>; 3]> = LazyLock::new(|| {
            [Kind::Clocks, Kind::Waits, Kind::Periods].map(|kind| {
                let field = |quantity: Quantity| {
                    let field = of_kind(kind).find(|field| field.compared == Some(quantity.0))?;
                    Some((quantity, field))
                };
                Quantity::all().filter_map(field).collect()
            })
        });
        &ALL[kind as usize]
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// In what it is told.
    pub(super) fn measure(self) -> Measure {
        self.0.measure
    }

    pub(super) fn scatter(self) -> Scatter {
        self.0.scatter
    }

    /// Whether it is of clocks, or of timers that wait.
    pub(super) fn is_of_clocks(self) -> bool {
        self.0.of_clocks
    }

    /// The figure, as people read it.
    pub(super) fn written(self, value: f64) -> String {
        match self.measure() {
            Measure::Points => format!("{value:.2} %"),
            Measure::Share => format!("{value:.3}"),
            // What is below a thousandth of a ppm is rounding.
            Measure::Ppm => format!("{} ppm", significant((value * 1e3).round() / 1e3, 3)),
            Measure::Time => time(Some(value)),
        }
    }

    /// Its value and interval in a row, as the report has them; nothing where it was not
    /// determined.
    pub(super) fn of(self, row: &TimerRow) -> Option<Interval> {
        let (_, field) = Self::of_rows(Kind::Clocks)
            .iter()
            .find(|(quantity, _)| *quantity == self)?;
        field.figure(&Row::Clock(row))?.sound()
    }

    /// Whether a difference is as large as the smallest that matters.
    pub(super) fn matters(self, difference: &Difference) -> bool {
        difference.absolute.abs() >= self.smallest_of(difference.old.value)
    }

    /// Better or worse, by the sign of a difference.
    pub(super) fn direction(self, difference: &Difference) -> Verdict {
        let better = match self.measure() {
            Measure::Points | Measure::Share => difference.absolute > 0.0,
            Measure::Ppm => difference.new.value.abs() < difference.old.value.abs(),
            Measure::Time => difference.absolute < 0.0,
        };
        if better {
            Verdict::Better
        } else {
            Verdict::Worse
        }
    }

    /// The smallest difference that matters from this figure on, in its unit. The rate of a clock
    /// differs by what the kernel slews it.
    pub(super) fn smallest_of(self, old: f64) -> f64 {
        match (self.measure(), self.scatter()) {
            (Measure::Ppm, Scatter::Slew) => 1e6 * SLEW,
            _ => self.smallest() * old.abs(),
        }
    }

    /// The smallest difference that matters, as a share of the old figure.
    pub(super) fn smallest(self) -> f64 {
        match self.measure() {
            Measure::Points => SMALLEST_QUALITY,
            Measure::Share => SMALLEST_SPREAD,
            Measure::Ppm => 0.0,
            Measure::Time => SMALLEST,
        }
    }

    /// Whether its differences are told in percent too.
    pub(super) fn is_relative(self) -> bool {
        self.measure() == Measure::Time
    }
}

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.name().to_ascii_lowercase())
    }
}
