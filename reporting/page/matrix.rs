//! Platforms side by side: a row a timer, a column a report.

use std::collections::HashMap;

use indexmap::IndexMap;

use super::{parts, view};
use crate::model::{ProvenanceKind, Report, Status};
use crate::report::machine::name;
use crate::report::usual_lateness;
use crate::text::numbers::{percent, time};

/// Where the figures of a report come from; measured ones stand first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Origin {
    Measured,
    /// By an emulator, which makes what a read costs.
    Emulated,
    Published,
}

/// What the comparison needs of a report, so that ten thousand need not be held whole.
pub(super) struct Brief {
    /// The machine.
    pub name: String,
    /// When, and by which kernel.
    pub about: String,
    /// Its page.
    pub href: Option<String>,
    /// What it comes down to, or what it is of.
    pub says: String,
    pub origin: Origin,
    /// What its name is made of, what tells most first.
    parts: Vec<String>,
    timers: Vec<(String, PlatformVerdict)>,
    /// Median lateness of waits of about a millisecond, in nanoseconds.
    waits: Vec<(String, f64)>,
}

struct PlatformVerdict {
    status: Status,
    quality: Option<f32>,
    /// Why it is not ok, shortened.
    reason: Option<Box<str>>,
}

impl Brief {
    pub fn of(report: &Report, href: Option<String>, says: Option<String>) -> Self {
        let timers = report.timers.iter().map(|row| {
            let reason = row.reason.as_deref().filter(|_| row.status != Status::Ok);
            let reason = reason.map(|reason| reason.into());
            let quality = row
                .quality
                .map(|quality| quality.value as f32)
                .filter(|quality| quality.is_finite());
            (
                row.id.clone(),
                PlatformVerdict {
                    status: row.status,
                    quality,
                    reason,
                },
            )
        });
        let waits = usual_lateness(report).into_iter();
        let waits = waits.collect();
        Self {
            name: name(report),
            about: view::about(report),
            href,
            says: says.unwrap_or_else(|| view::summary(report)),
            origin: Origin::of(report),
            parts: parts(report),
            timers: timers.collect(),
            waits,
        }
    }
}

impl Origin {
    fn of(report: &Report) -> Self {
        match report.provenance.kind {
            ProvenanceKind::Published => Self::Published,
            ProvenanceKind::Measured if report.platform.emulator().is_some() => Self::Emulated,
            ProvenanceKind::Measured => Self::Measured,
        }
    }
}

/// The CPU, how it was used, and the system, without remarks. An emulator is told by what it
/// emulates, whatever it runs on.
fn parts(report: &Report) -> Vec<String> {
    let platform = &report.platform;
    let architecture = platform.cpu.architecture.as_str();
    let cpu = platform
        .cpu
        .name()
        .unwrap_or_else(|| architecture.to_owned());
    let os = platform.os.name.as_deref().unwrap_or(&platform.os.family);
    let os = os
        .split(" (")
        .next()
        .unwrap_or_default()
        .replace("GNU/Linux ", "");
    let hypervisor = platform.hypervisor.as_deref().unwrap_or_default();
    let parts = match platform.emulator() {
        Some(emulator) => [architecture, emulator, "", &os].map(str::to_owned),
        None => [cpu.as_str(), architecture, hypervisor, &os].map(str::to_owned),
    };
    parts.to_vec()
}

/// Names that tell these apart: without the parts that most of those from the same origin share,
/// but for the first, and for what emulates.
pub(super) fn headings(reports: &[&Brief]) -> Vec<String> {
    let shared = |brief: &Brief, at: usize, part: &str| {
        let alike = reports.iter().filter(|other| other.origin == brief.origin);
        let same = alike
            .clone()
            .filter(|other| other.parts.get(at).is_some_and(|own| own == part));
        let emulates = brief.origin == Origin::Emulated && at == 1;
        !emulates && 2 * same.count() > alike.count()
    };
    let told = |brief: &&Brief| {
        let parts = brief.parts.iter().enumerate();
        let parts =
            parts.filter(|(at, part)| *at == 0 || !(part.is_empty() || shared(brief, *at, part)));
        parts
            .map(|(_, part)| part.as_str())
            .collect::<Vec<_>>()
            .join(" · ")
    };
    reports.iter().map(told).collect()
}

pub(super) struct Matrix {
    /// Leads its anchors.
    pub key: &'static str,
    /// What a row is.
    pub corner: &'static str,
    pub title: &'static str,
    pub caption: &'static str,
    pub note: &'static str,
    /// Whether smaller figures are better.
    pub ascending: bool,
    /// Whether it is to be seen only by those who ask for it.
    pub folded: bool,
    pub columns: Vec<MatrixColumn>,
    pub rows: Vec<MatrixRow>,
}

#[derive(Clone)]
pub(super) struct MatrixColumn {
    pub name: String,
    pub about: String,
    pub href: Option<String>,
}

#[derive(Clone)]
pub(super) struct MatrixRow {
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

impl Matrix {
    /// Of timers that are read, and of those that wait; the latter alone where nothing else is in
    /// the reports.
    pub fn all_of(reports: &[Brief]) -> Vec<Self> {
        let waits = Self::of_waits(reports);
        let read: Vec<&Brief> = reports
            .iter()
            .filter(|report| !report.timers.is_empty())
            .collect();
        let first = (!read.is_empty() || waits.is_none()).then(|| Self::of(&read));
        let (first, folded) = first.map(|matrix| matrix.parted(&read)).unzip();
        first
            .into_iter()
            .chain(waits)
            .chain(folded.flatten())
            .collect()
    }

