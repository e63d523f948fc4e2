//! What the figures of a timer are drawn from: samples and histograms.

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// What the figures of a timer are drawn from.
#[apply(wire)]
#[derive(Default)]
pub struct Figures {
    /// Intervals over work.
    pub staircase: Option<Staircase>,
    /// How often intervals of each length were seen, with random work between the reads.
    pub intervals: Option<IntervalHistogram>,
    /// How often single invocations of each cost were seen.
    pub singles: Option<CostHistogram>,
}

impl Figures {
    /// Without those that cannot be drawn, and not be written down: JSON has no NaN and no
    /// infinity.
    pub fn sound(self) -> Self {
        let costs =
            |costs: &CostHistogram| costs.first_ns.is_finite() && costs.width_ns.is_finite();
        Self {
            staircase: self
                .staircase
                .filter(|stairs| stairs.ns_per_work.is_finite()),
            singles: self.singles.filter(costs),
            ..self
        }
    }
}

/// A sample of the intervals between two reads: from each of twenty stretches of work as many,
/// spread evenly from the shorter to the longer ones. Where most intervals stand still, those that
/// moved are kept more often than they occurred.
#[apply(wire)]
pub struct Staircase {
    /// Nanoseconds in a unit of work.
    pub ns_per_work: f64,
    /// Units of work between the reads, a number a point.
    #[serde(serialize_with = "in_one_line")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<u64>"))]
    pub work: Vec<u64>,
    /// Second reading minus first, in ticks of the timer, a number a point.
    #[serde(serialize_with = "in_one_line")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<i64>"))]
    pub ticks: Vec<i64>,
    /// How many intervals these points stand for.
    pub intervals: u64,
}

/// How often intervals of each length were seen.
#[apply(wire)]
pub struct IntervalHistogram {
    /// The shortest interval that the first count holds, in ticks of the timer.
    pub first_ticks: i64,
    /// Ticks that a count holds: `first_ticks` and the next ones, up to this many.
    pub width_ticks: u64,
    /// Intervals, a number a bin.
    #[serde(serialize_with = "in_one_line")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<u64>"))]
    pub counts: Vec<u64>,
    /// Intervals below the first bin.
    pub below: u64,
    /// Intervals above the last bin.
    pub above: u64,
}

/// How often single invocations of each cost were seen, in all processes, the bracket taken off.
#[apply(wire)]
pub struct CostHistogram {
    /// Where the first bin begins, in nanoseconds. A bin lies around a whole number of steps of
    /// what saw it.
    pub first_ns: f64,
    /// How wide a bin is, in nanoseconds.
    pub width_ns: f64,
    /// Invocations, a number a bin.
    #[serde(serialize_with = "in_one_line")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<u64>"))]
    pub counts: Vec<u64>,
    /// Invocations below the first bin.
    pub below: u64,
    /// Invocations above the last bin.
    pub above: u64,
    /// Whether successive readings of the timer itself are counted; otherwise the reference saw the
    /// invocations.
    pub own_readings: bool,
}

/// Longer than a screen is high, an array of numbers hides the document around it.
fn in_one_line<T: Serialize, S: Serializer>(
    numbers: &[T],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let text = serde_json::to_string(numbers).map_err(serde::ser::Error::custom)?;
    RawValue::from_string(text)
        .map_err(serde::ser::Error::custom)?
        .serialize(serializer)
}
