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

/// The codes of findings that had another name in reports of earlier versions, with that name. Keys
/// that had another name are aliases of their fields.
#[cfg(feature = "serde")]
const FORMER_CODES: [(&str, &str); 2] = [
    ("cost-exceeds-step", "read-dearer-than-step"),
    ("next-to-neighbour", "beside-neighbour"),
];

/// Reads the code of a finding, also from reports of earlier versions.
#[cfg(feature = "serde")]
fn current_code<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let code: String = serde::Deserialize::deserialize(deserializer)?;
    let mut renamed = FORMER_CODES.iter();
    let renamed = renamed.find(|(_, former)| *former == code);
    Ok(renamed.map_or(code, |(current, _)| (*current).to_owned()))
}

/// A finding; `findings` defines its message and its advice.
#[apply(wire)]
pub struct Finding {
    /// Stable name, as in `clock-source`.
    #[serde(deserialize_with = "current_code")]
    pub code: String,
    /// How much it matters.
    pub severity: Severity,
    /// The values that the finding is based on.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: Values,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_former_codes() {
        let read = |code: &str| {
            let text = format!(r#"{{"code":"{code}","severity":"note"}}"#);
            serde_json::from_str::<Finding>(&text).unwrap().code
        };
        assert_eq!(read("beside-neighbour"), "next-to-neighbour");
        assert_eq!(read("cost-exceeds-step"), "cost-exceeds-step");
    }
}
