//! Defines the quantities that are compared, the differences that matter, and their notation.

use std::f64::consts::FRAC_PI_2;
use std::sync::LazyLock;

use serde::{Serialize, Serializer};

use crate::fields::{Field, FieldUnit, Kind, Row, Scatter, fields_of};
use crate::model::{Interval, TimerRow};
use crate::statistics::Z;
use crate::text::numbers::{significant, time};

/// The kernel may speed up or slow down its clock by this share to adjust it (adjtimex(2): 500
/// ppm), and it defines the nanoseconds that it returns. *Definition*.
pub const SLEW: f64 = 500e-6;

/// Costs and resolutions that differ by less than this share count as equal: vendors, kernels and
/// hypervisors round declared rates by as much (10.00 and 10.02 ns), and Quality changes by a
/// relative 0.05 %. *Seen*.
const MIN_SHARE: f64 = 0.005;
/// The corresponding share for Quality: the effect of the smallest differences of cost and
/// resolution together (their exponents are -0.1). *Computed*.
const MIN_QUALITY_SHARE: f64 = 0.001;
/// Spreads with a relative difference below this share count as equal: Quality depends on their
/// square root. *Computed*.
const MIN_SPREAD_SHARE: f64 = 2.0 * MIN_QUALITY_SHARE;

/// A quantity that is compared, by its name in the table of fields and by its scatter: the p99 of
/// clocks and that of waits are two quantities of one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantity(&'static str, Scatter);

/// The fields of each kind of rows that are compared, with their names.
static COMPARED: LazyLock<[Vec<(Quantity, &Field)>; 3]> = LazyLock::new(|| {
    Kind::ALL.map(|kind| {
        let named = |field: &'static Field| {
            field
                .compared
                .map(|(name, scatter)| (Quantity(name, scatter), field))
        };
        fields_of(kind).filter_map(named).collect()
    })
});

/// The scale on which values are compared, so that their variance does not depend on their size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparisonScale {
    Linear,
    Logarithmic,
    /// arcsin √*s* of a share *s*.
    Arcsine,
}

impl ComparisonScale {
    /// The value on the scale; `None` if it has none.
    pub fn apply(self, value: f64) -> Option<f64> {
        let scaled = match self {
            Self::Linear => value,
            Self::Logarithmic => value.ln(),
            Self::Arcsine => value.clamp(0.0, 1.0).sqrt().asin(),
        };
        scaled.is_finite().then_some(scaled)
    }

    /// The value at a place on the scale.
    pub fn invert(self, scaled: f64) -> f64 {
        match self {
            Self::Linear => scaled,
            Self::Logarithmic => scaled.exp(),
            Self::Arcsine => scaled.clamp(0.0, FRAC_PI_2).sin().powi(2),
        }
    }

    /// The variance on the scale of a value with a 95 % interval; `None` without an interval. Intervals
    /// from few processes are wider than those of a normal distribution, so the variance is rather
    /// too large.
    pub fn variance(self, figure: Interval) -> Option<f64> {
        let (low, high) = figure.ends()?;
        let value = self.apply(figure.value)?;
        let upper = self.apply(high)? - value;
        // The logarithm has no place for a lower end at zero.
        let lower = self.apply(low).map_or(upper, |low| value - low);
        Some((lower.max(upper) / Z).powi(2))
    }
}

impl Quantity {
    /// Quality, formula (1), in percent; differences are in percentage points.
    pub const QUALITY: Self = Self("Quality", Scatter::Quality);
    /// The cost of an isolated call, in nanoseconds.
    pub const COST: Self = Self("cost", Scatter::Cost);
    /// The resolution, in nanoseconds.
    pub const RESOLUTION: Self = Self("resolution", Scatter::Slew);
    /// The spread, a share.
    pub const SPREAD: Self = Self("spread", Scatter::Spread);

    /// All quantities, without duplicates.
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

    /// The quantities of one kind of rows, Quality first.
    pub fn fields_of(kind: Kind) -> Vec<Self> {
        let mut all: Vec<Self> = COMPARED[kind as usize]
            .iter()
            .map(|(quantity, _)| *quantity)
            .collect();
        all.sort_by_key(|quantity| *quantity != Self::QUALITY);
        all
    }

