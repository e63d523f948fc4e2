//! Reads durations that other programs measured: columns of text, and the JSON of benchmark tools.
//! The content of a file shows its format.

mod formats;

use std::path::Path;

use clap::ValueEnum;
use serde::Serialize;

use crate::input::{self, MAX_REPORT_BYTES};
use crate::text::clipped;
use estimators::statistics::{quantile, sorted};

/// Durations of one operation, which one clock measured.
#[derive(Debug, Serialize)]
pub struct DurationSeries {
    /// The name of the file, and of the operation.
    pub name: String,
    /// The program that wrote them, and the unit.
    pub source: String,
    /// The number of calls in each duration; null if it differs.
    pub calls: Option<f64>,
    /// Durations in nanoseconds.
    #[serde(skip)]
    pub durations: Vec<f64>,
    /// What they were rounded to, in nanoseconds.
    #[serde(skip)]
    pub rounding: f64,
    /// Whether they are floating-point numbers with all digits, which may have been rounded before they became such numbers.
    #[serde(skip)]
    pub is_floating: bool,
}

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum TimeUnit {
    /// Nanoseconds
    #[value(alias = "nanoseconds")]
    Ns,
    /// Microseconds
    #[value(aliases = ["µs", "microseconds"])]
    Us,
    /// Milliseconds
    #[value(alias = "milliseconds")]
    Ms,
    /// Seconds
    #[value(aliases = ["sec", "seconds"])]
    S,
}

impl TimeUnit {
    /// Its length in nanoseconds.
    pub fn ns(self) -> f64 {
        [1.0, 1e3, 1e6, 1e9][self as usize]
    }
}

/// Reads all durations of a file, or of standard input (`-`).
///
/// # Errors
/// When the file cannot be read, or holds no durations.
pub fn read(
    path: &Path,
    column: Option<&str>,
    unit: Option<TimeUnit>,
) -> Result<Vec<DurationSeries>, String> {
    let file = clipped(&path.display().to_string(), 200);
    let bytes = input::read(path, MAX_REPORT_BYTES)
        .map_err(|error| format!("cannot read '{file}': {error}"))?;
    let mut series =
        parse(&bytes, column, unit).map_err(|problem| format!("'{file}' {problem}"))?;
    for one in &mut series {
        let name = format!("{file}: {}", clipped(&one.name, 100));
        one.name = name.trim_end_matches(": ").into();
    }
    Ok(series)
}

/// Reads all durations of the content of a file.
///
/// # Errors
/// The problem, and what to do.
pub fn parse(
    bytes: &[u8],
    column: Option<&str>,
    unit: Option<TimeUnit>,
) -> Result<Vec<DurationSeries>, String> {
    /// The longest duration in nanoseconds: 31 years.
    const LONGEST_NS: f64 = 1e18;
    let text = str::from_utf8(bytes).map_err(|_| "is not UTF-8")?;
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let series = match text.starts_with(['{', '[']) {
        true => formats::json(text, column)?,
        false => vec![formats::columns(text, column, unit)?],
    };
    let mut durations = series.iter().flat_map(|one| &one.durations);
    if durations.clone().count() == 0 {
        return Err(
            "has no single durations; pytest-benchmark writes them with --benchmark-save-data"
                .into(),
        );
    }
    match durations.all(|duration| duration.abs() <= LONGEST_NS) {
        true => Ok(series),
        false => Err("has durations of more than 31 years".into()),
    }
}

impl DurationSeries {
    /// The series of numbers that were written in a unit, each the mean of so many calls; but
    /// Criterion writes totals.
    fn of(name: &str, source: &str, unit: TimeUnit, numbers: &[(WrittenNumber, f64)]) -> Self {
        let is_total = source == "Criterion";
        let times = |calls: f64| unit.ns() * if is_total { 1.0 } else { calls };
        let duration = |(number, calls): &(WrittenNumber, f64)| number.value * times(*calls);
        // A mean was rounded after the division.
        let most_calls = numbers.iter().map(|it| it.1).fold(1.0, f64::max);
        let (rounding, is_floating) = rounding(numbers.iter().map(|it| it.0));
        let is_equal = numbers.iter().all(|it| it.1 == most_calls);
        Self {
            name: name.into(),
            source: format!("{source}, in {unit:?}").to_lowercase(),
            calls: is_equal.then_some(most_calls),
            durations: numbers.iter().map(duration).collect(),
            rounding: rounding * times(most_calls),
            is_floating,
        }
    }
}

/// A number with its digits as they were written.
#[derive(Clone, Copy)]
struct WrittenNumber {
    /// The number.
    value: f64,
    /// The number of significant digits.
    digits: i32,
    /// The power of ten of the last digit.
    last: i32,
}

impl WrittenNumber {
    /// Reads a number; `None` if the text is none, or an infinite one.
    fn parse(text: &str) -> Option<Self> {
        let value: f64 = text.parse().ok()?;
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let exponent: i32 = exponent.parse().ok()?;
        // Many languages write whole floating-point numbers as 3.0.
        let mantissa = mantissa.strip_suffix(".0").unwrap_or(mantissa);
        let decimals = mantissa.split_once('.').map_or(0, |it| it.1.len());
        let digits = mantissa.replace('.', "");
        value.is_finite().then_some(Self {
            value,
            digits: digits.trim_start_matches(['+', '-', '0']).len() as i32,
            last: exponent.saturating_sub(decimals as i32).max(-300),
        })
    }
}

/// The unit that numbers were rounded to; and whether they are floating-point numbers with all
/// digits, so that they may have been rounded before.
fn rounding(numbers: impl Iterator<Item = WrittenNumber> + Clone) -> (f64, bool) {
    /// The least number of digits of numbers that were not rounded in decimals. *Definition*: 15
    /// digits survive in floating-point numbers.
    const ALL_DIGITS: i32 = 15;
    /// The error of arithmetic with floating-point numbers, as a share. *Computed*: 512 times that of
    /// one operation.
    const FLOATING: f64 = 5.7e-14;
    let digits = numbers.clone().map(|it| it.digits).max().unwrap_or(0);
    let last = numbers.clone().map(|it| it.last).min().unwrap_or(0);
    let most = quantile(&sorted(numbers.clone().map(|it| it.value.abs())), 0.95).unwrap_or(0.0);
    if digits >= ALL_DIGITS {
        // Differences of large numbers are multiples of a power of two.
        let powers = (-60..0).map(|power| 2.0_f64.powi(power));
        let common = powers.filter(|bit| numbers.clone().all(|it| it.value % bit == 0.0));
        return (common.fold(most * FLOATING, f64::max), true);
    }
    // The power of ten of the last digit of numbers that were rounded to significant digits.
    let by_digits = (most.log10().floor() as i32).saturating_add(1 - digits);
    let last = last.max(by_digits);
    (10.0_f64.powi(last).max(most * FLOATING), false)
}
