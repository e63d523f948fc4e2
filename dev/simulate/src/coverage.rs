//! Whether intervals hold the truth as often as they have to: of each kind of timers, and of all of
//! them.

use statrs::distribution::{Binomial, DiscreteCDF};

use super::figure::FigureSummary;
use super::score::{FIGURES, Summary};

/// How often intervals of 95 % hold the truth.
/// *Definition*.
pub const OF_ALL: f64 = 0.95;
/// How often they have to in each kind of timers.
/// *Definition*: the aim that was set.
pub const OF_A_KIND: f64 = 0.9;
/// This many timers of a kind speak for themselves; of fewer chance is taken off.
/// *Chance*: known to 1.3 %.
pub const ENOUGH: u32 = 500;
/// How often at most chance alone makes any row of a run fail.
/// *Judgement*.
pub const CHANCE: f64 = 0.01;

/// A figure of one row of a table.
struct Cell {
    name: String,
    figure: FigureSummary,
    required: f64,
}

/// The cells that hold the truth too seldom, in words, of rows of kinds by their names and of all
/// timers together. Rows of 500 timers and more fail below what is required; of the others those do
/// that a one-sided binomial test rejects at 1 % over all of them (S. Holm, *A simple sequentially
/// rejective multiple test procedure*, Scandinavian Journal of Statistics 6, 1979), and so do
/// figures of all timers.
#[must_use]
pub fn too_seldom(kinds: &[(String, Summary)], all: &[Summary]) -> Vec<String> {
    let of_kinds: Vec<Cell> = kinds
        .iter()
        .flat_map(|(row, summary)| {
            let cell = move |(name, figure)| Cell {
                name: format!("{row}: {name}"),
                figure,
                required: OF_A_KIND,
            };
            FIGURES.into_iter().zip(summary.figures()).map(cell)
        })
        .filter(|cell| cell.figure.intervals > 0)
        .collect();
    let (plain, tested): (Vec<&Cell>, Vec<&Cell>) = of_kinds
        .iter()
        .partition(|cell| cell.figure.intervals >= ENOUGH);
    let plain = plain
        .into_iter()
        .filter(|cell| cell.figure.covered < Some(cell.required));
    let of_all: Vec<Cell> = FIGURES
        .into_iter()
        .enumerate()
        .map(|(at, name)| together(name, at, all))
        .collect();
    plain
        .chain(rejected(tested))
        .chain(rejected(of_all.iter().collect()))
        .map(sentence)
        .collect()
}

/// A figure of all timers, whatever timed them.
fn together(name: &str, at: usize, all: &[Summary]) -> Cell {
    let figures = || all.iter().map(|summary| summary.figures()[at]);
    let intervals = figures().map(|figure| figure.intervals).sum::<u32>();
    let held = figures()
        .map(|figure| figure.covered.unwrap_or(0.0) * f64::from(figure.intervals))
        .sum::<f64>();
    let covered = (intervals > 0).then(|| held / f64::from(intervals));
    let figure = FigureSummary {
        covered,
        intervals,
        ..FigureSummary::default()
    };
    Cell {
        name: format!("all timers: {name}"),
        figure,
        required: OF_ALL,
    }
}

/// Of cells those that the test rejects: the least likely first, each at its part of the chance,
/// until one is likely enough.
fn rejected(mut cells: Vec<&Cell>) -> Vec<&Cell> {
    cells.sort_by(|a, b| likely(a).total_cmp(&likely(b)));
    let count = cells.len();
    let each = cells.into_iter().enumerate();
    each.take_while(|(at, cell)| likely(cell) < CHANCE / (count - at) as f64)
        .map(|(_, cell)| cell)
        .collect()
}

/// How often so few intervals or fewer hold the truth where as many do as are required.
fn likely(cell: &Cell) -> f64 {
    let intervals = u64::from(cell.figure.intervals);
    let held = (cell.figure.covered.unwrap_or(1.0) * intervals as f64).round() as u64;
    Binomial::new(cell.required, intervals).map_or(1.0, |law| law.cdf(held))
}

fn sentence(cell: &Cell) -> String {
    format!(
        "{} covered on {:.1} % of {}, and {:.0} % are required",
        cell.name,
        100.0 * cell.figure.covered.unwrap_or(0.0),
        cell.figure.intervals,
        100.0 * cell.required
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::Score;

    fn summary(covered: u32, intervals: u32) -> Summary {
        let figure = FigureSummary {
            covered: Some(f64::from(covered) / f64::from(intervals)),
            intervals,
            ..FigureSummary::default()
        };
        Summary {
            cost: figure,
            ..Score::default().summary()
        }
    }

    fn fails(kinds: &[Summary], all: &[Summary]) -> bool {
        let kinds: Vec<_> = kinds
            .iter()
            .map(|summary| ("row".to_owned(), summary.clone()))
            .collect();
        !too_seldom(&kinds, all).is_empty()
    }

    #[test]
    fn hundred_timers_may_fail_ninety_percent() {
        assert!(fails(&[], &[summary(87, 100)]) && !fails(&[], &[summary(91, 100)]));
        assert!(
            fails(&[], &[summary(40, 50), summary(47, 50)]),
            "half by either reference"
        );
        assert!(fails(&[summary(75, 100)], &[]) && !fails(&[summary(86, 100)], &[]));
    }

    #[test]
    fn large_kind_is_judged_alone() {
        assert!(fails(&[summary(449, 500)], &[]) && !fails(&[summary(450, 500)], &[]));
    }

    #[test]
    fn more_rows_keep_false_alarms() {
        let mut rows = vec![summary(95, 100); 60];
        rows.push(summary(80, 100));
        assert!(!fails(&rows, &[]), "one of many rows has so few by chance");
        rows.push(summary(70, 100));
        assert!(fails(&rows, &[]));
    }
}
