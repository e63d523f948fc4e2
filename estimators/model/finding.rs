//! A finding: a code with the values it was judged by. Its wording stands in the table of
//! `findings`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How much a finding matters. The worst come first.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Severity {
    /// Figures are worse, or do not repeat, because of it.
    Problem,
    /// Good to know; figures hold all the same.
    #[default]
    Note,
    /// The machine does not report it.
    Unknown,
    /// As it should be.
    Ok,
}

impl Severity {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Problem => "problem",
            Self::Note => "note",
            Self::Unknown => "unknown",
            Self::Ok => "ok",
        }
    }
}

/// What a number of a finding counts; it decides how messages write the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Unit {
    /// Nanoseconds.
    #[serde(rename = "ns")]
    Nanoseconds,
    /// Hertz.
    #[serde(rename = "hz")]
    Hertz,
    /// A share in [0, 1], written in percent.
    #[serde(rename = "share")]
    Share,
    /// Percentage points.
    #[serde(rename = "points")]
    Points,
    /// Parts per million.
    #[serde(rename = "ppm")]
    Ppm,
    /// A number of things.
    #[serde(rename = "count")]
    Count,
    /// A ratio of two figures.
    #[serde(rename = "ratio")]
    Ratio,
}

/// A value of a finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// Stable name, as in `clock-source`.
    pub code: String,
    /// How much it matters.
    pub severity: Severity,
    /// What it was judged by.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: Values,
}
