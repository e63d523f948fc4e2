//! What the terminal and the Markdown page share: the table of timers, their ranks, and why some
//! have no figures.
//!
//! The ranking. Timers whose intervals of Quality overlap with that of the best among them share a
//! rank: the figures do not tell which is better.

use super::notes::{Notes, all_told, with_figures};
use super::waits::named;
use crate::fields::{Field, Row, Screen, on_screen};
use crate::model::{Report, Status, TimerRow, Verdicts, WaitConditions};
use crate::table::{Table, TableColumn, Value};
use crate::text::numbers::{NOTHING, percent, plus_minus};
use crate::text::{clipped, plain};

/// A rank for people.
#[must_use]
pub fn written_rank(rank: Option<usize>) -> String {
    rank.map_or_else(|| NOTHING.to_owned(), |rank| rank.to_string())
}

/// Where the table of timers stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Page {
    /// In Markdown.
    Markdown,
    /// On a terminal.
    Terminal,
    /// On a terminal, with what the paper calls the timers.
    TerminalWithLegends,
    /// On a narrow terminal, without the figures in cycles.
    NarrowTerminal,
    /// On one of 80 columns, also without what not all reports have.
    NarrowestTerminal,
    /// On one of 40 columns, as on a telephone: steps, costs and Quality alone.
    Phone,
}

/// Columns that say of whom a row of [`timers`] is: the rank and the id.
pub const NAMES: usize = 2;

/// A row a timer that has figures.
pub fn timers(report: &Report, notes: &Notes, page: Page) -> Table<'static> {
    let wide = page == Page::Markdown;
    let heading = |screen: &Screen| screen.headings[if wide { 2 } else { 0 }];
    let fits = |screen: &Screen| match page {
        Page::NarrowTerminal => screen.width != "wide",
        Page::NarrowestTerminal => screen.width != "wide" && !screen.optional,
        Page::Phone => screen.width.is_empty(),
        Page::Markdown | Page::Terminal | Page::TerminalWithLegends => true,
    };
    let is_shown = |(_, screen): &(&Field, Screen)| !heading(screen).is_empty() && fits(screen);
    let shown: Vec<_> = on_screen(report).into_iter().filter(is_shown).collect();
    // An id that is to be folded is plain already.
    let id = TableColumn {
        folds: true,
        longest: None,
        ..TableColumn::left("timer")
    };
    let mut columns = vec![TableColumn::written(""), id];
    columns.extend(wide.then(|| TableColumn::left("call")));
    columns.extend(
        shown
            .iter()
            .map(|(_, screen)| TableColumn::right(heading(screen), screen.notation)),
    );
    let phone = page == Page::Phone;
    columns.push(TableColumn::written(match page {
        Page::Markdown => "Quality",
        Page::Phone => "Q. %",
        _ => "Quality %",
    }));
    if !phone {
        columns.push(TableColumn {
            right: !wide,
            ..TableColumn::written("trust")
        });
        columns.push(TableColumn::left(if wide { "notes" } else { "see" }));
    }
    let rows = with_figures(report);
    let interval_width = rows
        .iter()
        .map(|row| half(row).chars().count())
        .max()
        .unwrap_or(0);
    let mut table = Table {
        widest_gap: 3,
        ..Table::new(columns)
    };
    for (rank, row) in ranks(&rows).into_iter().zip(&rows) {
        let id = clipped(&row.id, if wide { 200 } else { 100 });
        let id = if page == Page::TerminalWithLegends {
            with_legend(id, row)
        } else {
            id
        };
        let mut cells: Vec<Value> = vec![written_rank(rank).into(), id.into()];
        cells.extend(wide.then(|| with_legend(clipped(&row.label, 200), row).into()));
        cells.extend(
            shown
                .iter()
                .map(|(field, _)| field.of_row(&Row::Clock(row))),
        );
        let marks = notes.marks(&row.warnings);
        if phone {
            cells.push(percent(row.quality.map(|quality| quality.value)).into());
            table.push(cells);
            continue;
        }
        cells.extend([
            if wide {
                quality_in_full(row)
            } else {
                quality(row, interval_width)
            }
            .into(),
            row.verdicts
                .as_ref()
                .map_or(NOTHING, Verdicts::in_short)
                .into(),
            if wide {
                marks.replace(',', ", ")
            } else {
                marks
            }
            .into(),
        ]);
        table.push(cells);
    }
    table
}

