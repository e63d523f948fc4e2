//! The requirements of a measurement: the operation and the accepted error.

use serde::Serialize;

use super::ChoiceError;
use estimators::model::Nanos;

/// The requirements of a measurement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Requirement {
    /// Approximate duration of the operation in nanoseconds; above zero.
    pub duration_ns: f64,
    /// Largest error, as a share, which 95 % of results keep.
    pub error: f64,
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
    /// Creates a requirement for a clock that counts wall time. `duration` is in nanoseconds;
    /// `error` is a share.
    pub const fn new(duration: Nanos, error: f64) -> Self {
        Self {
            duration_ns: duration.0,
            error,
            rate_hz: None,
            runtime: None,
            clocks: Vec::new(),
            by_code: false,
        }
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
                "{rate} requests per second cannot be timed: give a rate above zero, as in 10000/s"
            ))),
            _ => Ok(self),
        }
    }

    /// Whether the clock with this id may be picked.
    pub fn may_use(&self, id: &str) -> bool {
        let unprefixed = id.rsplit(':').next().unwrap_or(id);
        self.clocks.is_empty() || self.clocks.iter().any(|clock| clock == unprefixed)
    }

    /// The shortest duration, in nanoseconds, for which plans keep the error: 90 % of the specified
    /// one, which is approximate.
    pub fn shortest_ns(&self) -> f64 {
        0.9 * self.duration_ns
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
            refused(Requirement::new(Nanos(ns), 0.01).checked(), "duration");
        }
        let good = Requirement::new(Nanos(1000.0), 0.01);
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
