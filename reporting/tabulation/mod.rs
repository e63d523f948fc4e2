//! Builds a table of one or many reports: a row for each timer of each report, or for each platform.

mod all_columns;
mod column;
mod platforms;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::fields::{Field, Kind, Row, Visibility, cell_reader, fields_of, rows, short_path, slug};
use crate::format::{Format, Render, Style};
use crate::report::{Collection, ReadError, ReportFile};
use crate::table::{Caption, CellValue, Table, TableColumn};
use crate::text::counted;
use estimators::model::Report;

pub use all_columns::AllColumns;
pub use column::ColumnName;
pub use platforms::{PlatformRow, PlatformRun, Platforms, RowOf, RunLink};

/// The largest number of columns in a document that the user did not name.
const MAX_DOCUMENT_COLUMNS: usize = 8;

/// The rows and columns that a table shows.
#[derive(Debug)]
pub struct TableChoice {
    /// The kind of rows: clocks, sleep primitives or periodic timers.
    pub kind: Kind,
    /// What a row is of, if not of a timer.
    pub by: Option<RowOf>,
    /// The columns in display order.
    pub columns: Vec<&'static Field>,
    /// Whether the user named the columns.
    pub has_named_columns: bool,
    /// Whether timers without results have rows, too.
    pub all: bool,
}

impl TableChoice {
    /// The table of rows of this kind with the default columns of all formats.
    pub fn by_default(kind: Kind, by: Option<RowOf>) -> Self {
        let choice = Self {
            kind,
            by,
            columns: Vec::new(),
            has_named_columns: false,
            all: false,
        };
        let is_shown = |field: &&Field| choice.visibility(field).is_some();
        Self {
            columns: fields_of(kind).filter(is_shown).collect(),
            ..choice
        }
    }

    fn visibility(&self, field: &Field) -> Option<Visibility> {
        match self.by {
            Some(_) => field.by_platform,
            None => field.visibility,
        }
    }

    /// The rows of a report: each with its cells.
    fn sheet_rows(&self, path: &Path, report: &Report) -> Vec<SheetRow> {
        if let Some(by) = self.by {
            let href = path.display().to_string();
            let runs = PlatformRun::of_report(path, &href, report, by, &self.columns);
            return runs.into_iter().map(SheetRow::OfPlatform).collect();
        }
        let read = cell_reader(path, report, &self.columns);
        let rows = rows(report, self.kind).into_iter();
        rows.filter(|row| self.all || row.has_figures())
            .flat_map(Row::by_length)
            .map(|row| SheetRow::OfTimer(read(row).into()))
            .collect()
    }
}

/// A row of a sheet, before the rows of a platform are joined.
#[derive(Debug)]
enum SheetRow {
    OfTimer(Box<[CellValue]>),
    OfPlatform(PlatformRun),
}

/// The part of a report that is kept in memory: the name of its machine, and its rows.
struct Sheet {
    name: String,
    /// The version of timermeter and the date; `None` if it was published.
    origin: Option<[String; 2]>,
    /// The rows for each choice.
    rows: Vec<Vec<SheetRow>>,
}

/// A table of reports, which contains only the selected cells.
#[derive(Debug)]
pub struct Tabulation {
    choice: TableChoice,
    /// The number of reports.
    pub reports: usize,
    /// The versions and dates of measured reports.
    origins: [BTreeSet<String>; 2],
    /// The numbers of reports with rows here, measured and published.
    counts: [usize; 2],
    /// The cells of each row in the order of the selected columns.
    rows: Vec<Box<[CellValue]>>,
    /// The errors of files that could not be read.
    pub refused: Vec<ReadError>,
}

impl Tabulation {
    /// Reads the reports at `paths`, files and folders, and builds the table for the first choice
    /// that has any rows. `choices` must not be empty.
    pub fn read(paths: &[PathBuf], mut choices: Vec<TableChoice>) -> Self {
        let mut collection = Collection::read(paths, |path, report: Report| {
            let origin = [report.tool.version.clone(), report.day().to_owned()];
            let slug = slug(&report.platform);
            Sheet {
                name: match &report.node {
                    Some(node) => format!("{node} · {slug}"),
                    None => slug,
                },
                origin: (!report.is_published()).then_some(origin),
                rows: choices
                    .iter()
                    .map(|it| it.sheet_rows(path, &report))
                    .collect(),
            }
        });
        let names = names(&collection);
        let sheets = || collection.reports.iter().map(|kept| &kept.content);
        let has_rows = |index: &usize| sheets().any(|sheet| !sheet.rows[*index].is_empty());
        let chosen = (0..choices.len()).find(has_rows).unwrap_or(0);
        let choice = choices.swap_remove(chosen);
        let platform = choice.columns.iter().position(|it| it.key == "platform");
        let is_empty = !has_rows(&chosen);
        let shown = || sheets().filter(|sheet| is_empty || !sheet.rows[chosen].is_empty());
        let measured = || shown().filter_map(|sheet| sheet.origin.clone());
        let counts = [measured().count(), shown().count() - measured().count()];
        let origins = [0, 1].map(|at| measured().map(|origin| origin[at].clone()).collect());
        let (mut rows, mut runs) = (Vec::new(), Vec::new());
        for (kept, name) in collection.reports.iter_mut().zip(&names) {
            for row in kept.content.rows.swap_remove(chosen) {
                match row {
                    SheetRow::OfTimer(mut cells) => {
                        // The names are known only after all reports were read.
                        if let Some(index) = platform {
                            cells[index] = name.clone();
                        }
                        rows.push(cells);
                    }
                    SheetRow::OfPlatform(run) => runs.push(run),
                }
            }
        }
        let platforms = PlatformRow::group(runs, &choice.columns).into_iter();
        rows.extend(platforms.map(|row| row.cells.into()));
        Self {
            choice,
            reports: names.len(),
            origins,
            counts,
            rows,
            refused: collection.refused,
        }
    }