fn half(row: &TimerRow) -> String {
    row.quality.map_or_else(String::new, plus_minus)
}

/// With its interval, padded to a width, so that the figures stand below each other.
fn quality(row: &TimerRow, interval_width: usize) -> String {
    match row.quality {
        Some(_) => format!(
            "{} {:interval_width$}",
            percent(row.quality.map(|quality| quality.value)),
            half(row)
        ),
        None => NOTHING.to_owned() + &" ".repeat(interval_width + 1),
    }
}

/// With its interval, and what a publication prints.
fn quality_in_full(row: &TimerRow) -> String {
    let quality = match row.quality {
        Some(_) => format!(
            "{} % {}",
            percent(row.quality.map(|quality| quality.value)),
            half(row)
        )
        .trim_end()
        .to_owned(),
        None => NOTHING.to_owned(),
    };
    let printed = row
        .printed_quality
        .map(|q| format!(" (printed: {} %)", percent(Some(q))));
    quality + &printed.unwrap_or_default()
}

/// What is called `text` here, with what the paper calls it: `java:nanoTime = NANO`.
fn with_legend(text: String, row: &TimerRow) -> String {
    match row.legend.as_deref().map(plain) {
        Some(legend) if !legend.is_empty() => format!("{text} = {legend}"),
        _ => text,
    }
}

/// Why some timers are not `ok`: one entry a reason.
pub struct Reason {
    /// The timers it concerns.
    pub ids: Vec<String>,
    /// The reason, and what to do about it.
    pub text: String,
}

/// Reasons of all timers of that status, each told once.
pub fn reasons(report: &Report, status: Status) -> Vec<Reason> {
    let mut reasons: Vec<Reason> = Vec::new();
    let all = all_told(report);
    let among: Vec<&WaitConditions> = all.iter().filter_map(|row| row.conditions).collect();
    for row in all.iter().filter(|row| row.status == status) {
        let id = row.id.to_owned();
        let id = match row.conditions {
            Some(own) => named(&id, own, &among),
            None => id,
        };
        let reason = row.reason.unwrap_or("no reason given");
        let text = match row.remedy {
            Some(remedy) if !remedy.is_empty() => format!("{reason} → {remedy}"),
            _ => reason.to_owned(),
        };
        match reasons.iter_mut().find(|reason| reason.text == text) {
            Some(reason) if reason.ids.contains(&id) => {}
            Some(reason) => reason.ids.push(id),
            None => reasons.push(Reason {
                ids: vec![id],
                text,
            }),
        }
    }
    reasons
}

/// A Quality, as far as a ranking needs it.
#[derive(Clone, Copy)]
struct Ranked {
    /// Where it stands in the list that was given.
    at: usize,
    quality: f64,
    interval: Option<(f64, f64)>,
}

/// The rank of each row, from 1: that of the leader of its group where the intervals of both
/// overlap, else its own place by Quality, which leads the next group (1, 1, 1, 4). What has no
/// interval shares its rank with equals only; a Quality of 0, which is a verdict, with others of 0.
/// Rows that are not `ok` or have no Quality have no rank.
#[must_use]
pub fn ranks(rows: &[&TimerRow]) -> Vec<Option<usize>> {
    let mut ranked: Vec<Ranked> = rows
        .iter()
        .enumerate()
        .filter_map(|(at, row)| Ranked::of(at, row))
        .collect();
    ranked.sort_by(|a, b| b.quality.total_cmp(&a.quality));
    let mut ranks = vec![None; rows.len()];
    let mut leader: Option<(usize, Ranked)> = None;
    for (place, timer) in ranked.into_iter().enumerate() {
        let (rank, best) = match leader {
            Some((rank, best)) if best.shares_with(&timer) => (rank, best),
            _ => (place + 1, timer),
        };
        leader = Some((rank, best));
        ranks[timer.at] = Some(rank);
    }
    ranks
}

