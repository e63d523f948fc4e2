//! Tests whether 95 % intervals contain the truth often enough, for each kind of timer and for all
//! timers together.

use statrs::distribution::{Binomial, DiscreteCDF};

use super::figure::FigureSummary;
use super::score::{FIGURES, Summary};

/// The required coverage over all timers.
/// *Definition*: the confidence of the intervals.
pub const REQUIRED_OVERALL: f64 = 0.95;
/// The required coverage of each kind of timer.
/// *Definition*: our aim.
pub const REQUIRED_PER_KIND: f64 = 0.9;
/// Kinds with at least this many intervals are compared with the requirement directly; smaller
/// kinds are tested. *Chance*: the standard error of the coverage is at most 1.3 %.
pub const MIN_DIRECT_INTERVALS: u32 = 500;
/// The probability that chance alone rejects any figure of one family of tests: the small kinds, or
/// all timers together.
/// *Judgement*: one run in a hundred.
pub const FALSE_ALARM_RATE: f64 = 0.01;

/// The coverage of one figure of one kind of timer.
struct Cell {
    name: String,
    figure: FigureSummary,
    required: f64,
}

/// Returns a sentence for each figure whose intervals contain the truth too rarely. `kinds` are the
/// summaries by kind of timer, `all` those of all timers, one for each reference clock. Kinds with 500
/// intervals or more fail below the requirement. The others, and the figures over all timers, fail
/// if one-sided binomial tests reject them, at 1 % for the small kinds together and at 1 % for all timers (S. Holm, *A simple
/// sequentially rejective multiple test procedure*, Scandinavian Journal of Statistics 6, 1979).
#[must_use]
pub fn insufficient_coverage(kinds: &[(String, Summary)], all: &[Summary]) -> Vec<String> {
    let kind_cells: Vec<Cell> = kinds
        .iter()
        .flat_map(|(kind, summary)| {
            let cell = move |(name, figure)| Cell {
                name: format!("{kind}: {name}"),
                figure,
                required: REQUIRED_PER_KIND,
            };
            FIGURES.into_iter().zip(summary.figures()).map(cell)
        })
        .filter(|cell| cell.figure.intervals > 0)
        .collect();
    let (direct, tested): (Vec<&Cell>, Vec<&Cell>) = kind_cells
        .iter()
        .partition(|cell| cell.figure.intervals >= MIN_DIRECT_INTERVALS);
    let below = direct
        .into_iter()
        .filter(|cell| cell.figure.covered < Some(cell.required));
    let overall_cells: Vec<Cell> = FIGURES
        .into_iter()
        .enumerate()
        .map(|(at, name)| overall_cell(name, at, all))
        .collect();
    below
        .chain(rejected(tested))
        .chain(rejected(overall_cells.iter().collect()))
        .map(sentence)
        .collect()
}

/// Combines one figure over the summaries of all reference clocks.
fn overall_cell(name: &str, at: usize, all: &[Summary]) -> Cell {
    let figures = || all.iter().map(|summary| summary.figures()[at]);
    let intervals = figures().map(|figure| figure.intervals).sum::<u32>();
    let covered = figures()
        .map(|figure| figure.covered.unwrap_or(0.0) * f64::from(figure.intervals))
        .sum::<f64>();
    let covered = (intervals > 0).then(|| covered / f64::from(intervals));
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

/// Returns the cells that Holm's procedure rejects: in ascending order of p-value, each at its
/// own level, until one is not rejected.
fn rejected(mut cells: Vec<&Cell>) -> Vec<&Cell> {
    cells.sort_by(|a, b| p_value(a).total_cmp(&p_value(b)));
    let count = cells.len();
    let each = cells.into_iter().enumerate();
    each.take_while(|(at, cell)| p_value(cell) < FALSE_ALARM_RATE / (count - at) as f64)
        .map(|(_, cell)| cell)
        .collect()
}

/// The one-sided p-value of a coverage: the probability that so few intervals or fewer contain the
/// truth at the required coverage.
fn p_value(cell: &Cell) -> f64 {
    let intervals = u64::from(cell.figure.intervals);
    let covered = (cell.figure.covered.unwrap_or(1.0) * intervals as f64).round() as u64;
    Binomial::new(cell.required, intervals).map_or(1.0, |binomial| binomial.cdf(covered))
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

    #[test]
    fn coverage_below_chance_fails() {
        // One kind of many may have a low coverage by chance.
        let with = |low: u32| [vec![summary(95, 100); 60], vec![summary(low, 100)]].concat();
        for (kinds, all, expected) in [
            (vec![], vec![summary(87, 100)], true),
            (vec![], vec![summary(91, 100)], false),
            // Two reference clocks with 50 timers each.
            (vec![], vec![summary(40, 50), summary(47, 50)], true),
            (vec![summary(75, 100)], vec![], true),
            (vec![summary(86, 100)], vec![], false),
            // Large kinds are judged alone.
            (vec![summary(449, 500)], vec![], true),
            (vec![summary(450, 500)], vec![], false),
            (with(80), vec![], false),
            (with(70), vec![], true),
        ] {
            let kinds: Vec<_> = kinds
                .into_iter()
                .map(|it| ("kind".to_owned(), it))
                .collect();
            let is_failed = !insufficient_coverage(&kinds, &all).is_empty();
            assert_eq!(is_failed, expected, "{} {}", kinds.len(), all.len());
        }
    }
}
