//! Reads a column of text whose cells are separated by commas, semicolons, tabs or blanks.

use clap::ValueEnum;
use csv::{ReaderBuilder, Trim};

use super::{DurationSeries, TimeUnit, WrittenNumber};
use crate::text::clipped;

/// Reads the column of this heading or number, or the only one.
///
/// # Errors
/// When there is no such column, or a cell of it is no number.
pub(super) fn parse(
    text: &str,
    column: Option<&str>,
    unit: Option<TimeUnit>,
) -> Result<DurationSeries, String> {
    let is_row = |line: &&str| !line.is_empty() && !line.starts_with('#');
    let first = text.lines().find(is_row).unwrap_or_default();
    let separator = ['\t', ';', ','].into_iter().find(|it| first.contains(*it));
    let table = match separator {
        Some(_) => text.to_owned(),
        None => text.replace([' ', '\u{a0}'], "\t"),
    };
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .delimiter(separator.unwrap_or('\t') as u8)
        .comment(Some(b'#'))
        .trim(Trim::All)
        .from_reader(table.as_bytes());
    let (mut at, mut heading, mut numbers) = (0, String::new(), Vec::new());
    for (index, row) in reader.records().enumerate() {
        let row = row.map_err(|error| format!("is no table: {error}"))?;
        if index == 0 {
            let by_name = |name: &str| row.iter().position(|cell| cell == name);
            let by_number = |name: &str| name.parse::<usize>().ok()?.checked_sub(1);
            let found = match column {
                Some(name) => by_name(name).or_else(|| by_number(name)),
                None => Some(0).filter(|_| row.len() == 1),
            };
            at = found.filter(|at| *at < row.len()).ok_or_else(|| {
                let names = row.iter().collect::<Vec<_>>().join(", ");
                let names = clipped(&names, 200);
                format!("has the columns {names}: choose one with --column NAME or N")
            })?;
        }
        let cell = match separator {
            Some(';') => row[at].replace(',', "."),
            _ => row[at].to_owned(),
        };
        match WrittenNumber::parse(&cell) {
            Some(number) => numbers.push(number),
            None if index == 0 => heading = cell,
            None => {
                let (line, cell) = (index + 1, clipped(&cell, 40));
                return Err(format!("has '{cell}' in row {line}, which is no number"));
            }
        }
    }
    let mut words = heading.split(|c: char| !c.is_alphabetic());
    let named = words.find_map(|word| TimeUnit::from_str(word, true).ok());
    let is_whole = numbers.iter().all(|number| number.value.fract() == 0.0);
    let (unit, source) = match (unit.or(named), is_whole) {
        (Some(unit), _) => (unit, "text"),
        (None, true) => (TimeUnit::Ns, "whole numbers without a unit (see --unit)"),
        (None, false) => (TimeUnit::S, "fractions without a unit (see --unit)"),
    };
    Ok(DurationSeries {
        name: heading,
        ..DurationSeries::of(source, unit, &numbers, &[])
    })
}
