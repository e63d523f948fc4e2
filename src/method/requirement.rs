//! What is to be measured, and how well; and what a clock may have to be: what it counts, and what
//! must not happen to it.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::model::Nanos;
use crate::quantity;

/// What a user wants to measure, and how well. Made by [`Requirement::new`], which refuses what
/// makes no sense.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Requirement {
    /// How long the operation takes, roughly, in nanoseconds; above zero.
    pub duration_ns: f64,
    /// The error that may be made, as a share of the duration, in (0, 1).
    pub error: f64,
    /// How sure the error has to be kept, in [0.5, 0.9999].
    pub confidence: f64,
    /// The share of the running time that reading the clock may take, in (0, 1).
    pub overhead: Option<f64>,
    /// What the clock has to count.
    pub counts: Counts,
    /// What else it has to be.
    pub needs: Vec<Need>,
    /// Whether it may be one that can be set, and then steps: a duration over a step is off by any
    /// amount.
    pub settable: bool,
    /// How often the operation happens by itself, a second: it cannot be repeated at will then.
    pub rate_hz: Option<f64>,
    /// The runtime whose timers are to be used; the native ones otherwise.
    pub runtime: Option<String>,
    /// Ids of the only clocks that may be used, without what leads those of a runtime; all where
    /// there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clocks: Vec<String>,
}

/// Why this cannot be answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequirementError {
    /// The duration is none.
    #[error("{0}")]
    Duration(String),
    /// The error is none.
    #[error("the error must be between 0 % and 100 %, as in 1%; it is {0}")]
    Error(String),
    /// The confidence is none.
    #[error("a confidence of {0} % cannot be promised: ask for 50 % to 99.99 %, as in 95%")]
    Confidence(String),
    /// The overhead is none.
    #[error(
        "an overhead of {0} % is no share of the running time: give more than 0 % and less than 100 %"
    )]
    Overhead(String),
    /// The operation cannot happen so often.
    #[error("{0}")]
    Rate(String),
}

impl Requirement {
    /// A requirement for the duration (nanoseconds), the error and the confidence (shares), wall
    /// time and nothing else.
    ///
    /// # Errors
    /// When one of them makes no sense.
    pub fn new(duration: Nanos, error: f64, confidence: f64) -> Result<Self, RequirementError> {
        /// Longer than a day is a matter for a calendar.
        const LONGEST_NS: f64 = 86_400e9;
        let Nanos(duration_ns) = duration;
        if !(duration_ns > 0.0 && duration_ns <= LONGEST_NS) {
            return Err(RequirementError::Duration(format!(
                "a duration of {duration_ns} ns cannot be measured: give one above zero and up to a day"
            )));
        }
        if !(error > 0.0 && error < 1.0) {
            let meant = if error == 1.0 { ": was 1% meant?" } else { "" };
            return Err(RequirementError::Error(format!(
                "{} %{meant}",
                percent(error)
            )));
        }
        if !(0.5..=0.9999).contains(&confidence) {
            return Err(RequirementError::Confidence(percent(confidence)));
        }
        let (counts, needs) = (Counts::Wall, Vec::new());
        Ok(Self {
            duration_ns,
            error,
            confidence,
            overhead: None,
            counts,
            needs,
            settable: false,
            rate_hz: None,
            runtime: None,
            clocks: Vec::new(),
        })
    }

    /// Whether the clock with this id may be used, as far as names go.
    pub(super) fn may_use(&self, id: &str) -> bool {
        let own = id.rsplit(':').next().unwrap_or(id);
        self.clocks.is_empty() || self.clocks.iter().any(|clock| clock == own)
    }

    /// How long the operation takes at least: a duration is said roughly, and plans hold for one
    /// that is a tenth shorter.
    #[must_use]
    pub fn shortest_ns(&self) -> f64 {
        0.9 * self.duration_ns
    }

    /// The same with a limit to the share of the running time that reading the clock takes.
    ///
    /// # Errors
    /// When it is no share.
    pub fn overhead(mut self, overhead: Option<f64>) -> Result<Self, RequirementError> {
        if let Some(share) = overhead.filter(|share| !(*share > 0.0 && *share < 1.0)) {
            return Err(RequirementError::Overhead(percent(share)));
        }
        self.overhead = overhead;
        Ok(self)
    }

    /// The same for an operation that happens by itself a given number of times per second.
    ///
    /// # Errors
    /// When one operation would not end before the next begins.
    pub fn rate(mut self, rate_hz: Option<f64>) -> Result<Self, RequirementError> {
        if let Some(rate) = rate_hz {
            if !(rate > 0.0 && rate.is_finite()) {
                return Err(RequirementError::Rate(format!(
                    "a rate of {rate}/s is none: give one above zero, as in 10000/s"
                )));
            }
            if rate * self.duration_ns > 1e9 {
                let most = 1e9 / self.duration_ns;
                return Err(RequirementError::Rate(format!(
                    "an operation of {} ns cannot happen {rate} times a second: at most {most:.0}/s",
                    self.duration_ns
                )));
            }
        }
        self.rate_hz = rate_hz;
        Ok(self)
    }
}