    fn field_of(self, kind: Kind) -> Option<&'static Field> {
        COMPARED[kind as usize]
            .iter()
            .find(|(other, _)| *other == self)
            .map(|(_, field)| *field)
    }

    fn field(self) -> &'static Field {
        let mut fields = Kind::ALL.into_iter().filter_map(|kind| self.field_of(kind));
        fields.next().expect("quantities are names of fields")
    }

    /// The name.
    pub fn name(self) -> &'static str {
        self.0
    }

    /// The unit.
    pub fn unit(self) -> FieldUnit {
        self.field().unit
    }

    /// The kind of scatter between runs of an unchanged machine.
    pub fn scatter(self) -> Scatter {
        self.1
    }

    /// Whether it is a number of core cycles, unless a device determines it.
    pub fn is_of_core(self) -> bool {
        matches!(self.1, Scatter::Cost | Scatter::Tail)
    }

    /// Whether clocks have the quantity; otherwise sleep primitives or periodic timers have it.
    pub fn is_of_clocks(self) -> bool {
        self.field_of(Kind::Clocks).is_some()
    }

    /// Reads the value from a row. Shares that are printed in percent are compared in percent. A p99
    /// of a clock is no value if it is not known how much processes differ in it.
    pub fn figure(self, row: Row) -> Option<Interval> {
        if self.1 == Scatter::Tail && !has_tails(row.clock()?) {
            return None;
        }
        let figure = self.field_of(row.kind())?.figure(row)?;
        let scale = if self.unit() == FieldUnit::Percent {
            100.0
        } else {
            1.0
        };
        let figure = figure.scaled(scale);
        // An interval of which one end is unknown is unknown.
        Some(Interval::with_ends(figure.value, figure.ends()))
    }

    /// Formats a value for people.
    pub fn written(self, value: f64) -> String {
        match self.unit() {
            FieldUnit::Percent => format!("{value:.2} %"),
            FieldUnit::Share => format!("{value:.3}"),
            // Rounding hides differences below 0.001 ppm.
            FieldUnit::Ppm => format!("{} ppm", significant((value * 1e3).round() / 1e3, 3)),
            _ => time(Some(value)),
        }
    }

    /// Whether the new value is better than the old one.
    pub fn is_better(self, old: f64, new: f64) -> bool {
        match self.unit() {
            FieldUnit::Percent | FieldUnit::Share => new > old,
            FieldUnit::Ppm => new.abs() < old.abs(),
            _ => new < old,
        }
    }

    /// The smallest difference that matters, as a share of the old value.
    pub fn smallest_share(self) -> f64 {
        match self.unit() {
            FieldUnit::Percent => MIN_QUALITY_SHARE,
            FieldUnit::Share => MIN_SPREAD_SHARE,
            FieldUnit::Ppm => 0.0,
            _ => MIN_SHARE,
        }
    }

    /// The smallest difference that matters, in the unit of the quantity. For the rate of a clock,
    /// this is the range within which the kernel slews it.
    pub fn smallest_difference(self, old: f64) -> f64 {
        match (self.unit(), self.scatter()) {
            (FieldUnit::Ppm, Scatter::Slew) => 1e6 * SLEW,
            _ => self.smallest_share() * old.abs(),
        }
    }

    /// The scale on which values are compared.
    pub fn scale(self) -> ComparisonScale {
        match self.unit() {
            FieldUnit::Nanoseconds => ComparisonScale::Logarithmic,
            FieldUnit::Share | FieldUnit::Percent => ComparisonScale::Arcsine,
            _ => ComparisonScale::Linear,
        }
    }

    /// The smallest change of the logarithm that matters; 0 on other scales, where it depends on the
    /// value.
    pub fn smallest_effect(self) -> f64 {
        if self.scale() == ComparisonScale::Logarithmic {
            self.smallest_share()
        } else {
            0.0
        }
    }
}

/// Whether the report holds the p99 of at least two processes of a clock.
fn has_tails(row: &TimerRow) -> bool {
    row.processes
        .iter()
        .filter(|process| process.p99_ns > Some(0.0))
        .count()
        > 1
}

/// Serialises as the name of the quantity.
impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0.to_ascii_lowercase())
    }
}
