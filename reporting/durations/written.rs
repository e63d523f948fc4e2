//! Reads how exactly a program wrote its numbers, from their digits.

use crate::statistics::quantile;

/// A number with its digits as they were written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WrittenNumber {
    /// The number.
    pub value: f64,
    /// The number of significant digits.
    digits: i32,
    /// The power of ten of the last digit.
    last: i32,
    /// Whether it is written as a whole number, which programs do not round to significant digits.
    is_whole: bool,
}

impl WrittenNumber {
    /// Reads a number; `None` if the text is none, or an infinite one.
    pub fn parse(text: &str) -> Option<Self> {
        let value: f64 = text.parse().ok()?;
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let exponent: i32 = exponent.parse().ok()?;
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        // Many languages write whole floating-point numbers as 3.0.
        let fraction = if fraction == "0" { "" } else { fraction };
        let digits = format!("{whole}{fraction}");
        let mut digits = digits.trim_start_matches(['+', '-', '0']);
        let is_whole = !text.contains(['.', 'e', 'E']);
        if !is_whole && fraction.is_empty() {
            digits = digits.trim_end_matches('0');
        }
        value.is_finite().then_some(Self {
            value,
            digits: digits.len() as i32,
            last: exponent.saturating_sub(fraction.len() as i32),
            is_whole,
        })
    }
}

/// The unit that numbers were rounded to; and whether they are floating-point numbers with all
/// digits, so that they may have been rounded before.
pub fn rounding(numbers: &[WrittenNumber]) -> (f64, bool) {
    /// The least number of digits of numbers that were not rounded in decimals. *Definition*: 15
    /// digits survive in floating-point numbers.
    const ALL_DIGITS: i32 = 15;
    /// The error of arithmetic with floating-point numbers, as a share. *Computed*: 256 times that of
    /// one operation.
    const FLOATING: f64 = 5.7e-14;
    let digits = numbers.iter().map(|number| number.digits).max();
    let magnitudes = numbers.iter().map(|number| number.value.abs());
    let mut magnitudes: Vec<f64> = magnitudes.collect();
    magnitudes.sort_unstable_by(f64::total_cmp);
    let most = quantile(&magnitudes, 0.95).unwrap_or(0.0);
    let floating = most * FLOATING;
    if digits.is_some_and(|digits| digits >= ALL_DIGITS) {
        let bits = magnitudes
            .iter()
            .filter(|value| **value > 0.0)
            .map(lowest_bit);
        return (bits.fold(f64::INFINITY, f64::min).max(floating), true);
    }
    let last = numbers.iter().map(|number| number.last).min();
    let decimals = 10.0_f64.powi(last.unwrap_or(0).max(-300));
    let by_digits = match digits {
        Some(digits) if !numbers.iter().all(|number| number.is_whole) && most > 0.0 => {
            10.0_f64.powf(most.log10().floor() + 1.0 - f64::from(digits))
        }
        _ => 0.0,
    };
    (decimals.max(by_digits).max(floating), false)
}

/// The value of the lowest bit that is set in a positive number.
fn lowest_bit(value: &f64) -> f64 {
    let bits = value.to_bits();
    let exponent = (bits >> 52) as i32 - 1075;
    let mantissa = bits & ((1 << 52) - 1) | 1 << 52;
    2.0_f64.powi(exponent + mantissa.trailing_zeros() as i32)
}