impl Ranked {
    fn of(at: usize, row: &TimerRow) -> Option<Self> {
        let quality = row
            .quality
            .filter(|quality| quality.value.is_finite() && row.status == Status::Ok)?;
        Some(Self {
            at,
            quality: quality.value,
            interval: quality.ends(),
        })
    }

    /// Whether the figures leave open which of the two is better.
    fn shares_with(&self, other: &Self) -> bool {
        if (self.quality > 0.0) != (other.quality > 0.0) {
            return false;
        }
        let overlap = |one: (f64, f64), two: (f64, f64)| one.0 <= two.1 && two.0 <= one.1;
        let both = self.interval.zip(other.interval);
        self.quality == other.quality || both.is_some_and(|(one, two)| overlap(one, two))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::ranks;
    use crate::model::{Interval, Status, TimerRow, value_of};

    fn timer(quality: f64, half: Option<f64>) -> TimerRow {
        let mut row = TimerRow::unmeasured("t", "", "native", Status::Ok);
        let ends = half.map(|half| (quality - half, quality + half));
        row.quality = Some(Interval::with_ends(quality, ends));
        row
    }

    fn of(rows: &[TimerRow]) -> Vec<Option<usize>> {
        ranks(&rows.iter().collect::<Vec<_>>())
    }

    #[test]
    fn overlapping_intervals_share_the_rank_of_the_leader() {
        let near = [0.484, 0.4839, 0.4838].map(|quality| timer(quality, Some(0.0001)));
        let far = timer(0.46, Some(0.0001));
        let rows = [near.as_slice(), &[far]].concat();
        assert_eq!(of(&rows), [Some(1), Some(1), Some(1), Some(4)]);
        // The second overlaps with the first, the third with the second only: it leads.
        let chain = [0.50, 0.49, 0.48].map(|quality| timer(quality, Some(0.006)));
        assert_eq!(of(&chain), [Some(1), Some(1), Some(3)]);
    }

    #[test]
    fn without_an_interval_the_value_alone_counts() {
        let bare = [0.5, 0.5, 0.4999].map(|quality| timer(quality, None));
        assert_eq!(of(&bare), [Some(1), Some(1), Some(3)]);
        assert_eq!(
            of(&[
                timer(0.5, Some(0.1)),
                timer(0.49, None),
                timer(0.48, Some(0.1))
            ]),
            [Some(1), Some(2), Some(3)]
        );
    }

    #[test]
    fn what_is_disqualified_or_not_ranked_is_apart() {
        let vague = timer(0.1, Some(0.1));
        let disqualified = [timer(0.0, Some(0.0)), timer(0.0, None)];
        let mut unresolved = timer(0.3, Some(0.1));
        unresolved.status = Status::Unresolved;
        let bare = TimerRow::unmeasured("t", "", "native", Status::Ok);
        let rows = [&[unresolved, vague], disqualified.as_slice(), &[bare]].concat();
        assert_eq!(of(&rows), [None, Some(1), Some(2), Some(2), None]);
        assert_eq!(of(&[timer(f64::NAN, None)]), [None]);
        assert_eq!(of(&[]), []);
    }

    proptest! {
        #[test]
        fn a_better_timer_never_ranks_behind(
            timers in prop::collection::vec((0.0..1.0_f64, prop::option::of(0.0..0.2_f64)), 0..20),
        ) {
            let rows: Vec<TimerRow> = timers.iter().map(|&(quality, half)| timer(quality, half)).collect();
            let ranks = of(&rows);
            for (one, rank) in rows.iter().zip(&ranks) {
                let better = rows.iter().zip(&ranks).filter(|(other, _)| value_of(other.quality) > value_of(one.quality));
                let better: Vec<Option<usize>> = better.map(|(_, rank)| *rank).collect();
                prop_assert!(better.iter().all(|other| other <= rank));
                prop_assert!(rank.is_some_and(|rank| rank <= better.len() + 1));
            }
        }
    }
}
