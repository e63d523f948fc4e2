//! What came of simulated timers, for people.

use std::io::Write;

use simulate::figure::FigureSummary;
use simulate::score::{FIGURES, Summary};
use timermeter::commands::{CommandError, terminal_style};
use timermeter::table::{Style, Value};
use timermeter::text::{hang, numbers};

use super::clocks::{Judged, Miss, Outcome};
use super::table;

/// Timers that are shown one by one when their figures are wrong.
const MOST_SHOWN: usize = 12;

pub fn print(outcome: &Outcome, output: &mut dyn Write) -> Result<(), CommandError> {
    writeln!(
        output,
        "simulated timers, seed {}, profile {}",
        outcome.seed, outcome.profile
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
        "numbers given to timers without a step: {} of {}",
        outcome.numbers_for_irregular, outcome.irregular
    )?;
    if !outcome.misses.is_empty() {
        writeln!(output, "\nwrong (declared → found)")?;
        write!(output, "{}", misses(&outcome.misses, style))?;
    }
    Ok(())
}

/// All groups, the last of which holds all timers.
fn groups(judged: &Judged) -> impl Iterator<Item = (&str, &Summary)> {
    judged
        .groups
        .iter()
        .map(|(group, summary)| (group.as_str(), summary))
        .chain([("all", &judged.all)])
}

fn misses_of(summary: &Summary) -> String {
    format!(
        "{:.1} ({:.1}) %",
        100.0 * summary.misses,
        100.0 * summary.unavoidable
    )
}

/// A table a figure, and one of misses: no line is wider than 80 columns.
fn tables(judged: &Judged, style: Style) -> String {
    let of_figure = |(at, name): (usize, &&'static str)| {
        let mut table = table(&[name, "right", "held", "± (error)", "score", "exact", "rest"]);
        for (group, summary) in groups(judged) {
            let figure = summary.figures()[at];
            let mut row = vec![Value::from(group.to_owned()), percent(figure.right).into()];
            row.extend([percent(figure.covered), sizes(figure)].map(Value::from));
            row.extend(
                [figure.score, figure.exact, figure.irreducible]
                    .map(|score| Value::from(small(score))),
            );
            table.push(row);
        }
        table.on_terminal(style, &|_| "") + "\n"
    };
    let mut misses = table(&["", "timers", "misses"]);
    for (group, summary) in groups(judged) {
        misses.push(vec![
            group.to_owned().into(),
            summary.timers.to_string().into(),
            misses_of(summary).into(),
        ]);
    }
    FIGURES
        .iter()
        .enumerate()
        .map(of_figure)
        .collect::<String>()
        + &misses.on_terminal(style, &|_| "")
}

const LEGEND: &str = "right; held, the truth by its interval: in %; ±: median half-width (median error) of the intervals; score: their mean interval score, \
that of exact intervals, as wide as figures really scatter, and rest, the width that remains with infinitely many single calls and batches. Of resolution and cost in % of them, of spread and Quality in points\n\
misses: truth outside the interval, and off by more than 1 % of cost or 0.1 points of Quality \
(how often exact 95 % intervals of these widths would miss so)";

fn percent(share: Option<f64>) -> String {
    share.map_or_else(
        || numbers::NOTHING.to_owned(),
        |share| format!("{:.0}", 100.0 * share),
    )
}

/// A size in percent.
fn small(size: Option<f64>) -> String {
    let rounded = |size: f64| numbers::significant((100.0 * size * 1e4).round() / 1e4, 2);
    size.map_or_else(|| numbers::NOTHING.to_owned(), rounded)
}

/// Half-width and error of a figure, in percent.
pub fn sizes(figure: FigureSummary) -> String {
    format!("{} (±{})", small(figure.half_width), small(figure.error))
}

fn misses(misses: &[Miss], style: Style) -> String {
    let mut table = table(&["timer", "resolution", "cost", "spread", "Quality %"]);
    table.columns[0].folds = true;
    let time =
        |pair: [Option<f64>; 2]| format!("{} → {}", numbers::time(pair[0]), numbers::time(pair[1]));
    let share = |pair: [Option<f64>; 2]| {
        format!("{} → {}", numbers::share(pair[0]), numbers::share(pair[1]))
    };
    let percent = |pair: [Option<f64>; 2]| {
        format!(
            "{} → {}",
            numbers::percent(pair[0]),
            numbers::percent(pair[1])
        )
    };
    for miss in misses.iter().take(MOST_SHOWN) {
        table.push(vec![
            format!("{}, {}", miss.timer, miss.reference).into(),
            time(miss.resolution_ns).into(),
            time(miss.cost_ns).into(),
            share(miss.spread).into(),
            percent(miss.quality).into(),
        ]);
    }
    let mut text = table.on_terminal(style, &|_| "");
    if misses.len() > MOST_SHOWN {
        text += &format!("… and {} more\n", misses.len() - MOST_SHOWN);
    }
    text
}
