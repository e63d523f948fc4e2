//! A finding in a report: a code with the values that it is based on. The tables of `findings`
//! define its message.

use std::collections::BTreeMap;

/// The severity of a finding; the most severe variant comes first.
#[apply(names)]
#[derive(Default, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Results get worse or do not repeat because of it.
    Problem = "problem",
    /// Information; results are not affected.
    #[default]
    Note = "note",
    /// The condition could not be checked, because the machine does not report it.
    Unknown = "unknown",
    /// No problem.
    Ok = "ok",
}

/// The unit of a number in a finding; messages format the number accordingly.
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
    /// A ratio of two values.
    Ratio = "ratio",
}

/// A value of a finding.
#[apply(wire)]
#[serde(untagged)]
pub enum Value {
    /// A name, a list, or a message of another program.
    Text(String),
    /// A number with its unit.
    Number {
        /// The number; it is finite.
        value: f64,
        /// Its unit.
        unit: Unit,
    },
}

/// Values by name. The message of the finding refers to each name in braces.
pub type Values = BTreeMap<String, Value>;

/// A finding; `findings` defines its message and its advice.
#[apply(wire)]
pub struct Finding {
    /// Stable name, as in `clock-source`.
    pub code: String,
    /// How much it matters.
    pub severity: Severity,
    /// The values that the finding is based on.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: Values,
}
