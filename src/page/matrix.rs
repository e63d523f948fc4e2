//! Platforms side by side: a row a timer, a column a report.

use std::collections::HashMap;

use super::{quality_colour, view};
use crate::model::{Report, Status};
use crate::report::machine::name;
use crate::text::clipped;
use crate::text::numbers::percent;

const LONGEST: usize = 300;

/// What the comparison needs of a report, so that ten thousand need not be held whole.
pub(super) struct Brief {
    /// The machine.
    pub name: String,
    /// When, and by which kernel.
    pub about: String,
    /// Its page.
    pub href: Option<String>,
    timers: Vec<(String, Verdict)>,
}

struct Verdict {
    status: Status,
    quality: Option<f32>,
    /// Why it is not ok, shortened.
    reason: Option<Box<str>>,
}

impl Brief {
    pub fn of(report: &Report, href: Option<String>) -> Self {
        let timers = report.timers.iter().map(|row| {
            let reason = row.reason.as_deref().filter(|_| row.status != Status::Ok);
            let reason = reason.map(|reason| clipped(reason, 120).into_boxed_str());
            let quality = row.quality.filter(|quality| quality.is_finite()).map(|quality| quality as f32);
            (clipped(&row.id, LONGEST), Verdict { status: row.status, quality, reason })
        });
        Self { name: name(report), about: view::about(report), href, timers: timers.collect() }
    }
}

pub(super) struct Matrix {
    pub columns: Vec<Column>,
    pub rows: Vec<Row>,
    pub pages: Option<Pages>,
}

pub(super) struct Column {
    pub name: String,
    pub about: String,
    pub href: Option<String>,
}

pub(super) struct Row {
    pub id: String,
    pub cells: Vec<Cell>,
}

#[derive(Clone)]
pub(super) struct Cell {
    pub class: &'static str,
    pub text: String,
    pub sort: String,
    pub says: String,
}

/// Where more platforms are.
pub(super) struct Pages {
    pub number: usize,
    pub count: usize,
    pub before: Option<String>,
    pub after: Option<String>,
}

impl Matrix {
    /// Timers in the order of their mean Quality, best first; those without one last.
    pub fn of(reports: &[Brief], pages: Option<Pages>) -> Self {
        let blank = Cell { class: "none", text: String::new(), sort: String::new(), says: String::new() };
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut rows: Vec<(Row, f64, u32)> = Vec::new();
        for (column, report) in reports.iter().enumerate() {
            for (id, verdict) in &report.timers {
                let at = *places.entry(id).or_insert_with(|| {
                    rows.push((Row { id: id.clone(), cells: vec![blank.clone(); reports.len()] }, 0.0, 0));
                    rows.len() - 1
                });
                let (row, sum, count) = &mut rows[at];
                row.cells[column] = Cell::of(verdict);
                if let Some(quality) = verdict.quality {
                    (*sum, *count) = (*sum + f64::from(quality), *count + 1);
                }
            }
        }
        let mean = |row: &(Row, f64, u32)| if row.2 == 0 { -1.0 } else { row.1 / f64::from(row.2) };
        rows.sort_by(|a, b| mean(b).total_cmp(&mean(a)));
        let column = |report: &Brief| Column {
            name: report.name.clone(),
            about: report.about.clone(),
            href: report.href.clone(),
        };
        let rows = rows.into_iter().map(|(row, ..)| row).collect();
        Self { columns: reports.iter().map(column).collect(), rows, pages }
    }
}

impl Cell {
    fn of(verdict: &Verdict) -> Self {
        let quality = verdict.quality.map(f64::from);
        let text = match (quality, verdict.status) {
            (Some(_), _) => percent(quality),
            (None, Status::Unavailable) => "n/a".to_owned(),
            (None, Status::Failed) => "✕".to_owned(),
            (None, Status::Ok | Status::Unresolved) => "?".to_owned(),
        };
        let says = match &verdict.reason {
            Some(reason) => format!("{}: {reason}", verdict.status.name()),
            None => String::new(),
        };
        let sort = quality.map_or_else(String::new, |quality| format!("{quality}"));
        Self { class: quality_colour::of(quality), text, sort, says }
    }
}
