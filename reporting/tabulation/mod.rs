//! Builds a table of one or many reports: a row for each timer, and the platforms (the machines of
//! the reports) one below the other or side by side.

pub mod all_columns;
mod column;
mod platforms;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ValueEnum;
use indexmap::{IndexMap, IndexSet};

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
            let sheet_lines = kept.content.lines.swap_remove(chosen).into_iter();
            lines.extend(sheet_lines.map(|line| line.complete(index, &names[index], &choice)));
        }
        if let Some((column, reverse)) = choice.sort {
            let largest_first = column.field(choice.kind).unit.rules().is_largest_first != reverse;
            lines.sort_by(|a, b| a.sort_key.order(&b.sort_key, largest_first));
        }
        if let Some(top) = choice.top {
            retain_top(&mut lines, top, &choice);
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

    fn field(&self, column: ColumnName) -> &'static Field {
        column.field(self.choice.kind)
    }

    /// The heading of a column. On a terminal, names of timers and values of reports may fold to
    /// several lines.
    fn heading(&self, column: ColumnName) -> Heading {
        let field = self.field(column);
        Heading {
            folds: column == ColumnName::TIMER || field.is_of_report(),
            ..field.as_column()
        }
    }

    /// The table with a row for each timer and report.
    fn stacked(&self, is_shown: &[bool]) -> Table<'_> {
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
        let hidden = (0..is_shown.len()).rev().filter(|index| !is_shown[*index]);
        hidden.for_each(|index| table.remove_column(index));
        table
    }

    /// Whether each column is shown. Programs get numbers and the names that reports have; people
    /// get text.
    fn shown(&self, is_for_programs: bool) -> Vec<bool> {
        let columns = &self.choice.columns;
        let mut shown = vec![true; columns.len()];
        for (index, column) in columns.iter().enumerate() {
            let numbers = column.numbers();
            if !self.choice.has_named_columns {
                shown[index] = !(is_for_programs && self.field(*column).derived);
            } else if is_for_programs {
                shown[index] = numbers.is_empty();
            } else if columns[index + 1..].starts_with(numbers) {
                shown[index + 1..][..numbers.len()].fill(false);
            }
        }
        shown
    }

    /// The table with a row for each timer, and a group of columns for each report.
    fn side_by_side(&self, is_shown: &[bool]) -> Table<'_> {
        let columns = self.choice.columns.iter().copied().enumerate();
        let value_columns: Vec<(usize, ColumnName)> = columns
            .filter(|(index, column)| {
                let is_of_report = self.field(*column).is_of_report();
                is_shown[*index] && !is_of_report && *column != ColumnName::TIMER
            })
            .collect();
        // A report without such rows would be a group of empty columns.
        let reports: BTreeSet<usize> = self.lines.iter().map(|line| line.report).collect();
        let reports: Vec<usize> = reports.into_iter().collect();
        let mut headings = vec![self.heading(ColumnName::TIMER)];
        for group in (0..reports.len()).map(Some) {
            headings.extend(value_columns.iter().map(|(_, column)| Heading {
                group,
                ..self.heading(*column)
            }));
        }
        let mut rows: IndexMap<&str, Vec<CellValue>> = IndexMap::new();
        for line in &self.lines {
            let name = line.timer(&self.choice);
            let row = rows.entry(name.as_text()).or_insert_with(|| {
                let mut row = vec![CellValue::Nothing; headings.len()];
                row[0] = name.clone();
                row
            });
            let group = reports.partition_point(|report| *report < line.report);
            for (offset, &(index, _)) in value_columns.iter().enumerate() {
                row[1 + group * value_columns.len() + offset] = line.cells[index].clone();
            }
        }
        let rows = rows.into_values().map(Cow::Owned).collect();
        Table {
            groups: reports.iter().map(|report| &*self.names[*report]).collect(),
            rows,
            ..Table::new(headings)
        }
    }
}

impl Render for Tabulation {
    fn write(&self, format: Format, style: Style, output: &mut dyn Write) -> io::Result<()> {
        let is_stacked = self.choice.layout == Layout::Stacked;
        let is_shown = self.shown(matches!(format, Format::Csv | Format::Json));
        let mut table = match is_stacked || format == Format::Json {
            true => self.stacked(&is_shown),
            false => self.side_by_side(&is_shown),
        };
        if format == Format::Table && is_stacked && style.width.is_some() {
            return output.write_all(table.on_terminal(style, &|_| "").as_bytes());
        }
        table.ascii = style.ascii;
        table.write(format, output)
    }
}

impl TableLine {
    /// The name of the timer, if the table has that column.
    fn timer(&self, choice: &TableChoice) -> &CellValue {
        let columns = choice.columns.iter();
        let timer = columns
            .zip(&self.cells)
            .find(|(column, _)| **column == ColumnName::TIMER);
        timer.map_or(&CellValue::Nothing, |(_, cell)| cell)
    }

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

/// Retains the first rows: of each report, or in total if they are sorted. Side by side, a row has
/// the cells of all reports for a timer.
fn retain_top(lines: &mut Vec<TableLine>, top: usize, choice: &TableChoice) {
    if choice.layout == Layout::SideBySide {
        let names = lines.iter().map(|line| line.timer(choice).as_text());
        let mut timers: IndexSet<String> = names.map(str::to_owned).collect();
        timers.truncate(top);
        return lines.retain(|line| timers.contains(line.timer(choice).as_text()));
    }
    let mut counts: HashMap<usize, usize> = HashMap::new();
    lines.retain(|line| {
        let list = choice.sort.map_or(line.report, |_| 0);
        let count = counts.entry(list).or_default();
        *count += 1;
        *count <= top
    });
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
