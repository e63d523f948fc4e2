//! The requirements of a measurement: the operation, the accepted error, and the properties that
//! the clock must have.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::model::{Counted, Nanos};
use crate::quantity;

/// The requirements of a measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Args)]
pub struct Requirement {
    /// Approximate duration of the operation in nanoseconds; above zero.
    #[arg(skip)]
    pub duration_ns: f64,
    /// Largest error, as in 1%
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = parse_share, allow_hyphen_values = true)]
    pub error: f64,
    /// Confidence that the error is not exceeded
    #[arg(long, value_name = "SHARE", default_value = "95%", value_parser = parse_share, allow_hyphen_values = true)]
    pub confidence: f64,
    /// Largest share of the running time spent on reading the clock, or on waiting, as in 5%
    #[arg(long, value_name = "SHARE", value_parser = parse_share, allow_hyphen_values = true)]
    pub overhead: Option<f64>,
    /// What the clock must count
    #[arg(long, value_name = "TIME", value_parser = counted_parser(), default_value = "wall")]
    pub counts: Counted,
    /// Further properties that the clock must have (repeatable, or separated by commas)
    #[arg(long, value_name = "NEED", value_enum, value_delimiter = ',')]
    pub needs: Vec<Need>,
    /// Also accept clocks that can be set and then step: a duration across a step is wrong by any
    /// amount
    #[arg(long)]
    pub settable: bool,
    /// Rate at which the operation happens, as in 10000/s, if it cannot be repeated at will
    #[arg(id = "rate", long = "rate", value_name = "RATE", value_parser = parse_rate, allow_hyphen_values = true)]
    pub rate_hz: Option<f64>,
    /// Timers of this runtime instead of the native ones: java, dotnet, mono, python, node, or the
    /// prefix of the ids of an agent
    #[arg(long, value_name = "NAME")]
    pub runtime: Option<String>,
    /// Ids of the only clocks that may be picked, without the prefix of a runtime; empty if all may
    /// be.
    #[arg(skip)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clocks: Vec<String>,
    /// Whether the measurement is made by code that `pick` prints: the frame of that code is then a
    /// part of the error.
    #[arg(skip)]
    #[serde(skip)]
    pub by_code: bool,
}

/// Creates the parser for the value of `--counts`.
fn counted_parser() -> impl TypedValueParser<Value = Counted> {
    PossibleValuesParser::new(["wall", "process", "thread"]).map(|word| match word.as_str() {
        "process" => Counted::ProcessCpu,
        "thread" => Counted::ThreadCpu,
        _ => Counted::Wall,
    })
}

impl Requirement {
    /// Creates a requirement for a clock that counts wall time, without further needs. `duration`
    /// is in nanoseconds; `error` and `confidence` are shares.
    ///
    /// # Errors
    /// When one of the values is out of range.
    pub fn new(duration: Nanos, error: f64, confidence: f64) -> Result<Self, String> {
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
    /// A message that names the invalid value and the accepted range.
    pub fn checked(self) -> Result<Self, String> {
        /// Longest accepted duration in nanoseconds: one day.
        const LONGEST_NS: f64 = 86_400e9;
        let duration_ns = self.duration_ns;
        if !(duration_ns > 0.0 && duration_ns <= LONGEST_NS) {
            return Err(format!(
                "a duration of {duration_ns} ns cannot be measured: give one above zero and up to a day"
            ));
        }
        if !(self.error > 0.0 && self.error < 1.0) {
            return Err(format!(
                "an error of {} % makes no sense: give more than 0 % and less than 100 %, as in 1%",
                percent(self.error)
            ));
        }
        if !(0.5..=0.9999).contains(&self.confidence) {
            return Err(format!(
                "a confidence of {} % cannot be promised: ask for 50 % to 99.99 %, as in 95%",
                percent(self.confidence)
            ));
        }
        if let Some(share) = self
            .overhead
            .filter(|share| !(*share > 0.0 && *share < 1.0))
        {
            return Err(format!(
                "an overhead of {} % makes no sense: give more than 0 % and less than 100 %",
                percent(share)
            ));
        }
        let max_rate = 1e9 / duration_ns;
        match self.rate_hz {
            Some(rate) if !(rate > 0.0 && rate <= max_rate) => Err(format!(
                "an operation of {duration_ns} ns cannot happen {rate} times a second: give a rate above zero, at most {max_rate:.0}/s"
            )),
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

/// Parses a share: `1%`, `0.5 %` or `0.01`. Without a percent sign, 1 means 100 %.
///
/// # Errors
/// When the text is not a number.
pub fn parse_share(text: &str) -> Result<f64, String> {
    let trimmed = text.trim();
    let (number, scale) = match trimmed.strip_suffix('%') {
        Some(number) => (number.trim_end(), 0.01),
        None => (trimmed, 1.0),
    };
    match number.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value * scale),
        _ => Err("this is not a share: give a percentage, as in 1%".into()),
    }
}

/// Parses a rate: `10000/s` or `10kHz`.
///
/// # Errors
/// When the text is not a frequency, or has no unit.
pub fn parse_rate(text: &str) -> Result<f64, quantity::QuantityError> {
    quantity::parse_frequency(&text.replace("/s", "Hz")).map(|hertz| hertz.0)
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
        let refused = |found: Result<Requirement, String>, word: &str| {
            let text = found.expect_err(word);
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

    #[test]
    fn parses_shares_and_rates() {
        assert_eq!(parse_share("1%"), Ok(0.01));
        assert!(parse_share(" 95 % ").is_ok_and(|share| (share - 0.95).abs() < 1e-12));
        assert_eq!(parse_share("0.05"), Ok(0.05));
        for text in ["", "%", "one", "nan", "inf%", "1%%"] {
            assert!(parse_share(text).is_err(), "{text}");
        }
        assert_eq!(parse_rate("10000/s"), Ok(1e4));
        assert_eq!(parse_rate("10kHz"), Ok(1e4));
        for text in ["", "/s", "10", "10/fortnight", "ten/s"] {
            assert!(parse_rate(text).is_err(), "{text}");
        }
    }
}
