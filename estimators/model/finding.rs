//! A finding: a code with the values it was judged by. Its wording stands in the table of
//! `findings`.

use std::collections::BTreeMap;

/// How much a finding matters. The worst come first.
#[apply(names)]
#[derive(Default, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Figures are worse, or do not repeat, because of it.
    Problem = "problem",
    /// Good to know; figures hold all the same.
    #[default]
    Note = "note",
    /// The machine does not report it.
    Unknown = "unknown",
    /// As it should be.
    Ok = "ok",
}

/// What a number of a finding counts; it decides how messages write the number.
#[apply(names)]
pub enum Unit {
    /// Nanoseconds.
    Nanoseconds = "ns",
    /// Hertz.
    Hertz = "hz",
    /// A share in [0, 1], written in percent.
    Share = "share",
    /// Percentage points.
    Points = "points",
    /// Parts per million.
    Ppm = "ppm",
    /// A number of things.
    Count = "count",
    /// A ratio of two figures.
    Ratio = "ratio",
}

/// A value of a finding.
#[apply(wire)]
#[serde(untagged)]
pub enum Value {
    /// A name, a list, or the words of another program.
    Text(String),
    /// A number with its unit.
    Number {
        /// The number; it is finite.
        value: f64,
        /// Its unit.
        unit: Unit,
    },
}

/// Values by name. A name stands in braces in the message of its finding.
pub type Values = BTreeMap<String, Value>;

/// One judgement. `findings` has its message and its advice.
#[apply(wire)]
pub struct Finding {
    /// Stable name, as in `clock-source`.
    pub code: String,
    /// How much it matters.
    pub severity: Severity,
    /// What it was judged by.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: Values,
}
