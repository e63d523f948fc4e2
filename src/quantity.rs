//! Parses quantities with their unit: `1000ns`, `15.625ms`, `2.8GHz`.

use estimators::model::{Hertz, Nanos};
use reporting::text::clipped;

/// The largest number of characters of an invalid text that an error message quotes.
const MAX_QUOTED_CHARS: usize = 60;

/// The error for a text that is no valid quantity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{text}' {problem}; {accepted}")]
pub struct QuantityError {
    text: String,
    problem: &'static str,
    accepted: &'static str,
}

/// Names of units with their size in the base unit: nanoseconds for times, hertz for frequencies.
type Units = &'static [(&'static str, f64)];

const TIME_UNITS: Units = &[
    ("ns", 1.0),
    ("us", 1e3),
    // The micro sign and the Greek letter mu look the same.
    ("\u{b5}s", 1e3),
    ("\u{3bc}s", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("m", 6e10),
    ("min", 6e10),
    ("h", 3.6e12),
];

const FREQUENCY_UNITS: Units = &[("hz", 1.0), ("khz", 1e3), ("mhz", 1e6), ("ghz", 1e9)];

/// Parses a time above zero, such as `100ns`.
///
/// # Errors
/// When the text is not a time above zero.
pub fn parse_time(text: &str) -> Result<Nanos, QuantityError> {
    let accepted = "give a time above zero with ns, us, ms, s, m or h, as in 100ns";
    parse_positive(text, TIME_UNITS, accepted).map(Nanos)
}

/// Parses a frequency, such as `2.8GHz`. The case of the unit does not matter.
///
/// # Errors
/// When the text is not a frequency in [`Hertz::RANGE`].
pub fn parse_frequency(text: &str) -> Result<Hertz, QuantityError> {
    let accepted = "give a frequency above zero with Hz, kHz, MHz or GHz, as in 2.8GHz";
    // The error quotes the text as it was given.
    parse_positive(&text.to_lowercase(), FREQUENCY_UNITS, accepted)
        .and_then(|hertz| {
            Hertz::new(hertz).ok_or(QuantityError {
                text: String::new(),
                problem: "is no frequency of a core",
                accepted,
            })
        })
        .map_err(|error| QuantityError {
            text: clipped(text, MAX_QUOTED_CHARS),
            ..error
        })
}

/// Parses a rate per second, such as `800_000/s`, `800k` or `10 kHz`.
///
/// # Errors
/// When the text is not a rate above zero.
pub fn parse_rate(text: &str) -> Result<f64, QuantityError> {
    let accepted = "give requests per second, more than zero, as in 10000/s or 800k/s";
    let mut plain = text.to_lowercase().replace(char::is_whitespace, "");
    for unit in ["hz", "persecond", "/second", "/sec", "/s"] {
        plain.truncate(plain.trim_end_matches(unit).len());
    }
    parse_positive(&(plain + "hz"), FREQUENCY_UNITS, accepted).map_err(|error| QuantityError {
        text: clipped(text, MAX_QUOTED_CHARS),
        ..error
    })
}

/// Parses a number above zero with one of these units, and returns it in the base unit. `accepted`
/// is the end of the error message, which says what is accepted.
fn parse_positive(text: &str, units: Units, accepted: &'static str) -> Result<f64, QuantityError> {
    let trimmed = text.trim();
    let number = trimmed.trim_end_matches(char::is_alphabetic);
    let unit = &trimmed[number.len()..];
    let number = number.replace('_', "");
    let known = units.iter().find(|(name, _)| *name == unit);
    let problem = match (number.trim().parse::<f64>(), known) {
        (Err(_), _) => "is no number with a unit",
        (Ok(_), None) if unit.is_empty() => "has no unit",
        (Ok(_), None) => "has an unknown unit",
        (Ok(number), Some((_, size))) => match number * size {
            value if value > 0.0 && value.is_finite() => return Ok(value),
            value if value > 0.0 => "is too large",
            _ => "is not above zero",
        },
    };
    Err(QuantityError {
        text: clipped(text, MAX_QUOTED_CHARS),
        problem,
        accepted,
    })
}

#[cfg(test)]
mod tests;
