//! Builds a table of one or many reports: a row for each timer of each report.

pub mod all_columns;
mod column;
mod platforms;

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::document::Render;
use crate::fields::{Field, Kind, Row, rows};
use crate::model::Report;
use crate::report::{Collection, ReadError, ReportFile, cell_reader, slug};
use crate::table::{CellValue, Format, Style, Table, TableColumn as Heading};

pub use column::ColumnName;
pub use platforms::{PlatformRow, PlatformRun, Platforms, RunLink};

/// The rows and columns that a table shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableChoice {
    /// The kind of rows: clocks, sleep primitives or periodic timers.
    pub kind: Kind,
    /// The columns in display order.
    pub columns: Vec<ColumnName>,
    /// Whether the user named the columns.
    pub has_named_columns: bool,
    /// Whether timers without results have rows, too.
    pub all: bool,
}

/// A table of reports, which contains only the selected cells.
#[derive(Debug)]
pub struct Tabulation {
    choice: TableChoice,
    /// The number of reports.
    pub reports: usize,
    /// The cells of each row in the order of the selected columns.
    lines: Vec<TableCells>,
    /// The kinds of rows that the reports contain but the table does not, with their numbers.
    pub others: Vec<(Kind, usize)>,
    /// The errors of files that could not be read.
    pub refused: Vec<ReadError>,
}

/// The cells of a row.
type TableCells = Box<[CellValue]>;

/// The part of a report that is kept in memory: the name of its platform, and its rows.
struct Sheet {
    name: String,
    /// The rows for each choice.
    lines: Vec<Vec<TableCells>>,
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
        // The names are known only after all reports were read.
        for (kept, name) in collection.reports.iter_mut().zip(&names) {
            for mut line in kept.content.lines.swap_remove(chosen) {
                for (cell, column) in line.iter_mut().zip(&choice.columns) {
                    if *column == ColumnName::PLATFORM {
                        *cell = CellValue::Text(Arc::clone(name));
                    }
                }
                lines.push(line);
            }
        }
        Self {
            choice,
            reports: names.len(),
            lines,
            others,
            refused: collection.refused,
        }
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

    /// The table.
    fn table(&self, is_shown: &[bool]) -> Table<'_> {
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
            .map(|line| Cow::Borrowed(&**line))
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
}

impl Render for Tabulation {
    fn write(&self, format: Format, style: Style, output: &mut dyn Write) -> io::Result<()> {
        let is_shown = self.shown(matches!(format, Format::Csv | Format::Json));
        let mut table = self.table(&is_shown);
        if format == Format::Table && style.width.is_some() {
            return output.write_all(table.on_terminal(style, &|_| "").as_bytes());
        }
        table.ascii = style.ascii;
        table.write(format, output)
    }
}

/// The rows of a report for a choice.
fn lines(path: &Path, report: &Report, choice: &TableChoice) -> Vec<TableCells> {
    let columns = choice.columns.iter();
    let fields: Vec<&Field> = columns.map(|it| it.field(choice.kind)).collect();
    let read = cell_reader(Some(path), report, &fields);
    rows(report, choice.kind)
        .into_iter()
        .filter(|row| choice.all || row.has_figures())
        .flat_map(Row::by_length)
        .map(|row| read(row).into())
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
