//! Tables of one or many reports: a row a timer, the platforms one below the other or side by side.

mod cell;
mod column;
mod csv;
mod html;
mod json;
mod latex;
mod markdown;
mod text;

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ValueEnum;
use indexmap::IndexMap;

use crate::model::Status;
use crate::report::{Collection, Outline, ReadError, slug};

pub use cell::Cell;
pub use column::Column;

/// How the platforms stand to each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Layout {
    /// One below the other: a row a timer and report
    #[default]
    Stacked,
    /// Side by side: a row a timer, and columns for each report
    Beside,
}

/// The formats of such a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    #[default]
    Table,
    /// A table in Markdown
    Markdown,
    /// For spreadsheets, all digits
    Csv,
    /// A document with a booktabs table, to be compiled as it is
    Latex,
    /// A page with a table
    Html,
    /// An array of objects, one a row; platforms are always stacked
    Json,
}

/// What is to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The columns, in this order.
    pub columns: Vec<Column>,
    /// How platforms stand to each other.
    pub layout: Layout,
    /// The column to sort by, and whether the other way round; else as the reports have them.
    pub sort: Option<(Column, bool)>,
    /// Whether timers without figures have rows too.
    pub all: bool,
}

/// All rows of all reports, reduced to the cells that are to be shown.
#[derive(Debug)]
pub struct Tabulation {
    choice: Choice,
    /// Names of the reports.
    names: Vec<Arc<str>>,
    lines: Vec<Line>,
    /// Why other files could not be read.
    pub refused: Vec<ReadError>,
}

#[derive(Debug)]
struct Line {
    report: usize,
    timer: Arc<str>,
    cells: Box<[Cell]>,
    key: Cell,
}

/// What a format shows.
struct Grid<'a> {
    heads: Vec<Head>,
    /// The names of the platforms side by side; empty when they are stacked.
    platforms: &'a [Arc<str>],
    rows: Vec<Cow<'a, [Cell]>>,
}

/// A column of the grid; with the platform it is about where they stand side by side.
#[derive(Clone, Copy)]
struct Head {
    column: Column,
    platform: Option<usize>,
}

/// A report as it was kept: its name in two lengths, and its lines.
struct Sheet {
    slug: String,
    dated: String,
    lines: Vec<Line>,
}

impl Tabulation {
    /// Reads the reports at `paths`, files and folders.
    #[must_use]
    pub fn read(paths: &[PathBuf], choice: Choice) -> Self {
        let collection = Collection::read_outlines(paths, |path, report| sheet(path, report, &choice));
        let names = names(&collection);
        let mut lines =
            Vec::with_capacity(collection.reports.iter().map(|kept| kept.content.lines.len()).sum());
        for (index, kept) in collection.reports.into_iter().enumerate() {
            lines.extend(kept.content.lines.into_iter().map(|line| line.of(index, &names[index], &choice)));
        }
        if let Some((column, reverse)) = choice.sort {
            let largest_first = column.largest_first() != reverse;
            lines.sort_by(|a, b| a.key.order(&b.key, largest_first));
        }
        Self { choice, names, lines, refused: collection.refused }
    }

    /// How many reports there are.
    #[must_use]
    pub fn reports(&self) -> usize {
        self.names.len()
    }

    /// Writes the table.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn write(&self, format: Format, output: &mut dyn Write) -> io::Result<()> {
        let grid = match (self.choice.layout, format) {
            (Layout::Beside, Format::Json) | (Layout::Stacked, _) => self.stacked(),
            (Layout::Beside, _) => self.beside(),
        };
        match format {
            Format::Table => text::write(&grid, output),
            Format::Markdown => markdown::write(&grid, output),
            Format::Csv => csv::write(&grid, output),
            Format::Latex => latex::write(&grid, output),
            Format::Html => html::write(&grid, output),
            Format::Json => json::write(&grid, output),
        }
    }

    fn stacked(&self) -> Grid<'_> {
        let heads = self.choice.columns.iter().map(|&column| Head { column, platform: None }).collect();
        let rows = self.lines.iter().map(|line| Cow::Borrowed(&*line.cells)).collect();
        Grid { heads, platforms: &[], rows }
    }

    fn beside(&self) -> Grid<'_> {
        let figures: Vec<(usize, Column)> = self
            .choice
            .columns
            .iter()
            .copied()
            .enumerate()
            .filter(|(_, column)| !column.is_of_report() && *column != Column::Timer)
            .collect();
        let mut heads = vec![Head { column: Column::Timer, platform: None }];
        for platform in 0..self.names.len() {
            heads.extend(figures.iter().map(|&(_, column)| Head { column, platform: Some(platform) }));
        }
        let timer = self.choice.columns.iter().position(|column| *column == Column::Timer).unwrap_or(0);
        let mut rows: IndexMap<&str, Vec<Cell>> = IndexMap::new();
        for line in &self.lines {
            let row = rows.entry(&line.timer).or_insert_with(|| {
                let mut row = vec![Cell::Nothing; heads.len()];
                row[0] = line.cells[timer].clone();
                row
            });
            for (place, &(index, _)) in figures.iter().enumerate() {
                row[1 + line.report * figures.len() + place] = line.cells[index].clone();
            }
        }
        Grid { heads, platforms: &self.names, rows: rows.into_values().map(Cow::Owned).collect() }
    }
}

