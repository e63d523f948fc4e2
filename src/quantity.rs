//! Figures with their unit, as people type them: `1000ns`, `15.625ms`, `2.8GHz`.

use crate::model::{Hertz, Nanos};

/// Why a figure was not understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// It does not begin with a number.
    #[error("'{text}' does not begin with a number; {accepted}")]
    NotANumber {
        /// What was given.
        text: String,
        /// What would do.
        accepted: &'static str,
    },
    /// It is below zero.
    #[error("'{text}' is negative; {accepted}")]
    Negative {
        /// What was given.
        text: String,
        /// What would do.
        accepted: &'static str,
    },
    /// It is zero where that means nothing.
    #[error("'{text}' is zero; {accepted}")]
    Zero {
        /// What was given.
        text: String,
        /// What would do.
        accepted: &'static str,
    },
    /// It is larger than any figure this program can hold.
    #[error("'{text}' is too large; {accepted}")]
    TooLarge {
        /// What was given.
        text: String,
        /// What would do.
        accepted: &'static str,
    },
    /// The unit is missing.
    #[error("'{text}' has no unit; {accepted}")]
    NoUnit {
        /// What was given.
        text: String,
        /// What would do.
        accepted: &'static str,
    },
    /// The unit is not known.
    #[error("'{text}': the unit '{unit}' is not known; {accepted}")]
    UnknownUnit {
        /// What was given.
        text: String,
        /// Its unit.
        unit: String,
        /// What would do.
        accepted: &'static str,
    },
}

const TIMES: &str = "give a time above zero with ns, us, µs, ms or s, as in 100ns";
const FREQUENCIES: &str =
    "give a frequency above zero with Hz, kHz, MHz or GHz, as in 2.8GHz or 2793MHz";

/// A time above zero, as in `100ns`.
///
/// # Errors
/// When it is anything else.
pub fn time(text: &str) -> Result<Nanos, QuantityError> {
    let (number, unit) = split(text, TIMES)?;
    let ns = number * nanos_in(text, unit)?;
    positive(in_range(ns, text, TIMES)?, text, TIMES).map(Nanos)
}

/// A frequency above zero, as in `2.8GHz`; the case of the unit does not matter.
///
/// # Errors
/// When it is anything else.
pub fn frequency(text: &str) -> Result<Hertz, QuantityError> {
    let (number, unit) = split(text, FREQUENCIES)?;
    let hertz = match unit.to_ascii_lowercase().as_str() {
        "hz" => 1.0,
        "khz" => 1e3,
        "mhz" => 1e6,
        "ghz" => 1e9,
        _ => return Err(unit_error(text, unit, FREQUENCIES)),
    };
    positive(
        in_range(number * hertz, text, FREQUENCIES)?,
        text,
        FREQUENCIES,
    )
    .map(Hertz)
}

/// The number at the beginning (never below zero, always finite) and what follows it.
fn split<'a>(text: &'a str, accepted: &'static str) -> Result<(f64, &'a str), QuantityError> {
    let trimmed = text.trim();
    let (number, unit) = trimmed.split_at(number_length(trimmed));
    let number: f64 = number.parse().map_err(|_| QuantityError::NotANumber {
        text: shown(text),
        accepted,
    })?;
    if number < 0.0 {
        return Err(QuantityError::Negative {
            text: shown(text),
            accepted,
        });
    }
    // `-0` is zero.
    Ok((in_range(number, text, accepted)?.abs(), unit.trim_start()))
}

/// How many bytes of `text` are a number: sign, digits, point, and an exponent only when digits
/// follow it.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let sign_at = |at: usize| usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
    let digits_at = |at: usize| {
        bytes[at..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count()
    };
    let mut end = sign_at(0);
    end += digits_at(end);
    if bytes.get(end) == Some(&b'.') {
        end += 1 + digits_at(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let digits = end + 1 + sign_at(end + 1);
        if digits <= bytes.len() && digits_at(digits) > 0 {
            end = digits + digits_at(digits);
        }
    }
    end
}

fn nanos_in(text: &str, unit: &str) -> Result<f64, QuantityError> {
    match unit {
        "ns" => Ok(1.0),
        // The micro sign and the Greek letter look the same.
        "us" | "\u{b5}s" | "\u{3bc}s" => Ok(1e3),
        "ms" => Ok(1e6),
        "s" => Ok(1e9),
        _ => Err(unit_error(text, unit, TIMES)),
    }
}

fn unit_error(text: &str, unit: &str, accepted: &'static str) -> QuantityError {
    if unit.is_empty() {
        return QuantityError::NoUnit {
            text: shown(text),
            accepted,
        };
    }
    QuantityError::UnknownUnit {
        text: shown(text),
        unit: shown(unit),
        accepted,
    }
}

fn in_range(number: f64, text: &str, accepted: &'static str) -> Result<f64, QuantityError> {
    if number.is_finite() {
        Ok(number)
    } else {
        Err(QuantityError::TooLarge {
            text: shown(text),
            accepted,
        })
    }
}

fn positive(number: f64, text: &str, accepted: &'static str) -> Result<f64, QuantityError> {
    if number > 0.0 {
        Ok(number)
    } else {
        Err(QuantityError::Zero {
            text: shown(text),
            accepted,
        })
    }
}

fn shown(text: &str) -> String {
    crate::text::clipped(text, 60)
}

#[cfg(test)]
mod tests;
