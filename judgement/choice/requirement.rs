//! The requirements of a measurement: the operation, the accepted error, and the properties that
//! the clock must have.

use clap::ValueEnum;
use serde::Serialize;

use super::ChoiceError;
use crate::model::{Counted, Nanos};

/// The requirements of a measurement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Requirement {
    /// Approximate duration of the operation in nanoseconds; above zero.
    pub duration_ns: f64,
    /// Largest error, as a share.
    pub error: f64,
    /// Confidence that the error is not exceeded, as a share.
    pub confidence: f64,
    /// Largest share of the running time spent on reading the clock.
    pub overhead: Option<f64>,
    /// What the clock must count.
    pub counts: Counted,
    /// Further properties that the clock must have.
    pub needs: Vec<Need>,
    /// Whether clocks are accepted that can be set and then step.
    pub settable: bool,
    /// Requests a second of a service, each of which happens once; `None` if the operation can be
    /// repeated at will.
    pub rate_hz: Option<f64>,
    /// The runtime of the clock; `None` for native clocks.
    pub runtime: Option<String>,
    /// Ids of the only clocks that may be picked, without the prefix of a runtime; empty if all may
    /// be.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clocks: Vec<String>,
    /// Whether the measurement is made by code that `pick` prints: the frame of that code is then a
    /// part of the error.
    #[serde(skip)]
    pub by_code: bool,
}

impl Requirement {
    /// Creates a requirement for a clock that counts wall time, without further needs. `duration`
    /// is in nanoseconds; `error` and `confidence` are shares.
    ///
    /// # Errors
    /// When the duration is out of range.
    pub fn new(duration: Nanos, error: f64, confidence: f64) -> Result<Self, ChoiceError> {
        Self {
            duration_ns: duration.0,
            error,
            confidence,
            overhead: None,
            counts: Counted::Wall,
            needs: Vec::new(),
            settable: false,
            rate_hz: None,
            runtime: None,
            clocks: Vec::new(),
            by_code: false,
        }
        .checked()
    }

    /// Returns this requirement if its duration and its rate are in range.
    ///
    /// # Errors
    /// The value that is out of range.
    pub fn checked(self) -> Result<Self, ChoiceError> {
        /// Longest accepted duration in nanoseconds: one day.
        const LONGEST_NS: f64 = 86_400e9;
        let duration_ns = self.duration_ns;
        if !(duration_ns > 0.0 && duration_ns <= LONGEST_NS) {
            return Err(ChoiceError(format!(
                "a duration of {duration_ns} ns cannot be measured: give one above zero and up to a day"
            )));
        }
        match self.rate_hz {
            Some(rate) if !(rate > 0.0 && rate.is_finite()) => Err(ChoiceError(format!(
                "{rate} requests a second cannot be timed: give a rate above zero, as in 10000/s"
            ))),
            _ => Ok(self),
        }
    }

    /// Whether the clock with this id may be picked.
    pub(super) fn may_use(&self, id: &str) -> bool {
        let unprefixed = id.rsplit(':').next().unwrap_or(id);
        self.clocks.is_empty() || self.clocks.iter().any(|clock| clock == unprefixed)
    }

    /// The shortest duration, in nanoseconds, for which plans keep the error: 90 % of the specified
    /// one, which is approximate.
    pub fn shortest_ns(&self) -> f64 {
        0.9 * self.duration_ns
    }
}

/// A property that a clock must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Need {
    /// Readings of two threads can be compared.
    Threads,
    /// It cannot be set back.
    Monotonic,
    /// It is not slewed.
    NoSlew,
    /// It goes on while the machine sleeps.
    Suspend,
}

impl Need {
    /// The reason that is printed for a clock without this property.
    pub fn lack(self) -> &'static str {
        match self {
            Self::Threads => "readings of two threads cannot be compared",
            Self::Monotonic => "wall-clock time can jump, which would corrupt a duration",
            Self::NoSlew => "its rate is slewed (adjtimex), so that seconds differ in length",
            Self::Suspend => "it stands still while the machine sleeps",
        }
    }

    /// The name of this property on the command line.
    pub fn word(self) -> String {
        self.to_possible_value()
            .map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_invalid_requirements() {
        let refused = |found: Result<Requirement, ChoiceError>, word: &str| {
            let text = found.expect_err(word).to_string();
            assert!(text.contains(word), "{text}");
        };
        for ns in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e15] {
            refused(Requirement::new(Nanos(ns), 0.01, 0.95), "duration");
        }
        let good = Requirement::new(Nanos(1000.0), 0.01, 0.95).unwrap();
        let with_rate = |rate| {
            let rate_hz = Some(rate);
            let asked = Requirement {
                rate_hz,
                ..good.clone()
            };
            asked.checked()
        };
        assert!(with_rate(1e6).is_ok() && with_rate(1e8).is_ok());
        for rate in [0.0, f64::INFINITY, f64::NAN] {
            refused(with_rate(rate), "above zero");
        }
    }
}
