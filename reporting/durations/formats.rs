//! Reads the JSON of hyperfine, Criterion, google/benchmark and pytest-benchmark; and columns of text
//! whose cells are separated by commas, semicolons, tabs or blanks.

use std::slice::from_ref;

use clap::ValueEnum;
use csv::{ReaderBuilder, Trim};
use indexmap::IndexMap;
use serde_json::Value;

use super::{DurationSeries, TimeUnit, WrittenNumber};
use crate::text::{clipped, json_error};

/// Reads all series of a document; `column` is a time of google/benchmark.
///
/// # Errors
/// When it is no JSON.
pub(super) fn json(text: &str, column: Option<&str>) -> Result<Vec<DurationSeries>, String> {
    let document: Value = serde_json::from_str(text)
        .map_err(|error| format!("is not valid JSON: {}", json_error(&error)))?;
    let time = format!("/{}", column.unwrap_or("real_time"));
    // The list of operations; of each the name, durations and calls. `-` is no pointer and finds nothing. The durations are means
    // per call, but Criterion's are totals (see [`DurationSeries`]).
    let formats = [
        (
            "hyperfine",
            ["/results", "/command", "/times", "-"],
            TimeUnit::S,
        ),
        (
            "pytest-benchmark",
            ["/benchmarks", "/name", "/stats/data", "/stats/iterations"],
            TimeUnit::S,
        ),
        (
            "google/benchmark",
            ["/benchmarks", "/name", &time, "/iterations"],
            TimeUnit::Ns,
        ),
        ("Criterion", ["", "-", "/times", "/iters"], TimeUnit::Ns),
    ];
    let mut series = Vec::new();
    for (source, [list, name, times, calls], unit) in formats {
        let items = match list {
            "" => from_ref(&document),
            _ => document
                .pointer(list)
                .and_then(Value::as_array)
                .map_or(&[][..], Vec::as_slice),
        };
        let mut operations = IndexMap::<_, Vec<_>>::new();
        for item in items {
            let text = |key| {
                item.pointer(key)
                    .and_then(Value::as_str)
                    .unwrap_or_default()
            };
            let numbers = |key| item.pointer(key).and_then(numbers).unwrap_or_default();
            let (times, calls) = (numbers(times), numbers(calls));
            // These summarise others.
            if text("/run_type") == "aggregate" || times.is_empty() {
                continue;
            }
            let calls = |at| calls.get(at).or(calls.first()).map_or(1.0, |it| it.value);
            let unit = TimeUnit::from_str(text("/time_unit"), true).unwrap_or(unit);
            let times = times.into_iter().enumerate();
            let operation = operations.entry((text(name), unit)).or_default();
            operation.extend(times.map(|(at, number)| (number, calls(at))));
        }
        let of =
            |((name, unit), numbers): (_, Vec<_>)| DurationSeries::of(name, source, unit, &numbers);
        series.extend(operations.into_iter().map(of));
    }
    Ok(series)
}

/// A number, or those of an array; `None` if it holds anything else.
fn numbers(value: &Value) -> Option<Vec<WrittenNumber>> {
    let parse = |item: &Value| WrittenNumber::parse(&item.as_number()?.to_string());
    let items = value.as_array().map_or(from_ref(value), Vec::as_slice);
    items.iter().map(parse).collect()
}

/// Reads the column of this heading or number, or the only one.
///
/// # Errors
/// When there is no such column, or a cell of it is no number.
pub(super) fn columns(
    text: &str,
    column: Option<&str>,
    unit: Option<TimeUnit>,
) -> Result<DurationSeries, String> {
    let first = text
        .lines()
        .find(|line| !line.starts_with('#'))
        .unwrap_or_default();
    let mut separators = ['\t', ';', ','].into_iter();
    let separator = separators.find(|it| first.contains(*it)).unwrap_or(' ');
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .delimiter(separator as u8)
        .comment(Some(b'#'))
        .trim(Trim::All)
        .from_reader(text.as_bytes());
    let (mut at, mut heading, mut numbers) = (0, String::new(), Vec::new());
    for (index, row) in reader.records().enumerate() {
        let row = row.map_err(|error| format!("is no table: {error}"))?;
        if index == 0 {
            let wanted = column.unwrap_or(if row.len() == 1 { "1" } else { "" });
            let number = wanted.parse().ok().and_then(|it: usize| it.checked_sub(1));
            let found = row.iter().position(|cell| cell == wanted).or(number);
            at = found.filter(|at| *at < row.len()).ok_or_else(|| {
                let names = row.iter().collect::<Vec<_>>().join(", ");
                let names = clipped(&names, 200);
                format!("has the columns {names}: give --column")
            })?;
        }
        let cell = &row[at];
        match WrittenNumber::parse(cell) {
            Some(number) => numbers.push((number, 1.0)),
            None if index == 0 => heading = cell.to_owned(),
            None => {
                let (line, cell) = (index + 1, clipped(cell, 40));
                return Err(format!("has '{cell}' in row {line}"));
            }
        }
    }
    let mut words = heading.split(|c: char| !c.is_alphabetic());
    let named = words.find_map(|word| TimeUnit::from_str(word, true).ok());
    let is_whole = numbers.iter().all(|it| it.0.value.fract() == 0.0);
    let guess = if is_whole { TimeUnit::Ns } else { TimeUnit::S };
    let (source, unit) = match unit.or(named) {
        Some(unit) => ("text", unit),
        None => ("text without a unit (see --unit)", guess),
    };
    Ok(DurationSeries::of(&heading, source, unit, &numbers))
}
