//! The figures that are compared: which differences matter, and how they are written.

use std::sync::LazyLock;

use serde::{Serialize, Serializer};

use crate::fields::{Field, Kind, Row, Scatter, Unit, of_kind};
use crate::model::Interval;
use crate::text::numbers::{significant, time};

/// The kernel may let its clock run faster or slower by this share to set it (adjtimex(2): 500
/// ppm), and nanoseconds are what it says. *Definition*.
pub(super) const SLEW: f64 = 500e-6;

/// Costs and resolutions that differ by less than this share are as good as the same: what vendors,
/// kernels and hypervisors declare of rates is rounded by as much (10.00 and 10.02 ns), and Quality
/// moves by a twentieth of a percent of itself. *Seen*.
const SMALLEST: f64 = 0.005;
/// The same for Quality: what smallest differences of both together make of it (their exponents are
/// -0.1). *Computed*.
const SMALLEST_QUALITY: f64 = 0.001;
/// Spreads that differ by less than this share of them are as good as the same: Quality goes by
/// their square root. *Computed*.
const SMALLEST_SPREAD: f64 = 2.0 * SMALLEST_QUALITY;

/// A figure that is compared, by its name in the table of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantity(&'static str);

/// The fields of each kind of rows that are compared, by their names.
static COMPARED: LazyLock<[Vec<(Quantity, &Field)>; 3]> = LazyLock::new(|| {
    Kind::ALL.map(|kind| {
        let named = |field: &'static Field| Some((Quantity(field.compared?.0), field));
        of_kind(kind).filter_map(named).collect()
    })
});

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
    /// Of a timer that waits, in nanoseconds: its median lateness.
    pub const LATENESS: Self = Self("lateness");

    /// All of them, each once.
    pub fn all() -> impl Iterator<Item = Self> {
        let named = || COMPARED.iter().flatten().map(|(quantity, _)| *quantity);
        let is_first = move |(at, quantity): &(usize, Self)| {
            named().position(|other| other == *quantity) == Some(*at)
        };
        named()
            .enumerate()
            .filter(is_first)
            .map(|(_, quantity)| quantity)
    }

    /// Those of rows of a kind, Quality first.
    pub(super) fn of_kind(kind: Kind) -> Vec<Self> {
        let fields = COMPARED[kind as usize].iter();
        let mut all: Vec<Self> = fields.map(|(quantity, _)| *quantity).collect();
        all.sort_by_key(|quantity| *quantity != Self::QUALITY);
        all
    }

    fn field_of(self, kind: Kind) -> Option<&'static Field> {
        let mut fields = COMPARED[kind as usize].iter();
        fields
            .find(|(other, _)| *other == self)
            .map(|(_, field)| *field)
    }

    fn field(self) -> &'static Field {
        let mut fields = Kind::ALL.into_iter().filter_map(|kind| self.field_of(kind));
        fields.next().expect("quantities are names of fields")
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0
    }

    /// Its unit.
    pub(super) fn unit(self) -> Unit {
        self.field().unit
    }

    /// What runs of an unchanged machine differ by.
    pub(super) fn scatter(self) -> Scatter {
        let compared = self.field().compared;
        compared.map_or(Scatter::None, |(_, scatter)| scatter)
    }

    /// Whether it is of clocks, or else of timers that wait.
    pub(super) fn is_of_clocks(self) -> bool {
        self.field_of(Kind::Clocks).is_some()
    }

    /// Its figure in a row. Shares that people read in percent are compared in percent.
    pub(super) fn figure(self, row: Row) -> Option<Interval> {
        let figure = self.field_of(row.kind())?.figure(row)?;
        let scale = if self.unit() == Unit::Percent {
            100.0
        } else {
            1.0
        };
        figure.scaled(scale).sound()
    }

    /// A figure, as people read it.
    pub(super) fn written(self, value: f64) -> String {
        match self.unit() {
            Unit::Percent => format!("{value:.2} %"),
            Unit::Share => format!("{value:.3}"),
            // Less than a thousandth of a ppm is rounding.
            Unit::Ppm => format!("{} ppm", significant((value * 1e3).round() / 1e3, 3)),
            _ => time(Some(value)),
        }
    }

    /// Whether the new figure is better than the old one.
    pub(super) fn is_better(self, old: f64, new: f64) -> bool {
        match self.unit() {
            Unit::Percent | Unit::Share => new > old,
            Unit::Ppm => new.abs() < old.abs(),
            _ => new < old,
        }
    }

    /// The smallest difference that matters, as a share of the old figure.
    pub(super) fn smallest_share(self) -> f64 {
        match self.unit() {
            Unit::Percent => SMALLEST_QUALITY,
            Unit::Share => SMALLEST_SPREAD,
            Unit::Ppm => 0.0,
            _ => SMALLEST,
        }
    }

    /// The same in the unit of the figure. The rate of a clock differs by what the kernel slews it.
    pub(super) fn smallest_difference(self, old: f64) -> f64 {
        match (self.unit(), self.scatter()) {
            (Unit::Ppm, Scatter::Slew) => 1e6 * SLEW,
            _ => self.smallest_share() * old.abs(),
        }
    }

    /// Whether its differences are reported in percent as well.
    pub(super) fn is_relative(self) -> bool {
        self.unit() == Unit::Nanoseconds
    }
}

/// Documents call it by its name.
impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0.to_ascii_lowercase())
    }
}
