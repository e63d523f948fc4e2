//! Builds a table of one or many reports: a row for each timer, and the platforms (the machines of
//! the reports) one below the other or side by side.

pub mod all_columns;
mod column;
mod platforms;

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ValueEnum;
use indexmap::IndexMap;

use crate::document::Render;
use crate::fields::{Field, Kind, Row, rows};
use crate::model::Report;
use crate::report::{Collection, ReadError, ReportFile, cell_reader, slug};
use crate::table::{CellValue, Format, Style, Table, TableColumn as Heading};

pub use column::ColumnName;
pub use platforms::{PlatformRow, PlatformRun, Platforms, RunLink};

/// The arrangement of several platforms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Layout {
    /// One below the other: a row for each timer and report
    #[default]
    Stacked,
    /// Side by side: a row for each timer, and columns for each report
    SideBySide,
}

/// The rows and columns that a table shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableChoice {
    /// The kind of rows: clocks, sleep primitives or periodic timers.
    pub kind: Kind,
    /// The columns in display order.
    pub columns: Vec<ColumnName>,
    /// Whether the user named the columns.
    pub has_named_columns: bool,
    /// The arrangement of several platforms.
    pub layout: Layout,
    /// The sort column, and whether to reverse the order; `None` keeps the order of the reports.
    pub sort: Option<(ColumnName, bool)>,
    /// Whether timers without results have rows, too.
    pub all: bool,
    /// The largest number of rows: in total if the table is sorted, otherwise for each report;
    /// `None` for no limit.
    pub top: Option<usize>,
}

/// A table of reports, which contains only the selected cells.
#[derive(Debug)]
pub struct Tabulation {
    choice: TableChoice,
    /// The names of the reports in the order of [`TableLine::report`].
    names: Vec<Arc<str>>,
    lines: Vec<TableLine>,
    /// The kinds of rows that the reports contain but the table does not, with their numbers.
    pub others: Vec<(Kind, usize)>,
    /// The errors of files that could not be read.
    pub refused: Vec<ReadError>,
}

/// A row of the table.
#[derive(Debug)]
struct TableLine {
    /// The index of the report.
    report: usize,
    /// The cells in the order of the selected columns.
    cells: Box<[CellValue]>,
    /// The value by which the row is sorted.
    sort_key: CellValue,
}

/// The part of a report that is kept in memory: the name of its platform, and its rows.
struct Sheet {
    name: String,
    /// The rows for each choice.
    lines: Vec<Vec<TableLine>>,
}

impl Tabulation {
    /// Reads the reports at `paths`, files and folders, and builds the table for the first choice
    /// that has any rows. `choices` must not be empty.
    pub fn read(paths: &[PathBuf], mut choices: Vec<TableChoice>) -> Self {
        let mut collection = Collection::read(paths, |path, report: Report| {
            let lines = choices
                .iter()
                .map(|choice| lines(path, &report, choice))
                .collect();
            Sheet {
                name: match &report.node {
                    Some(node) => format!("{node} · {}", slug(&report.platform)),
                    None => slug(&report.platform),
                },
                lines,
            }
        });
        let names = names(&collection);
        let sheets = || collection.reports.iter().map(|kept| &kept.content);
        let counts: Vec<usize> = (0..choices.len())
            .map(|index| sheets().map(|sheet| sheet.lines[index].len()).sum())
            .collect();
        let chosen = counts.iter().position(|count| *count > 0).unwrap_or(0);
        let mut lines = Vec::with_capacity(counts[chosen]);
        let others = choices
            .iter()
            .map(|choice| choice.kind)
            .zip(counts)
            .enumerate()
            .filter(|(index, (_, count))| *index != chosen && *count > 0)
            .map(|(_, other)| other)
            .collect();
        let choice = choices.swap_remove(chosen);
        for (index, kept) in collection.reports.iter_mut().enumerate() {
            let mut sheet_lines = kept.content.lines.swap_remove(chosen);
            if let (Some(top), None) = (choice.top, choice.sort) {
                sheet_lines.truncate(top);
            }
            lines.extend(
                sheet_lines
                    .into_iter()
                    .map(|line| line.complete(index, &names[index], &choice)),
            );
        }
        if let Some((column, reverse)) = choice.sort {
            let largest_first = column.field(choice.kind).unit.rules().is_largest_first != reverse;
            lines.sort_by(|a, b| a.sort_key.order(&b.sort_key, largest_first));
            lines.truncate(choice.top.unwrap_or(usize::MAX));
        }
        Self {
            choice,
            names,
            lines,
            others,
            refused: collection.refused,
        }
    }

    /// The number of reports.
    pub fn reports(&self) -> usize {
        self.names.len()
    }

    /// The kind of the rows, and their number.
    pub fn rows(&self) -> (Kind, usize) {
        (self.choice.kind, self.lines.len())
    }

    /// Renders the stacked table for a terminal, on which names of timers and values of reports may
    /// fold to several lines.
    fn on_terminal(&self, style: Style) -> String {
        let mut table = self.stacked();
        for (heading, column) in table.columns.iter_mut().zip(&self.choice.columns) {
            heading.folds =
                *column == ColumnName::TIMER || column.field(self.choice.kind).is_of_report();
        }
        table.on_terminal(style, &|_| "")
    }

