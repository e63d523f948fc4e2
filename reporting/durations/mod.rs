//! Reads durations that other programs measured: columns of text, and the JSON of benchmark tools.
//! The content of a file shows its format.

mod column;
mod json;
mod written;

use std::path::Path;

use clap::ValueEnum;

use crate::input::{self, MAX_REPORT_BYTES};
use crate::statistics::mean;
use crate::text::clipped;
use written::{WrittenNumber, rounding};

/// Durations of one operation, which one clock measured.
#[derive(Clone, Debug, PartialEq)]
pub struct DurationSeries {
    /// The name of the file, and of the operation.
    pub name: String,
    /// The program that wrote them, and the unit.
    pub source: String,
    /// Durations in nanoseconds.
    pub durations: Vec<f64>,
    /// What they were rounded to, in nanoseconds.
    pub rounding: f64,
    /// Whether they are floating-point numbers with all digits, which may have been rounded before.
    pub is_floating: bool,
    /// The number of calls in each duration, on average.
    pub calls: f64,
    /// Whether durations differ because their numbers of calls differ.
    pub calls_differ: bool,
}

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
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
    let name = clipped(&path.display().to_string(), 200);
    let mut bytes = Vec::new();
    input::read(path, MAX_REPORT_BYTES, &mut bytes)
        .map_err(|error| format!("cannot read '{name}': {error}"))?;
    let mut series =
        parse(&bytes, column, unit).map_err(|problem| format!("'{name}' {problem}"))?;
    for one in &mut series {
        one.name = match one.name.as_str() {
            "" => name.clone(),
            operation => format!("{name}: {}", clipped(operation, 100)),
        };
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
    let text = text.trim_start_matches('\u{feff}');
    let series = match text.trim_start().starts_with(['{', '[']) {
        true => json::parse(text, column, unit)?,
        false => vec![column::parse(text, column, unit)?],
    };
    let mut durations = series.iter().flat_map(|one| &one.durations).peekable();
    if durations.peek().is_none() {
        return Err(
            "holds no single durations: write them with hyperfine --export-json, \
             --benchmark-save-data of pytest-benchmark, or --benchmark_format=json"
                .into(),
        );
    }
    match durations.all(|duration| duration.abs() <= LONGEST_NS) {
        true => Ok(series),
        false => Err("has durations of more than 31 years: give --unit or --column".into()),
    }
}

impl DurationSeries {
    /// The series of numbers that were written in a unit, each the mean of so many calls; no `calls`
    /// mean one each.
    fn of(source: &str, unit: TimeUnit, numbers: &[WrittenNumber], calls: &[f64]) -> Self {
        let (rounding, is_floating) = rounding(numbers);
        let calls_of = |at: usize| calls.get(at).copied().unwrap_or(1.0);
        let total = |(at, number): (usize, &WrittenNumber)| number.value * calls_of(at) * unit.ns();
        // A mean was rounded after the division.
        let most_calls = calls.iter().copied().fold(1.0, f64::max);
        Self {
            name: String::new(),
            source: format!("{source}, in {unit:?}").to_lowercase(),
            durations: numbers.iter().enumerate().map(total).collect(),
            rounding: rounding * most_calls * unit.ns(),
            is_floating,
            calls: mean(calls).unwrap_or(1.0),
            calls_differ: calls.iter().any(|number| *number != calls[0]),
        }
    }
}
