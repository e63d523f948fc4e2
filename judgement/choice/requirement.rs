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
    /// Rate at which the operation happens, per second, if it cannot be repeated at will.
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
    /// When one of the values is out of range.
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

    /// Returns this requirement if all its values are in range.
    ///
    /// # Errors
    /// The value that is out of range.
    pub fn checked(self) -> Result<Self, ChoiceError> {
        /// Longest accepted duration in nanoseconds: one day.
        const LONGEST_NS: f64 = 86_400e9;
        let duration_ns = self.duration_ns;
        let is_share = |share: f64| share > 0.0 && share < 1.0;
        let most = 1e9 / duration_ns;
        if !(duration_ns > 0.0 && duration_ns <= LONGEST_NS) {
            return Err(ChoiceError::Duration(duration_ns));
        }
        if !is_share(self.error) {
            return Err(ChoiceError::Error(percent(self.error)));
        }
        if !(0.5..=0.9999).contains(&self.confidence) {
            return Err(ChoiceError::Confidence(percent(self.confidence)));
        }
        match (self.overhead, self.rate_hz) {
            (Some(share), _) if !is_share(share) => Err(ChoiceError::Overhead(percent(share))),
            (_, Some(rate)) if !(rate > 0.0 && rate <= most) => Err(ChoiceError::Rate {
                duration_ns,
                rate,
                most,
            }),
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
    #[must_use]
    pub fn shortest_ns(&self) -> f64 {
        0.9 * self.duration_ns
    }
}

/// Converts a share to percent, rounded to four decimals.
fn percent(share: f64) -> f64 {
    (share * 1e6).round() / 1e4
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
    #[must_use]
    pub fn lack(self) -> &'static str {
        match self {
            Self::Threads => "readings of two threads cannot be compared",
            Self::Monotonic => "wall-clock time can jump, which would corrupt a duration",
            Self::NoSlew => "its rate is slewed (adjtimex), so that seconds differ in length",
            Self::Suspend => "it stands still while the machine sleeps",
        }
    }

    /// The name of this property on the command line.
    #[must_use]
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
        let requirement = |ns, error, confidence| Requirement::new(Nanos(ns), error, confidence);
        assert!(requirement(250.0, 0.01, 0.95).is_ok());
        let refused = |found: Result<Requirement, ChoiceError>, word: &str| {
            let text = found.expect_err(word).to_string();
            assert!(text.contains(word), "{text}");
        };
        for ns in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e15] {
            refused(requirement(ns, 0.01, 0.95), "duration");
        }
        for error in [0.0, 1.0, 2.0, -0.01, f64::NAN] {
            refused(requirement(1.0, error, 0.95), "error");
        }
        for confidence in [0.0, 0.49, 1.0, 95.0, f64::NAN] {
            refused(requirement(1.0, 0.01, confidence), "confidence");
        }
        let good = requirement(1000.0, 0.01, 0.95).unwrap();
        for (overhead, is_good) in [(0.0, false), (0.05, true), (1.0, false), (f64::NAN, false)] {
            let requested = Requirement {
                overhead: Some(overhead),
                ..good.clone()
            };
            assert_eq!(requested.checked().is_ok(), is_good, "{overhead}");
        }
        for (rate, is_good) in [(0.0, false), (1e6, true), (2e6, false), (f64::NAN, false)] {
            let requested = Requirement {
                rate_hz: Some(rate),
                ..good.clone()
            };
            assert_eq!(requested.checked().is_ok(), is_good, "{rate}");
        }
        let often = Requirement {
            rate_hz: Some(2e6),
            ..good
        };
        refused(often.checked(), "at most 1000000/s");
    }
}