    fn field(&self, column: ColumnName) -> &'static Field {
        column.field(self.choice.kind)
    }

    fn heading(&self, column: ColumnName) -> Heading {
        self.field(column).as_column()
    }

    /// The table with a row for each timer and report.
    fn stacked(&self) -> Table<'_> {
        let mut table = Table::new(
            self.choice
                .columns
                .iter()
                .map(|column| self.heading(*column))
                .collect(),
        );
        table.rows = self
            .lines
            .iter()
            .map(|line| Cow::Borrowed(&*line.cells))
            .collect();
        table
    }

    /// The table with a row for each timer, and a group of columns for each report.
    fn side_by_side(&self) -> Table<'_> {
        let columns = self.choice.columns.iter().copied().enumerate();
        let value_columns: Vec<(usize, ColumnName)> = columns
            .filter(|(_, column)| {
                !self.field(*column).is_of_report() && *column != ColumnName::TIMER
            })
            .collect();
        let mut headings = vec![self.heading(ColumnName::TIMER)];
        for group in (0..self.names.len()).map(Some) {
            headings.extend(value_columns.iter().map(|(_, column)| Heading {
                group,
                ..self.heading(*column)
            }));
        }
        let timer_index = self
            .choice
            .columns
            .iter()
            .position(|column| *column == ColumnName::TIMER);
        let mut rows: IndexMap<&str, Vec<CellValue>> = IndexMap::new();
        for line in &self.lines {
            let name = timer_index.map_or(&CellValue::Nothing, |index| &line.cells[index]);
            let row = rows.entry(name.as_text()).or_insert_with(|| {
                let mut row = vec![CellValue::Nothing; headings.len()];
                row[0] = name.clone();
                row
            });
            for (offset, &(index, _)) in value_columns.iter().enumerate() {
                row[1 + line.report * value_columns.len() + offset] = line.cells[index].clone();
            }
        }
        let rows = rows.into_values().map(Cow::Owned).collect();
        Table {
            groups: self.names.iter().map(|name| &**name).collect(),
            rows,
            ..Table::new(headings)
        }
    }
}

impl Render for Tabulation {
    fn write(&self, format: Format, style: Style, output: &mut dyn Write) -> io::Result<()> {
        let is_stacked = self.choice.layout == Layout::Stacked;
        if format == Format::Table && is_stacked && style.width.is_some() {
            return output.write_all(self.on_terminal(style).as_bytes());
        }
        let mut table = if is_stacked || format == Format::Json {
            self.stacked()
        } else {
            self.side_by_side()
        };
        // Programs get the names that reports have; they compute the rest.
        if matches!(format, Format::Csv | Format::Json) && !self.choice.has_named_columns {
            self.choice
                .columns
                .iter()
                .enumerate()
                .rev()
                .filter(|(_, column)| self.field(**column).derived)
                .for_each(|(index, _)| table.remove_column(index));
        }
        table.ascii = style.ascii;
        table.write(format, output)
    }
}

impl TableLine {
    /// Adds the index and the name of the report, which are known only after all reports were read.
    fn complete(mut self, report: usize, name: &Arc<str>, choice: &TableChoice) -> Self {
        self.report = report;
        for (cell, column) in self.cells.iter_mut().zip(&choice.columns) {
            if *column == ColumnName::PLATFORM {
                *cell = CellValue::Text(Arc::clone(name));
            }
        }
        if matches!(choice.sort, Some((ColumnName::PLATFORM, _))) {
            self.sort_key = CellValue::Text(Arc::clone(name));
        }
        self
    }
}

/// The rows of a report for a choice.
fn lines(path: &Path, report: &Report, choice: &TableChoice) -> Vec<TableLine> {
    let sort = choice.sort.map(|(column, _)| column);
    let columns: Vec<ColumnName> = choice.columns.iter().copied().chain(sort).collect();
    let fields: Vec<&Field> = columns.iter().map(|it| it.field(choice.kind)).collect();
    let read = cell_reader(Some(path), report, &fields);
    let line = |row: Row| {
        let mut cells = read(row);
        if choice.layout == Layout::SideBySide {
            // If a timer has a row for each length of its waits, its name contains the length and the
            // conditions of the waits.
            cells
                .iter_mut()
                .zip(&columns)
                .filter(|(_, column)| **column == ColumnName::TIMER)
                .for_each(|(cell, _)| *cell = row.name_with_length().into());
        }
        let sort_key = sort.and_then(|_| cells.pop());
        TableLine {
            report: 0,
            cells: cells.into(),
            sort_key: sort_key.unwrap_or(CellValue::Nothing),
        }
    };
    rows(report, choice.kind)
        .into_iter()
        .filter(|row| choice.all || row.has_figures())
        .flat_map(Row::by_length)
        .map(line)
        .collect()
}

/// A unique name for each report: the node and the platform, with the file if several reports share the
/// platform and the node.
fn names(collection: &Collection<Sheet>) -> Vec<Arc<str>> {
    let reports = &collection.reports;
    let mut counts: HashMap<&str, u32> = HashMap::new();
    for kept in reports {
        *counts.entry(&kept.content.name).or_default() += 1;
    }
    let name = |kept: &ReportFile<Sheet>| -> Arc<str> {
        let platform = kept.content.name.as_str();
        if counts[platform] == 1 {
            platform.into()
        } else {
            format!("{platform} ({})", kept.path.display()).into()
        }
    };
    reports.iter().map(name).collect()
}
