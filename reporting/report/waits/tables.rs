//! The tables of timers that wait.

use super::{Ranking, Section, in_short, named};
use crate::model::{Granularity, Interval, MissedPolicy, Report, WaitConditions, WaitFigures};
use crate::report::notes::Notes;
use crate::table::{Notation, Table, TableColumn, Value};
use crate::text::clipped;
use crate::text::numbers::short_time;

/// As many timers as are shown with all lengths.
const FEW: usize = 8;

const LONGEST_ID: usize = 100;

fn value(known: Option<Interval>) -> Value {
    known.map(|known| known.value).into()
}

/// Drops columns, the last first.
fn without(table: &Table<'static>, left_out: &[usize]) -> Table<'static> {
    let mut table = table.clone();
    for &column in left_out {
        table.columns.remove(column);
        table
            .rows
            .iter_mut()
            .for_each(|row| drop(row.to_mut().remove(column)));
    }
    table
}

/// Without the columns that are called so.
fn lacking(table: &Table<'static>, headings: &[&str]) -> Table<'static> {
    let columns = table.columns.iter().enumerate().rev();
    let left_out: Vec<usize> = columns
        .filter(|(_, column)| headings.contains(&column.heading))
        .map(|(at, _)| at)
        .collect();
    without(table, &left_out)
}

/// How finely waits can be asked for: steps where there are any, else the least of the bounds.
fn granularity(figures: &WaitFigures) -> String {
    let step = |kind: &str, granularity: Option<Granularity>| {
        granularity
            .and_then(Granularity::step)
            .map(|step| format!("{} {kind}", short_time(step.value)))
    };
    let steps: Vec<String> = figures
        .steps
        .iter()
        .find_map(|steps| {
            let both: Vec<String> = [step("rounded", steps.rounding), step("grid", steps.grid)]
                .into_iter()
                .flatten()
                .collect();
            (!both.is_empty()).then_some(both)
        })
        .unwrap_or_default();
    if !steps.is_empty() {
        return steps.join(", ");
    }
    let least = figures
        .granularities()
        .filter_map(|bound| {
            if let Granularity::AtMost(ns) = bound {
                Some(ns)
            } else {
                None
            }
        })
        .min_by(f64::total_cmp);
    least.map_or_else(
        || crate::text::numbers::NOTHING.into(),
        |ns| format!("≤ {}", short_time(ns)),
    )
}

/// Which timer that waits to choose: those on the front first.
pub(super) fn waits(report: &Report, notes: &Notes) -> Option<Section> {
    if report.waits.is_empty() {
        return None;
    }
    let title = "Timers that wait".to_owned();
    let Some(Ranking {
        request_ns,
        tail,
        rows,
    }) = Ranking::of(report)
    else {
        return Some(Section {
            title,
            caption: "No timer could be characterised.".into(),
            tables: Vec::new(),
            phone: None,
        });
    };
    let among: Vec<_> = rows.iter().map(|ranked| &ranked.row.conditions).collect();
    let mut table = Table::new(columns_of_waits(tail.0));
    for ranked in &rows {
        let figures = ranked.row.figures.as_ref()?;
        let at = |of: fn(&crate::model::Lateness) -> Option<Interval>| {
            value(ranked.lateness.and_then(of))
        };
        table.push(vec![
            if ranked.front { "*" } else { "" }.into(),
            named(
                &clipped(&ranked.row.id, LONGEST_ID),
                &ranked.row.conditions,
                &among,
            )
            .into(),
            granularity(figures).into(),
            value(figures.floor_ns),
            at(|late| late.p50_ns),
            at(tail.1),
            ranked.lateness.map(|late| late.max_ns).into(),
            at(|late| late.cpu_ns),
            ranked.lateness.and_then(|late| late.cpu_cycles).into(),
            figures
                .proportional_ppm
                .filter(is_told)
                .map(|ppm| ppm.value.round())
                .into(),
            ranked
                .lateness
                .and_then(|late| late.quality)
                .map(|quality| 100.0 * quality)
                .into(),
            notes.marks(&ranked.row.warnings).into(),
        ]);
    }
    let own = rows
        .first()
        .map(|ranked| in_full(&ranked.row.conditions, &among))
        .unwrap_or_default();
    let caption = format!(
        "Waits of {}{own}: lateness (p50 and so on: observed less asked), CPU time a wait; floor: the shortest wait. \
         *: no other is clearly less late at {} or cheaper without being worse in the other",
        short_time(request_ns as f64),
        tail.0
    );
    // Where single lengths were waited, and nothing else.
    let is_told = rows.iter().any(|ranked| {
        ranked
            .row
            .figures
            .as_ref()
            .is_some_and(|found| !found.steps.is_empty())
    });
    let untold: &[&str] = if is_told {
        &[]
    } else {
        &["granularity", "floor"]
    };
    let lacking = |headings: &[&str]| lacking(&table, &[untold, headings].concat());
    let tables = vec![
        lacking(&[]),
        lacking(&["cycles"]),
        lacking(&["F(1) %", "cycles", "max"]),
        lacking(&["F(1) %", "ppm", "cycles", "max", "floor"]),
    ];
    let phone = lacking(&[
        "see",
        "F(1) %",
        "ppm",
        "cycles",
        "max",
        "floor",
        "granularity",
    ]);
    Some(Section {
        title,
        caption,
        tables,
        phone: Some(phone),
    })
}

fn columns_of_waits(tail: &'static str) -> Vec<TableColumn> {
    vec![
        TableColumn::written(""),
        TableColumn {
            folds: true,
            longest: None,
            ..TableColumn::left("timer")
        },
        TableColumn::left("granularity"),
        TableColumn::right("floor", Notation::Time),
        TableColumn::right("p50", Notation::Time),
        TableColumn::right(tail, Notation::Time),
        TableColumn::right("max", Notation::Time),
        TableColumn::right("CPU", Notation::Time),
        TableColumn::right("cycles", Notation::Count),
        TableColumn::right("ppm", Notation::Significant),
        TableColumn::right("F(1) %", Notation::Fixed(1)),
        TableColumn::left("see"),
    ]
}

/// What is known well enough to be told: its interval leaves out 0.
fn is_told(known: &Interval) -> bool {
    known
        .ends()
        .is_some_and(|(low, high)| low > 0.0 || high < 0.0)
}

/// The conditions that all share, where they do.
fn in_full(own: &WaitConditions, among: &[&WaitConditions]) -> String {
    match in_short(own, among, true) {
        none if none.is_empty() => none,
        shared => format!(" ({shared})"),
    }
}

/// All lengths of a few timers.
pub(super) fn lengths(report: &Report) -> Option<Section> {
    let rows: Vec<_> = report
        .waits
        .iter()
        .filter_map(|row| Some((row, row.figures.as_ref()?)))
        .collect();
    if rows.len() > FEW || rows.iter().all(|(_, figures)| figures.lateness.is_empty()) {
        return None;
    }
    let among: Vec<_> = rows.iter().map(|(row, _)| &row.conditions).collect();
    let mut table = Table::new(vec![
        TableColumn {
            folds: true,
            longest: None,
            ..TableColumn::left("timer")
        },
        TableColumn::right("asked", Notation::Time),
        TableColumn::right("waits", Notation::Fixed(0)),
        TableColumn::right("p50", Notation::Time),
        TableColumn::right("p90", Notation::Time),
        TableColumn::right("p99", Notation::Time),
        TableColumn::right("p99.9", Notation::Time),
        TableColumn::right("max", Notation::Time),
        TableColumn::right("timer's", Notation::Time),
        TableColumn::right("early %", Notation::Significant),
        TableColumn::right("CPU", Notation::Time),
    ]);
    for (row, figures) in &rows {
        for late in figures.by_length() {
            table.push(vec![
                named(&clipped(&row.id, LONGEST_ID), &row.conditions, &among).into(),
                (late.request_ns as f64).into(),
                (late.waits as f64).into(),
                value(late.p50_ns),
                value(late.p90_ns),
                value(late.p99_ns),
                value(late.p999_ns),
                late.max_ns.into(),
                value(late.timers_part_ns),
                (100.0 * late.early).into(),
                value(late.cpu_ns),
            ]);
        }
    }
    let caption =
        "Lateness by length; timer's: the median of what is not waiting for a CPU".to_owned();
    let tables = vec![
        table.clone(),
        without(&table, &[8, 6]),
        without(&table, &[9, 8, 7, 6, 2]),
    ];
    Some(Section {
        title: "Lateness by length".into(),
        caption,
        tables,
        phone: None,
    })
}

/// Periodic timers.
pub(super) fn periods(report: &Report, notes: &Notes) -> Option<Section> {
    let first = report.periods.first()?;
    let title = "Periodic timers".to_owned();
    let mut rows: Vec<_> = report
        .periods
        .iter()
        .filter_map(|row| Some((row, row.figures.as_ref()?)))
        .collect();
    if rows.is_empty() {
        return Some(Section {
            title,
            caption: "No timer could be characterised.".into(),
            tables: Vec::new(),
            phone: None,
        });
    }
    let late = |known: Option<Interval>| known.map_or(f64::INFINITY, |known| known.value);
    rows.sort_by(|(_, a), (_, b)| {
        late(a.lateness_p99_ns.or(a.lateness_p50_ns))
            .total_cmp(&late(b.lateness_p99_ns.or(b.lateness_p50_ns)))
    });
    let among: Vec<_> = rows.iter().map(|(row, _)| &row.conditions).collect();
    let mut table = Table::new(vec![
        TableColumn {
            folds: true,
            longest: None,
            ..TableColumn::left("timer")
        },
        TableColumn::right("rate ppm", Notation::Significant),
        TableColumn::right("jitter p50", Notation::Time),
        TableColumn::right("jitter p99", Notation::Time),
        TableColumn::right("late p50", Notation::Time),
        TableColumn::right("late p99", Notation::Time),
        TableColumn::right("max", Notation::Time),
        TableColumn::right("missed", Notation::Fixed(0)),
        TableColumn::right("reported", Notation::Fixed(0)),
        TableColumn::left("stall"),
        TableColumn::left("see"),
    ]);
    for (row, figures) in &rows {
        table.push(vec![
            named(&clipped(&row.id, LONGEST_ID), &row.conditions, &among).into(),
            value(figures.rate_error_ppm),
            value(figures.jitter_p50_ns),
            value(figures.jitter_p99_ns),
            value(figures.lateness_p50_ns),
            value(figures.lateness_p99_ns),
            figures.max_ns.into(),
            (figures.missed as f64).into(),
            (figures.missed_reported as f64).into(),
            figures.policy.map_or("?", MissedPolicy::name).into(),
            notes.marks(&row.warnings).into(),
        ]);
    }
    let own = rows
        .first()
        .map(|(row, _)| in_full(&row.conditions, &among))
        .unwrap_or_default();
    let caption = format!(
        "A period of {}{own}: rate error, |interval − period|, lateness to the timer's own grid, missed expirations \
         and those it reports, what it does after a stall of 3.5 periods",
        short_time(first.period_ns as f64)
    );
    let tables = vec![
        table.clone(),
        without(&table, &[6, 2]),
        without(&table, &[10, 8, 6, 3, 2]),
    ];
    Some(Section {
        title,
        caption,
        tables,
        phone: None,
    })
}