fn percent(share: f64) -> String {
    format!("{}", (share * 1e6).round() / 1e4)
}

/// A share as people type it: `1%`, `0.5 %` or `0.01`. Without the sign it is a share of one.
///
/// # Errors
/// When it is no number.
pub fn share(text: &str) -> Result<f64, String> {
    let trimmed = text.trim();
    let (number, scale) = match trimmed.strip_suffix('%') {
        Some(number) => (number.trim_end(), 0.01),
        None => (trimmed, 1.0),
    };
    match number.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value * scale),
        _ => Err(format!(
            "`{}` is no share: give a percentage, as in 1%",
            quoted(text)
        )),
    }
}

/// A rate as people type it: `10000/s`, `50/ms`, or a frequency as in `10kHz`.
///
/// # Errors
/// When it is neither.
pub fn rate(text: &str) -> Result<f64, String> {
    let refused = || {
        format!(
            "`{}` is no rate: give one as in 10000/s or 10kHz",
            quoted(text)
        )
    };
    if let Some((number, unit)) = text.trim().split_once('/') {
        let number: f64 = number.trim().parse().map_err(|_| refused())?;
        let seconds = match unit.trim() {
            "s" => 1.0,
            "ms" => 1e-3,
            "us" | "µs" => 1e-6,
            "min" => 60.0,
            _ => return Err(refused()),
        };
        return Ok(number / seconds);
    }
    quantity::frequency(text)
        .map(|hertz| hertz.0)
        .map_err(|_| refused())
}

fn quoted(text: &str) -> String {
    crate::text::clipped(text, 40)
}

/// What passes while a clock moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Counts {
    /// Time on the wall, whatever computes
    #[default]
    Wall,
    /// CPU time of the process, all threads together
    Process,
    /// CPU time of the calling thread
    Thread,
}

impl Counts {
    /// In words.
    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Wall => "wall time",
            Self::Process => "CPU time of the process",
            Self::Thread => "CPU time of the thread",
        }
    }
}

/// What a clock may have to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Need {
    /// Readings of two threads can be compared
    Threads,
    /// It cannot be set, so it never steps back
    Monotonic,
    /// Its rate is not slewed (NTP)
    NoSlew,
    /// It goes on while the machine sleeps
    Suspend,
}

impl Need {
    /// What is unmet by a clock that does not have this.
    #[must_use]
    pub fn unmet_need(self) -> &'static str {
        match self {
            Self::Threads => "readings of two threads cannot be compared",
            Self::Monotonic => "wall-clock time can jump, which would corrupt a duration",
            Self::NoSlew => "its rate is slewed (adjtimex), so that seconds differ in length",
            Self::Suspend => "it stands still while the machine sleeps",
        }
    }

    /// The word on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Threads => "threads",
            Self::Monotonic => "monotonic",
            Self::NoSlew => "no-slew",
            Self::Suspend => "suspend",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_sense_is_refused() {
        let requirement = |ns, error, confidence| Requirement::new(Nanos(ns), error, confidence);
        assert!(requirement(250.0, 0.01, 0.95).is_ok());
        for ns in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e15] {
            assert!(
                matches!(
                    requirement(ns, 0.01, 0.95),
                    Err(RequirementError::Duration(_))
                ),
                "{ns}"
            );
        }
        for error in [0.0, 1.0, 2.0, -0.01, f64::NAN] {
            assert!(
                matches!(
                    requirement(1.0, error, 0.95),
                    Err(RequirementError::Error(_))
                ),
                "{error}"
            );
        }
        for confidence in [0.0, 0.49, 1.0, 95.0, f64::NAN] {
            assert!(
                matches!(
                    requirement(1.0, 0.01, confidence),
                    Err(RequirementError::Confidence(_))
                ),
                "{confidence}"
            );
        }
        let good = requirement(1000.0, 0.01, 0.95).unwrap();
        assert!(
            good.clone().overhead(Some(0.0)).is_err() && good.clone().overhead(Some(0.05)).is_ok()
        );
        assert!(good.clone().rate(Some(0.0)).is_err() && good.clone().rate(Some(1e6)).is_ok());
        let text = good.rate(Some(2e6)).unwrap_err().to_string();
        assert!(text.contains("at most 1000000/s"), "{text}");
    }

    #[test]
    fn parses_shares_and_rates() {
        assert_eq!(share("1%"), Ok(0.01));
        assert!(share(" 95 % ").is_ok_and(|share| (share - 0.95).abs() < 1e-12));
        assert_eq!(share("0.05"), Ok(0.05));
        for text in ["", "%", "one", "nan", "inf%", "1%%"] {
            assert!(share(text).is_err(), "{text}");
        }
        assert_eq!(rate("10000/s"), Ok(1e4));
        assert_eq!(rate("50/ms"), Ok(5e4));
        assert_eq!(rate("10kHz"), Ok(1e4));
        for text in ["", "/s", "10", "10/fortnight", "ten/s"] {
            assert!(rate(text).is_err(), "{text}");
        }
    }
}
