//! Data for the plots of a timer: samples and histograms.

/// Data for the plots of a timer.
#[apply(wire, Default)]
pub struct PlotData {
    /// Differences between two reads as a function of the work between them.
    pub staircase: Option<Staircase>,
    /// Histogram of the cost of single invocations.
    pub singles: Option<CostHistogram>,
}

impl PlotData {
    /// Removes the staircase and the histogram of costs if their scale is not finite, because JSON
    /// has no NaN and no infinity.
    pub fn without_non_finite(self) -> Self {
        let is_finite =
            |costs: &CostHistogram| costs.first_ns.is_finite() && costs.width_ns.is_finite();
        Self {
            staircase: self
                .staircase
                .filter(|stairs| stairs.ns_per_work.is_finite()),
            singles: self.singles.filter(is_finite),
        }
    }
}

/// A sample of the intervals between two reads, with the same number of points from each of twenty
/// ranges of work. If most intervals are zero, the sample holds more of the other intervals than
/// their share.
#[apply(wire)]
pub struct Staircase {
    /// Nanoseconds in a unit of work.
    pub ns_per_work: f64,
    /// Units of work between the reads, for each point.
    #[serde(serialize_with = "in_one_line")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<u64>"))]
    pub work: Vec<u64>,
    /// Second reading minus first, in ticks of the timer, for each point.
    #[serde(serialize_with = "in_one_line")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<i64>"))]
    pub ticks: Vec<i64>,
    /// The number of intervals from which the points were taken.
    pub intervals: u64,
}

/// Histogram of the cost of single invocations over all processes. The time of the bracket (two
/// reads of the reference with nothing between) is subtracted.
#[apply(wire)]
pub struct CostHistogram {
    /// The lower end of the first bin, in nanoseconds. Each bin is centred at a multiple of the
    /// step of the measuring clock.
    pub first_ns: f64,
    /// The width of a bin, in nanoseconds.
    pub width_ns: f64,
    /// Invocations in each bin.
    #[serde(serialize_with = "in_one_line")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<u64>"))]
    pub counts: Vec<u64>,
    /// Invocations below the first bin.
    pub below: u64,
    /// Invocations above the last bin.
    pub above: u64,
    /// Whether the costs are differences between successive readings of the timer itself; otherwise
    /// the reference measured them.
    pub own_readings: bool,
}

/// Serialises an array on one line, because a long column of numbers hides the rest of the
/// document.
#[cfg(feature = "serde")]
pub(super) fn in_one_line<T: serde::Serialize, S: serde::Serializer>(
    numbers: &[T],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    use serde::Serialize;

    let text = serde_json::to_string(numbers).map_err(serde::ser::Error::custom)?;
    serde_json::value::RawValue::from_string(text)
        .map_err(serde::ser::Error::custom)?
        .serialize(serializer)
}