    /// The kind of the rows, and their number.
    pub fn rows(&self) -> (Kind, usize) {
        (self.choice.kind, self.rows.len())
    }

    /// The table for people: of the default columns those that a row has a value for.
    fn table(&self, format: Format) -> Table<'_> {
        let places: &[Visibility] = match format {
            Format::Table => &[Visibility::Always, Visibility::Wide, Visibility::InFull],
            _ => &[Visibility::Always, Visibility::InDocuments],
        };
        let is_shown = |&(index, field): &(usize, &&'static Field)| {
            let needed = self.choice.visibility(field);
            let is_known = || {
                self.rows.is_empty() || self.rows.iter().any(|row| row[index] != CellValue::Nothing)
            };
            self.choice.has_named_columns
                || needed.is_some_and(|needed| places.contains(&needed))
                    && (field.key != "platform" || self.reports > 1)
                    && is_known()
        };
        let columns = self.choice.columns.iter().enumerate().filter(is_shown);
        let most = match self.choice.has_named_columns || format == Format::Table {
            true => usize::MAX,
            false => MAX_DOCUMENT_COLUMNS,
        };
        let columns: Vec<_> = columns.take(most).collect();
        let heading = |(index, field): &(usize, &&'static Field)| TableColumn {
            // On a terminal, names of timers and values of reports may fold to several lines.
            folds: field.key == "timer" || field.is_of_report(),
            omission_priority: self.choice.visibility(field).map_or(0, |it| it as u8),
            // A footnote needs a cell.
            is_footnote: field.key == "source" && *index != columns[0].0,
            ..field.as_column()
        };
        let mut table = Table::new(columns.iter().map(heading).collect());
        let cells = |row: &[CellValue]| columns.iter().map(|(at, _)| row[*at].clone()).collect();
        table.rows = self.rows.iter().map(|row| Cow::Owned(cells(row))).collect();
        table.caption = Some(self.caption());
        table
    }

    /// The table for programs: each column with the ends of its interval, all digits.
    fn data(&self) -> Table<'_> {
        let columns = self.choice.columns.iter().enumerate();
        let is_shown = |field: &Field| self.choice.has_named_columns || !field.derived;
        let columns = columns.filter(|(_, field)| is_shown(field) || self.choice.by.is_some());
        let columns: Vec<(usize, &&Field)> = columns.collect();
        let headings = columns.iter().flat_map(|(_, field)| field.data_columns());
        let mut table = Table::new(headings.collect());
        for row in &self.rows {
            let cells = columns.iter();
            let cells = cells.flat_map(|(index, field)| field.data(row[*index].clone()));
            table.push(cells.collect());
        }
        table
    }

    /// The numbers of rows and reports, version, dates and method.
    fn caption(&self) -> Caption {
        let (what, newest) = match self.choice.by {
            Some(RowOf::Platform) => ("platforms", ", newest of each"),
            Some(RowOf::Cpu) => ("CPU models", ", newest of each"),
            None => (self.choice.kind.in_words(), ""),
        };
        let [versions, days] = self
            .origins
            .each_ref()
            .map(|all| match (all.first(), all.last()) {
                (Some(first), Some(last)) if first != last => format!("{first} to {last}"),
                (first, _) => first.cloned().unwrap_or_default(),
            });
        let method = match self.choice.kind {
            Kind::Clocks => "median cost of isolated reads unless amortised",
            _ => "lateness after the time that was asked for",
        };
        let origins = [
            format!("measured by timermeter {versions}, {days}"),
            "published elsewhere".to_owned(),
        ];
        let origins = self
            .counts
            .into_iter()
            .zip(origins)
            .filter(|(count, _)| *count > 0);
        let origins = origins.map(|(count, how)| format!("{} {how}", counted(count, "report")));
        let text = format!(
            "{what}: {} from {}{newest}; {method} [95 % interval].",
            counted(self.rows.len(), "row"),
            Vec::from_iter(origins).join(", ")
        );
        Caption::new(text, what)
    }
}

impl Render for Tabulation {
    fn write(&self, format: Format, style: Style, output: &mut dyn Write) -> io::Result<()> {
        let table = match format {
            Format::Csv | Format::Json => self.data(),
            _ => self.table(format),
        };
        table.write(format, style, output)
    }
}

/// A name for each report with its path: the node and the platform, or the end of the path if several
/// reports share them.
fn names(collection: &Collection<Sheet>) -> Vec<CellValue> {
    let reports = &collection.reports;
    let mut counts: HashMap<&str, u32> = HashMap::new();
    for kept in reports {
        *counts.entry(&kept.content.name).or_default() += 1;
    }
    let name = |kept: &ReportFile<Sheet>| {
        let name = kept.content.name.clone();
        let is_unique = counts[name.as_str()] == 1;
        let text = Some(name).filter(|_| is_unique);
        CellValue::Link {
            text: text.unwrap_or_else(|| short_path(&kept.path)).into(),
            href: kept.path.display().to_string().into(),
        }
    };
    reports.iter().map(name).collect()
}
