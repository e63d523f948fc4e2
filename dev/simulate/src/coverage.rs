//! Tests whether 95 % intervals contain the truth often enough, for each kind of timer and for all
//! timers together.

use statrs::distribution::{Binomial, DiscreteCDF};

use super::figure::FigureSummary;
use super::score::{FIGURES, Summary};

/// The required coverage over all timers.
/// *Definition*: the confidence of the intervals.
pub const REQUIRED_OVERALL: f64 = 0.95;
/// The required coverage of each kind of timer.
/// *Definition*: the aim that was set.
pub const REQUIRED_PER_KIND: f64 = 0.9;
/// Kinds with at least this many intervals are compared with the requirement directly; smaller
/// kinds are tested. *Chance*: the standard error of the coverage is at most 1.3 %.
pub const MIN_DIRECT_INTERVALS: u32 = 500;
/// The probability that chance alone makes any row of a run fail.
/// *Judgement*.
pub const FALSE_ALARM_RATE: f64 = 0.01;

/// The coverage of one figure of one kind of timer.
struct Cell {
    name: String,
    figure: FigureSummary,
    required: f64,
}

/// Returns a sentence for each figure whose intervals contain the truth too rarely. `kinds` are the
/// summaries by kind of timer, `all` those of all timers, one for each reference. Kinds with 500
/// intervals or more fail below the requirement. The others, and the figures over all timers, fail
/// if a one-sided binomial test rejects them at 1 % for all tests together (S. Holm, *A simple
/// sequentially rejective multiple test procedure*, Scandinavian Journal of Statistics 6, 1979).
#[must_use]
pub fn insufficient_coverage(kinds: &[(String, Summary)], all: &[Summary]) -> Vec<String> {
    let of_kinds: Vec<Cell> = kinds
        .iter()
        .flat_map(|(row, summary)| {
            let cell = move |(name, figure)| Cell {
                name: format!("{row}: {name}"),
                figure,
                required: REQUIRED_PER_KIND,
            };
            FIGURES.into_iter().zip(summary.figures()).map(cell)
        })
        .filter(|cell| cell.figure.intervals > 0)
        .collect();
    let (direct, tested): (Vec<&Cell>, Vec<&Cell>) = of_kinds
        .iter()
        .partition(|cell| cell.figure.intervals >= MIN_DIRECT_INTERVALS);
    let below = direct
        .into_iter()
        .filter(|cell| cell.figure.covered < Some(cell.required));
    let of_all: Vec<Cell> = FIGURES
        .into_iter()
        .enumerate()
        .map(|(at, name)| overall_cell(name, at, all))
        .collect();
    below
        .chain(rejected(tested))
        .chain(rejected(of_all.iter().collect()))
        .map(sentence)
        .collect()
}

/// Combines one figure over the summaries of all references.
fn overall_cell(name: &str, at: usize, all: &[Summary]) -> Cell {
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
        required: REQUIRED_OVERALL,
    }
}

/// Returns the cells that Holm's procedure rejects: in ascending order of probability, each at its
/// own level, until one is not rejected.
fn rejected(mut cells: Vec<&Cell>) -> Vec<&Cell> {
    cells.sort_by(|a, b| probability(a).total_cmp(&probability(b)));
    let count = cells.len();
    let each = cells.into_iter().enumerate();
    each.take_while(|(at, cell)| probability(cell) < FALSE_ALARM_RATE / (count - at) as f64)
        .map(|(_, cell)| cell)
        .collect()
}

/// The probability of so few intervals with the truth, or fewer, at the required coverage.
fn probability(cell: &Cell) -> f64 {
    let intervals = u64::from(cell.figure.intervals);
    let held = (cell.figure.covered.unwrap_or(1.0) * intervals as f64).round() as u64;
    Binomial::new(cell.required, intervals).map_or(1.0, |binomial| binomial.cdf(held))
}

fn sentence(cell: &Cell) -> String {
    format!(
        "{}: {:.1} % of {} intervals contain the truth; {:.0} % are required",
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
        !insufficient_coverage(&kinds, all).is_empty()
    }

    #[test]
    fn hundred_timers_may_fail_ninety_percent() {
        assert!(fails(&[], &[summary(87, 100)]) && !fails(&[], &[summary(91, 100)]));
        assert!(
            fails(&[], &[summary(40, 50), summary(47, 50)]),
            "half of the timers by either reference"
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
        assert!(
            !fails(&rows, &[]),
            "one row of many may have such a low coverage by chance"
        );
        rows.push(summary(70, 100));
        assert!(fails(&rows, &[]));
    }
}
