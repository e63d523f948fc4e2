//! Prints the outcome for simulated clocks as tables.

use std::io::Write;

use reporting::format::{Format, Render, Style};
use reporting::table::CellValue;
use reporting::text::{hang, numbers};
use simulate::score::{FIGURES, Summary};
use timermeter::commands::{CommandError, terminal_style};

use super::{Judged, Miss, Outcome};
use crate::{short_percent, sizes, table};

/// The largest number of timers with wrong figures that are listed.
const MAX_LISTED: usize = 12;

pub fn print(outcome: &Outcome, output: &mut dyn Write) -> Result<(), CommandError> {
    writeln!(
        output,
        "simulated timers, seed {}, profile {}",
        outcome.seed, outcome.figures
    )?;
    let style = terminal_style();
    for judged in &outcome.references {
        writeln!(output, "\nreference: {}", judged.reference)?;
        write!(output, "{}", tables(judged, style))?;
    }
    let mut legend = String::new();
    for line in LEGEND.lines() {
        hang(&mut legend, "", "  ", line, style.columns());
    }
    write!(output, "\n{legend}")?;
    writeln!(
        output,
        "timers without a fixed step that were given a resolution, which is wrong: {} of {}",
        outcome.numbers_for_irregular, outcome.irregular
    )?;
    if !outcome.misses.is_empty() {
        writeln!(
            output,
            "\ntimers with a figure that is not right (true → estimated)"
        )?;
        write!(output, "{}", list_wrong(&outcome.misses, style))?;
    }
    Ok(())
}

/// Returns the summaries of all groups and, last, of all timers.
fn groups(judged: &Judged) -> impl Iterator<Item = (&str, &Summary)> {
    judged
        .groups
        .iter()
        .map(|(group, summary)| (group.as_str(), summary))
        .chain([("all", &judged.all)])
}

fn misses_percent(summary: &Summary) -> String {
    format!(
        "{:.1} ({:.1}) %",
        100.0 * summary.misses,
        100.0 * summary.unavoidable
    )
}

/// Formats one table for each figure and one for misses, so that no line is wider than 80 columns.
fn tables(judged: &Judged, style: Style) -> String {
    let figure_table = |(at, name): (usize, &&'static str)| {
        let mut table = table(&[name, "right", "covered", "± (error)", "score", "exact"]);
        for (group, summary) in groups(judged) {
            let figure = summary.figures()[at];
            let mut row = vec![
                CellValue::from(group.to_owned()),
                percent(figure.right).into(),
            ];
            row.extend([percent(figure.covered), sizes(figure)].map(CellValue::from));
            row.extend(
                [figure.score, figure.exact].map(|score| CellValue::from(short_percent(score))),
            );
            table.push(row);
        }
        table.rendered(Format::Table, style) + "\n"
    };
    let mut misses_table = table(&["", "timers", "wrong steps", "misses"]);
    for (group, summary) in groups(judged) {
        misses_table.push(vec![
            group.to_owned().into(),
            summary.timers.to_string().into(),
            summary.wrong_steps.to_string().into(),
            misses_percent(summary).into(),
        ]);
    }
    FIGURES
        .iter()
        .enumerate()
        .map(figure_table)
        .collect::<String>()
        + &misses_table.rendered(Format::Table, style)
}

const LEGEND: &str = "right: share of timers with a right figure; covered: share of intervals that contain the truth; both in %\n\
±: median half-width of the intervals (median error); score: their mean interval score; \
exact: the mean score of exact intervals, which contain the truth in 95 % of cases, for normally distributed errors of the observed mean size; resolution and cost in %, spread and Quality in points\n\
wrong steps: number of timers whose true step lies outside its interval with an error above 1 %\n\
misses: share of timers whose truth lies outside the interval with an error above 1 % of the cost or 0.1 points of Quality \
(the share for exact intervals of these widths)";

fn percent(share: Option<f64>) -> String {
    share.map_or_else(
        || numbers::NOTHING.to_owned(),
        |share| format!("{:.0}", 100.0 * share),
    )
}

/// Lists timers with a wrong figure, at most [`MAX_LISTED`].
fn list_wrong(misses: &[Miss], style: Style) -> String {
    let mut table = table(&["timer", "resolution", "cost", "spread", "Quality %"]);
    table.columns[0].folds = true;
    let times =
        |pair: [Option<f64>; 2]| format!("{} → {}", numbers::time(pair[0]), numbers::time(pair[1]));
    let fractions = |pair: [Option<f64>; 2]| {
        format!("{} → {}", numbers::share(pair[0]), numbers::share(pair[1]))
    };
    let percentages = |pair: [Option<f64>; 2]| {
        format!(
            "{} → {}",
            numbers::percent(pair[0]),
            numbers::percent(pair[1])
        )
    };
    for miss in misses.iter().take(MAX_LISTED) {
        table.push(vec![
            format!("{}, {}", miss.timer, miss.reference).into(),
            times(miss.resolution_ns).into(),
            times(miss.cost_ns).into(),
            fractions(miss.spread).into(),
            percentages(miss.quality).into(),
        ]);
    }
    let mut text = table.rendered(Format::Table, style);
    if misses.len() > MAX_LISTED {
        text += &format!("… and {} more\n", misses.len() - MAX_LISTED);
    }
    text
}
