//! Summarises a comparison in one sentence: what changed and by how much, and within which limits all
//! else is unchanged.

use std::fmt;

use super::cost::INSTRUCTIONS;
use super::{COST, Change, ComparedFigure, Comparison, FamilyChange, RESOLUTION, Standing};
use crate::text::numbers::significant;

/// The smallest increase in percent that is written as a factor.
const LEAST_FACTOR: f64 = 100.0;
/// The largest number of timers that a sentence lists.
const MOST_LISTED: usize = 3;

/// The sentence on costs, resolutions, trust and the clock source, with what may have caused changes.
pub fn sentence(comparison: &Comparison) -> String {
    let changed = |quantity: &'static str| {
        let figures = comparison.figures.iter();
        figures.filter(move |it| it.quantity == quantity && it.is_changed())
    };
    let machine = comparison
        .machine
        .filter(|machine| machine.verdict.is_change());
    let (mut parts, mut within) = (Vec::new(), Vec::new());
    for FamilyChange {
        family,
        timers,
        change,
    } in &comparison.families
    {
        let own = changed(COST).filter(|figure| timers.contains(&figure.timer));
        if change.verdict.is_change() {
            let changed: Vec<&String> = own.map(|figure| &figure.timer).collect();
            let except = listed(timers.iter().filter(|timer| !changed.contains(timer)));
            let except = except.map_or_else(String::new, |except| format!(", all but {except}"));
            parts.push(format!("{family} {}{except}", amount(change)));
        } else if family != INSTRUCTIONS || machine.is_none() {
            parts.extend(listed(own));
            within.push(format!(
                "{family} within {} %",
                percent(change.limit_percent)
            ));
        }
    }
    let (wrong, lost): (Vec<_>, Vec<_>) = comparison
        .failed()
        .partition(|it| it.new == Standing::Wrong);
    let source = comparison
        .platform
        .iter()
        .filter(|change| change.is_clock_source());
    let named = [
        ("resolution of", listed(changed(RESOLUTION))),
        ("newly wrong:", listed(wrong)),
        ("lost:", listed(lost)),
        ("clock source", listed(source)),
    ];
    parts.extend(
        named
            .into_iter()
            .filter_map(|(what, names)| Some(format!("{what} {}", names?))),
    );
    let is_changed = !parts.is_empty();
    if !within.is_empty() {
        let subject = if is_changed { "all else" } else { "costs" };
        parts.push(format!("{subject} unchanged ({})", within.join(", ")));
    }
    let undecided = comparison
        .figures
        .iter()
        .filter(|figure| figure.quantity == COST && figure.change.is_none());
    let undecided = listed(undecided.map(|figure| &figure.timer));
    parts.extend(undecided.map(|names| format!("too few processes to judge {names}")));
    parts.extend(comparison.causes().filter(|_| is_changed));
    let machine = machine.map(|it| format!("{INSTRUCTIONS} {}; relative to them: ", amount(&it)));
    machine.unwrap_or_default() + &parts.join("; ")
}

impl Comparison {
    /// What changed on the platform and may have made clocks slower or faster.
    pub fn causes(&self) -> Option<String> {
        let causes = self.platform.iter().filter(|change| change.is_cause);
        let causes = listed(causes.map(|change| format!("{} {change}", change.what)))?;
        Some(format!("probable cause: {causes}"))
    }
}

impl fmt::Display for ComparedFigure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.quantity, &self.change) {
            (COST, Some(change)) => write!(f, "{} {}", self.timer, amount(change)),
            _ => write!(
                f,
                "{} {} → {}",
                self.timer,
                self.written(self.old),
                self.written(self.new)
            ),
        }
    }
}

/// Joins names; of many names, the first ones and the number of the others. `None` without names.
pub fn listed<T: ToString>(names: impl IntoIterator<Item = T>) -> Option<String> {
    let names: Vec<String> = names.into_iter().map(|name| name.to_string()).collect();
    let first = names[..names.len().min(MOST_LISTED)].join(", ");
    match names.len() {
        0 => None,
        1..=MOST_LISTED => Some(first),
        all => Some(format!("{first} and {} more", all - MOST_LISTED)),
    }
}

/// Formats a change with its interval, as in `+4.2 % [3.1, 5.3]`, or `2.74 times [2.71, 2.78]`.
pub fn amount(change: &Change) -> String {
    let value = change.percent.value;
    let is_factor = value >= LEAST_FACTOR;
    let written = |value: f64| match is_factor {
        true => significant(1.0 + value / 100.0, 3),
        false => percent(value),
    };
    let sign = if value > 0.0 && !is_factor { "+" } else { "" };
    let unit = if is_factor { "times" } else { "%" };
    let ends = change.percent.ends();
    let ends = ends.map(|(low, high)| format!(" [{}, {}]", written(low), written(high)));
    format!(
        "{sign}{} {unit}{}",
        written(value),
        ends.unwrap_or_default()
    )
}

/// Formats a percentage with the digits that count.
pub fn percent(percent: f64) -> String {
    let decimals = usize::from(percent.abs() < 9.95);
    format!("{:.decimals$}", percent + 0.0)
}