impl Line {
    /// Fills in what is known only when all reports were read.
    fn of(mut self, report: usize, name: &Arc<str>, choice: &Choice) -> Self {
        self.report = report;
        for (cell, column) in self.cells.iter_mut().zip(&choice.columns) {
            if *column == Column::Platform {
                *cell = Cell::Text(Arc::clone(name));
            }
        }
        if matches!(choice.sort, Some((Column::Platform, _))) {
            self.key = Cell::Text(Arc::clone(name));
        }
        self
    }
}

fn sheet(path: &Path, report: &Outline<'_>, choice: &Choice) -> Sheet {
    let file = Cell::text(&path.display().to_string());
    let shared = |column: Column| match column {
        Column::File => file.clone(),
        column => column.of_report(report),
    };
    let of_report: Vec<Cell> = choice.columns.iter().map(|&column| shared(column)).collect();
    let key_of_report = choice.sort.map(|(column, _)| shared(column));
    let rows = report
        .timers
        .iter()
        .filter(|row| choice.all || matches!(row.status, Status::Ok | Status::Unresolved));
    let lines = rows.map(|row| {
        let timer: Arc<str> = row.id.as_ref().into();
        let cell = |(&column, shared): (&Column, &Cell)| match column {
            Column::Timer => Cell::Text(Arc::clone(&timer)),
            column if column.is_of_report() => shared.clone(),
            column => column.of_row(row),
        };
        let key = match (choice.sort, &key_of_report) {
            (Some((column, _)), Some(shared)) if column.is_of_report() => shared.clone(),
            (Some((column, _)), _) => column.of_row(row),
            (None, _) => Cell::Nothing,
        };
        let cells = choice.columns.iter().zip(&of_report).map(cell).collect();
        Line { report: 0, timer, cells, key }
    });
    let slug = slug(&report.platform);
    let dated = format!("{slug} {}", report.created);
    Sheet { lines: lines.collect(), slug, dated }
}

/// A name for each report that no other one has: its platform, where need be with the time, else its file.
fn names(collection: &Collection<Sheet>) -> Vec<Arc<str>> {
    let mut slugs: HashMap<&str, u32> = HashMap::new();
    let mut times: HashMap<&str, u32> = HashMap::new();
    for Sheet { slug, dated, .. } in collection.reports.iter().map(|kept| &kept.content) {
        *slugs.entry(slug).or_default() += 1;
        *times.entry(dated).or_default() += 1;
    }
    let name = |path: &Path, sheet: &Sheet| -> Arc<str> {
        if slugs[sheet.slug.as_str()] == 1 {
            sheet.slug.as_str().into()
        } else if times[sheet.dated.as_str()] == 1 {
            sheet.dated.as_str().into()
        } else {
            format!("{} ({})", sheet.slug, path.display()).into()
        }
    };
    collection.reports.iter().map(|kept| name(&kept.path, &kept.content)).collect()
}

impl Grid<'_> {
    /// The heading of a column, with the name of its platform where they stand side by side.
    fn heading(&self, head: Head) -> String {
        match head.platform {
            Some(platform) => format!("{}, {}", self.platforms[platform], head.column.heading()),
            None => head.column.heading().to_owned(),
        }
    }

    /// Runs of columns of one platform: how many, and which. The first one is that of the timers.
    fn spans(&self) -> Vec<(usize, Option<usize>)> {
        Self::spans_of(&self.heads)
    }

    fn spans_of(heads: &[Head]) -> Vec<(usize, Option<usize>)> {
        let mut spans: Vec<(usize, Option<usize>)> = Vec::new();
        for head in heads {
            match spans.last_mut() {
                Some((width, platform)) if *platform == head.platform => *width += 1,
                _ => spans.push((1, head.platform)),
            }
        }
        spans
    }
}

#[cfg(test)]
mod tests;