    /// The rows that have a figure of a measured machine, and the others, where there are some of
    /// each.
    fn parted(mut self, reports: &[&Brief]) -> (Self, Option<Self>) {
        let told = |row: &MatrixRow| {
            let cells = row.cells.iter().zip(reports);
            cells
                .filter(|(_, report)| report.origin == Origin::Measured)
                .any(|(cell, _)| !cell.sort.is_empty())
        };
        let (here, elsewhere): (Vec<MatrixRow>, Vec<MatrixRow>) =
            std::mem::take(&mut self.rows).into_iter().partition(told);
        if here.is_empty() || elsewhere.is_empty() {
            self.rows = [here, elsewhere].concat();
            return (self, None);
        }
        let others = Self {
            key: "matrix-others",
            title: "Timers that no measured machine has figures of",
            columns: self.columns.clone(),
            rows: elsewhere,
            folded: true,
            ..self
        };
        (Self { rows: here, ..self }, Some(others))
    }

    /// Timers in the order of their mean Quality, best first; those without one last.
    fn of(reports: &[&Brief]) -> Self {
        let blank = Cell {
            class: "none",
            text: String::new(),
            sort: String::new(),
            says: String::new(),
        };
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut rows: Vec<(MatrixRow, f64, u32)> = Vec::new();
        for (column, report) in reports.iter().enumerate() {
            for (id, verdict) in &report.timers {
                let at = *places.entry(id).or_insert_with(|| {
                    rows.push((
                        MatrixRow::of_timer(id, vec![blank.clone(); reports.len()]),
                        0.0,
                        0,
                    ));
                    rows.len() - 1
                });
                let (row, sum, count) = &mut rows[at];
                row.cells[column] = Cell::of(verdict);
                if let Some(quality) = verdict.quality {
                    (*sum, *count) = (*sum + f64::from(quality), *count + 1);
                }
            }
        }
        let mean = |row: &(MatrixRow, f64, u32)| {
            if row.2 == 0 {
                -1.0
            } else {
                row.1 / f64::from(row.2)
            }
        };
        // What most reports have first.
        let common = |row: &(MatrixRow, f64, u32)| 2 * row.2 as usize > reports.len();
        rows.sort_by(|a, b| common(b).cmp(&common(a)).then(mean(b).total_cmp(&mean(a))));
        Self {
            key: "matrix",
            corner: "timer",
            title: "Quality by timer and platform",
            caption: "Quality in percent, a row a timer, a column a platform.",
            note: "n/a: the machine does not let it be read · ?: its step could not be determined · ✕: it failed · blank: not in that \
                   report.",
            ascending: false,
            folded: false,
            columns: MatrixColumn::all_of(reports),
            rows: rows.into_iter().map(|(row, ..)| row).collect(),
        }
    }

    /// Timers that wait, the least late first. `None` where no report has any.
    fn of_waits(reports: &[Brief]) -> Option<Self> {
        let reports: Vec<&Brief> = reports
            .iter()
            .filter(|report| !report.waits.is_empty())
            .collect();
        let mut lateness: IndexMap<&str, Vec<Option<f64>>> = IndexMap::new();
        for (column, report) in reports.iter().enumerate() {
            for (id, late) in &report.waits {
                lateness
                    .entry(id)
                    .or_insert_with(|| vec![None; reports.len()])[column] = Some(*late);
            }
        }
        let least =
            |row: &[Option<f64>]| row.iter().flatten().copied().fold(f64::INFINITY, f64::min);
        lateness.sort_by(|_, a, _, b| least(a).total_cmp(&least(b)));
        let cell = |late: Option<f64>| Cell {
            class: "none",
            text: late.map_or_else(String::new, |late| time(Some(late))),
            sort: late.map_or_else(String::new, |late| late.to_string()),
            says: String::new(),
        };
        let rows: Vec<MatrixRow> = lateness
            .into_iter()
            .map(|(id, row)| MatrixRow::of_timer(id, row.into_iter().map(cell).collect()))
            .collect();
        (!rows.is_empty()).then(|| Self {
            key: "waits",
            corner: "timer",
            title: "Lateness of waits by timer and platform",
            caption: "Median lateness of waits of 1 ms, or of the length nearest to it, a row a timer, a column a platform.",
            note: "Observed less asked, at the median; the pages of the reports have the rest. Blank: not in that report.",
            ascending: true,
            folded: false,
            columns: MatrixColumn::all_of(&reports),
            rows,
        })
    }
}

impl MatrixRow {
    /// Its id in parts between which a line may break: behind a mark, and before a capital within a
    /// word.
    pub fn parts(&self) -> Vec<String> {
        let mut parts = vec![String::new()];
        for c in self.id.chars() {
            let part = parts.last_mut().expect("there is one");
            let last = part.chars().last();
            let ends = last.is_some_and(|last| {
                ":-_. ".contains(last) || (last.is_lowercase() && c.is_uppercase())
            });
            if ends {
                parts.push(c.to_string())
            } else {
                part.push(c)
            }
        }
        parts
    }

    fn of_timer(id: &str, cells: Vec<Cell>) -> Self {
        Self {
            id: id.to_owned(),
            cells,
        }
    }
}

impl MatrixColumn {
    fn all_of(reports: &[&Brief]) -> Vec<Self> {
        let column = |(report, name): (&&Brief, String)| Self {
            name,
            about: report.about.clone(),
            href: report.href.clone(),
        };
        reports.iter().zip(headings(reports)).map(column).collect()
    }
}

impl Cell {
    fn of(verdict: &PlatformVerdict) -> Self {
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
        Self {
            class: parts::quality_class(quality),
            text,
            sort,
            says,
        }
    }
}
