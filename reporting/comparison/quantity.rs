//! The figures that are compared.

use std::sync::LazyLock;

use serde::{Serialize, Serializer};

use super::{Difference, Interval, Verdict};
use crate::fields::{Field, Kind, Scatter, Unit as FieldUnit, fields, of_kind};
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

/// A figure that is compared, by its name in the table of fields.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity(&'static str);

/// In what a figure is reported, and when it is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    /// In percent, differences in points; more is better.
    Points,
    /// As a share; more is better.
    Share,
    /// In nanoseconds, differences in percent too; less is better.
    Time,
    /// In ppm; what is nearer to 0 is better.
    Ppm,
}

impl Quantity {
    /// Formula (1), in percent; differences in points.
    pub const QUALITY: Self = Self("Quality");
    /// What a call costs alone, in nanoseconds.
    pub const COST: Self = Self("cost");
    /// One step, in nanoseconds.
    pub const RESOLUTION: Self = Self("resolution");
    /// A share.
    pub const SPREAD: Self = Self("spread");
    /// Of a sleep primitive, in nanoseconds: its shortest wait.
    pub const FLOOR: Self = Self("floor");
    /// Of a sleep primitive, in nanoseconds: its median lateness.
    pub const LATENESS: Self = Self("lateness");

    /// All of them, Quality first, those of clocks before all others.
    pub fn all() -> impl Iterator<Item = Self> {
        let names = fields()
            .iter()
            .filter_map(|field| Some(Self(field.compared?.0)));
        std::iter::once(Self::QUALITY).chain(names.filter(|name| *name != Self::QUALITY))
    }

    /// Those of clocks.
    pub(super) fn of_clocks() -> impl Iterator<Item = Self> {
        Self::all().filter(|quantity| quantity.is_of_clocks())
    }

    /// Those that rows of a kind have, each with its field.
    pub(super) fn of_rows(kind: Kind) -> &'static [(Self, &'static Field)] {
        static ALL: LazyLock<[Vec<(Quantity, &Field)>; 3]> = LazyLock::new(|| {
            Kind::ALL.map(|kind| {
                let fields = of_kind(kind);
                fields
                    .filter_map(|field| Some((Quantity(field.compared?.0), field)))
                    .collect()
            })
        });
        &ALL[kind as usize]
    }

    fn field(self) -> &'static Field {
        let is_own = |field: &&Field| field.compared.is_some_and(|(name, _)| name == self.0);
        fields()
            .iter()
            .find(is_own)
            .expect("quantities are made of fields")
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0
    }

    /// In what it is told.
    pub(super) fn measure(self) -> Measure {
        match self.field().unit {
            FieldUnit::Percent => Measure::Points,
            FieldUnit::Share => Measure::Share,
            FieldUnit::Ppm => Measure::Ppm,
            _ => Measure::Time,
        }
    }

    pub(super) fn scatter(self) -> Scatter {
        self.field()
            .compared
            .map_or(Scatter::None, |(_, scatter)| scatter)
    }

    /// Whether it is of clocks, or of timers that wait.
    pub(super) fn is_of_clocks(self) -> bool {
        self.field().is_of(Kind::Clocks)
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
        // Qualities are compared in percent.
        let scale = if self == Self::QUALITY { 100.0 } else { 1.0 };
        field.figure(row.into())?.scaled(scale).sound()
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
