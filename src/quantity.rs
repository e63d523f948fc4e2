//! Parses quantities with their unit: `1000ns`, `15.625ms`, `2.8GHz`.

use estimators::model::{Hertz, Nanos};
use reporting::text::clipped;

/// The largest number of characters of an invalid text that an error message quotes.
const MAX_QUOTED_CHARS: usize = 60;

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
pub fn parse_time(text: &str) -> Result<Nanos, String> {
    parse_positive(text, TIME_UNITS).map(Nanos).map_err(refused(
        text,
        "a time above zero with ns, us, ms, s, m or h, as in 100ns",
    ))
}

/// Parses a frequency, such as `2.8GHz`. The case of the unit does not matter.
///
/// # Errors
/// When the text is not a frequency in [`Hertz::RANGE`].
pub fn parse_frequency(text: &str) -> Result<Hertz, String> {
    parse_positive(&text.to_lowercase(), FREQUENCY_UNITS)
        .and_then(|hertz| Hertz::new(hertz).ok_or("is no frequency of a core"))
        .map_err(refused(
            text,
            "a frequency above zero with Hz, kHz, MHz or GHz, as in 2.8GHz",
        ))
}

/// Parses a rate per second, such as `800_000/s`, `800k` or `10 kHz`.
///
/// # Errors
/// When the text is not a rate above zero.
pub fn parse_rate(text: &str) -> Result<f64, String> {
    let mut plain = text.to_lowercase().replace(char::is_whitespace, "");
    for unit in ["hz", "persecond", "/second", "/sec", "/s"] {
        plain.truncate(plain.trim_end_matches(unit).len());
    }
    parse_positive(&(plain + "hz"), FREQUENCY_UNITS).map_err(refused(
        text,
        "requests per second, more than zero, as in 10000/s or 800k/s",
    ))
}

/// Makes the error for a text that has a problem and is none of what is accepted.
fn refused(text: &str, accepted: &str) -> impl Fn(&'static str) -> String {
    move |problem| {
        let text = clipped(text, MAX_QUOTED_CHARS);
        format!("'{text}' {problem}; give {accepted}")
    }
}

/// Parses a number above zero with one of these units, and returns it in the base unit.
///
/// # Errors
/// The problem of the text.
fn parse_positive(text: &str, units: Units) -> Result<f64, &'static str> {
    let trimmed = text.trim();
    let number = trimmed.trim_end_matches(char::is_alphabetic);
    let unit = &trimmed[number.len()..];
    let number = number.replace('_', "");
    let known = units.iter().find(|(name, _)| *name == unit);
    match (number.trim().parse::<f64>(), known) {
        (Err(_), _) => Err("is no number with a unit"),
        (Ok(_), None) if unit.is_empty() => Err("has no unit"),
        (Ok(_), None) => Err("has an unknown unit"),
        (Ok(number), Some((_, size))) => match number * size {
            value if value > 0.0 && value.is_finite() => Ok(value),
            value if value > 0.0 => Err("is too large"),
            _ => Err("is not above zero"),
        },
    }
}

#[cfg(test)]
mod tests;
