//! Defines every quantity of a report, for clocks, waits, periodic timers and the run itself.
//!
//! A [`Field`] has a name, a [`FieldUnit`], a description and a function that reads its value from a
//! [`Row`]. Key, heading, notation, type, metric and range follow from the unit. Tables, CSV,
//! OpenMetrics, checks, facts about a timer and comparisons all use this list, so a new
//! quantity needs one more entry in `clocks.rs`, `waits.rs` or `report.rs`.
//!
//! [`rows`] returns the rows of a report, [`fields_of`] the fields of one kind of rows,
//! [`Field::value`] a table cell, [`Field::figure`] a number with its interval, and
//! [`Field::format_value`] the text for people.

mod clocks;
mod declared;
mod report;
mod row;
mod slug;
mod unit;
mod waits;

use std::path::Path;
use std::sync::LazyLock;

use crate::table::{CellValue, TableColumn, Type};
use crate::text::without_unit;
use estimators::model::{Estimate, Report};

pub use report::{cpu_name, series, short_path};
pub use row::{Kind, Row, all_rows, conditions_in_words, rows};
pub use slug::slug;
pub use unit::{FieldUnit, InvalidNumber, Range};

/// A quantity and everything derived from its definition.
pub struct Field {
    /// The name in files: the field name with the suffix of the unit, as in `cost_ns`.
    pub key: &'static str,
    /// The name on the command line, as in `cost`.
    pub column: &'static str,
    /// The heading in tables, with the unit.
    pub heading: &'static str,
    /// What it is, without a full stop.
    pub about: &'static str,
    /// What its values mean; empty if that is clear.
    more: &'static str,
    /// The unit of the values.
    pub unit: FieldUnit,
    /// Where tables of timers show the column by default; `None` if on request only.
    pub visibility: Option<Visibility>,
    /// Where tables with a row for each platform show the column by default.
    pub by_platform: Option<Visibility>,
    /// The least detail in which the value is a fact about its report or its timer; `None` if it never
    /// is one.
    detail: Option<Detail>,
    /// Whether files with all columns omit the field, because other fields contain the same values.
    pub derived: bool,
    /// Whether it says nothing about the processor of a device.
    pub is_of_cpu: bool,
    /// The OpenMetrics gauge of the field.
    pub metric: Option<Metric>,
    /// The OpenMetrics label of the field.
    pub label: Option<(LabelOf, &'static str)>,
    /// The name in comparisons.
    pub compared: Option<&'static str>,
    /// The valid values.
    pub range: Range,
    /// The kinds of rows that have the field; empty for a field of the report.
    kinds: &'static [Kind],
    /// The keys of the value, and of the ends of its interval if it may have one.
    pub keys: Vec<&'static str>,
    read: Read,
}

/// Where a column is shown by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Visibility {
    /// On all terminals, and in documents.
    Always,
    /// On wide terminals.
    Wide,
    /// On wide terminals, in a table that shows everything.
    InFull,
    /// In documents.
    InDocuments,
    /// In formats for programs.
    Data,
}

impl PartialEq for Field {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl std::fmt::Debug for Field {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.key)
    }
}

/// The level of detail of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// What matters for choosing a timer, in a few lines
    #[default]
    Short,
    /// The whole machine, and each note with its causes and what to do about them
    Full,
}

/// A property of a machine or a timer: its name and its value as text.
pub type Fact = (&'static str, String);

/// An OpenMetrics gauge. Several gauges share a name if they are percentiles of one quantity.
#[derive(Clone, Copy)]
pub struct Metric {
    /// The name, as in `cost`: without `timermeter_`, the kind of row and the unit.
    pub name: &'static str,
    /// The percentile, as in `99`; `None` if the gauge is not a percentile.
    pub percentile: Option<&'static str>,
}

/// The OpenMetrics gauges that have a field as a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelOf {
    /// `timermeter_report_info`
    Report,
    /// `timermeter_platform_info`
    Platform,
    /// All gauges of a timer.
    Timer,
}

/// The source of the value of a field.
#[derive(Clone, Copy)]
enum Read {
    /// A function of the file of the report.
    File(fn(&Path, &Report) -> Option<CellValue>),
    /// A function of the report.
    Report(fn(&Report) -> Option<CellValue>),
    /// A function of a row.
    Row(fn(Row) -> Option<CellValue>),
}

/// A report or a row, whose values fields read.
#[derive(Clone, Copy)]
pub enum FieldSource<'a> {
    /// A report with the path of its file, which is empty if it is in no file.
    File(&'a Path, &'a Report),
    /// A report.
    Report(&'a Report),
    /// A row.
    Row(Row<'a>),
}

impl<'a> From<&'a Report> for FieldSource<'a> {
    fn from(report: &'a Report) -> Self {
        Self::Report(report)
    }
}

impl<'a> From<Row<'a>> for FieldSource<'a> {
    fn from(row: Row<'a>) -> Self {
        Self::Row(row)
    }
}

/// Declares fields as `name: Unit = expression, "description", option(…)…;`. `?` in the expression
/// leaves the value undetermined.
macro_rules! field_table {
    ($read:path, $kinds:expr, |$row:ident| $source:expr;
        $($name:ident: $unit:ident = $value:expr, $about:literal $(, $option:ident($($argument:expr),*))*;)*) => {
        vec![$($crate::fields::Field::new(
            stringify!($name), $crate::fields::FieldUnit::$unit, $about, $kinds,
            $read(|$row| {
                #[allow(clippy::redundant_locals, reason = "some tables read the row itself")]
                let $row = $source;
                Some($crate::table::CellValue::from($value))
            }),
        )$(.$option($($argument),*))*),*]
    };
}
use field_table;

/// All fields, in column order of files with all columns; fields of the report come first.
pub fn fields() -> &'static [Field] {
    static FIELDS: LazyLock<Vec<Field>> = LazyLock::new(|| {
        let all = [
            report::fields(),
            clocks::fields(),
            waits::fields(),
            report::platform_fields(),
        ];
        all.into_iter().flatten().collect()
    });
    &FIELDS
}

/// The field with this key.
pub fn field(key: &str) -> Option<&'static Field> {
    fields().iter().find(|field| field.key == key)
}

/// The fields of one kind of rows, with the fields of the report.
pub fn fields_of(kind: Kind) -> impl Iterator<Item = &'static Field> {
    fields().iter().filter(move |field| field.applies_to(kind))
}

/// The columns of files with all columns, for one kind of rows.
pub fn columns(kind: Kind) -> Vec<&'static Field> {
    fields_of(kind).filter(|field| !field.derived).collect()
}

/// The columns that the tables of a report show by default on a terminal with this much room.
pub fn default_columns(kind: Kind, width: Visibility) -> impl Iterator<Item = &'static Field> {
    let fields = fields_of(kind).filter(|field| !field.is_of_report());
    fields.filter(move |field| field.visibility.is_some_and(|needed| needed <= width))
}

/// The default columns in which a row of this kind has a value.
pub fn known_columns(kind: Kind, width: Visibility, rows: &[Row]) -> Vec<&'static Field> {
    let is_known = |field: &&Field| {
        let mut values = rows.iter().map(|row| field.value(*row));
        values.any(|value| value != CellValue::Nothing)
    };
    default_columns(kind, width).filter(is_known).collect()
}

/// A function that returns the cells of a row in the given columns. Values that all rows of a report
/// share are read once.
pub fn cell_reader(
    path: &Path,
    report: &Report,
    columns: &[&Field],
) -> impl Fn(Row) -> Vec<CellValue> {
    let shared = |field: &Field| {
        let file = FieldSource::File(path, report);
        field.is_of_report().then(|| field.value(file))
    };
    let sources: Vec<_> = columns
        .iter()
        .map(|field| (*field, shared(field)))
        .collect();
    move |row| {
        let cells = sources.iter();
        cells
            .map(|(field, shared)| shared.clone().unwrap_or_else(|| field.value(row)))
            .collect()
    }
}

/// The cells of all rows of one kind in the given columns for programs, including rows without
/// results.
pub fn cells(path: &Path, report: &Report, kind: Kind, columns: &[&Field]) -> Vec<Vec<CellValue>> {
    let read = cell_reader(path, report, columns);
    let data = |row: Row| {
        let cells = read(row).into_iter().zip(columns);
        cells.flat_map(|(cell, field)| field.data(cell)).collect()
    };
    let rows = rows(report, kind).into_iter();
    rows.flat_map(Row::by_length).map(data).collect()
}

/// The fields that are facts about a report or a row, with their values as text.
pub fn facts<'a>(
    source: impl Into<FieldSource<'a>>,
    detail: Detail,
) -> impl Iterator<Item = (&'static Field, String)> {
    let source = source.into();
    let of_devices = matches!(source, FieldSource::Report(report) if report.is_of_devices());
    let shown = fields().iter().filter(move |field| {
        field.detail.is_some_and(|least| least <= detail) && !(field.is_of_cpu && of_devices)
    });
    shown.filter_map(move |field| Some((field, field.format_value(source)?)))
}

impl Field {
    /// What it is, and what its values mean.
    pub fn description(&self) -> String {
        match self.more {
            "" => self.about.to_owned(),
            more => format!("{}: {more}", self.about),
        }
    }

    /// Whether rows of this kind have the field.
    pub fn applies_to(&self, kind: Kind) -> bool {
        self.is_of_report() || self.kinds.contains(&kind)
    }

    /// Whether all rows of a report have the same value.
    pub fn is_of_report(&self) -> bool {
        self.kinds.is_empty()
    }

    /// The value of a report or of a row; [`CellValue::Nothing`] if the field belongs to the other, or
    /// only the file shows it.
    pub fn value<'a>(&self, source: impl Into<FieldSource<'a>>) -> CellValue {
        match self.read(source) {
            // A figure that is not finite is no value; `check` refuses it.
            Some(CellValue::Figure(figure)) if !figure.value.is_finite() => CellValue::Nothing,
            value => value.into(),
        }
    }

    /// The columns of the value for programs, and of the ends of its interval.
    pub fn data_columns(&self) -> impl Iterator<Item = TableColumn> {
        let keys = self.keys.iter();
        keys.map(|&key| TableColumn {
            key,
            ..self.as_column()
        })
    }

    /// A value for programs, and the ends of its interval if it may have one; of an upper bound only the
    /// upper end.
    pub fn data(&self, value: CellValue) -> impl Iterator<Item = CellValue> {
        let (low, high) = match value {
            CellValue::Figure(figure) => (figure.low(), figure.high()),
            CellValue::AtMost(bound) => (None, Some(bound)),
            _ => (None, None),
        };
        let value = value.into_type(self.unit.rules().column_type);
        let all = [value, low.into(), high.into()];
        all.into_iter().take(self.keys.len())
    }

    fn read<'a>(&self, source: impl Into<FieldSource<'a>>) -> Option<CellValue> {
        match (self.read, source.into()) {
            (Read::File(read), FieldSource::File(path, report)) => read(path, report),
            (Read::Report(read), FieldSource::File(_, report) | FieldSource::Report(report)) => {
                read(report)
            }
            (Read::Row(read), FieldSource::Row(row)) => read(row),
            _ => None,
        }
        .filter(|value| *value != "".into())
    }

    /// Checks the number of a report or of a row.
    ///
    /// # Errors
    /// When it is out of range, or outside its interval.
    pub fn check<'a>(&self, source: impl Into<FieldSource<'a>>) -> Result<(), InvalidNumber> {
        let value = self.read(source);
        let key = self.key;
        let figure = match value {
            Some(CellValue::AtMost(bound)) => return self.range.of_ends().check(key, bound),
            value => value.and_then(figure_of),
        };
        let Some(figure) = figure else {
            return Ok(());
        };
        self.range.check(key, figure.value)?;
        for end in [figure.low(), figure.high()].into_iter().flatten() {
            self.range.of_ends().check(key, end)?;
        }
        Range::within(figure.low, figure.high).check(key, figure.value)
    }

    /// The number of a report or of a row with its interval; `None` if only an upper bound is known.
    pub fn figure<'a>(&self, source: impl Into<FieldSource<'a>>) -> Option<Estimate> {
        figure_of(self.read(source)?)
    }

    /// The heading without the unit, for tables in which each number has its own unit.
    pub fn title(&self) -> &'static str {
        without_unit(self.heading)
    }

    /// The value of a report or of a row as text with its unit; `None` if the value was not determined.
    pub fn format_value<'a>(&self, source: impl Into<FieldSource<'a>>) -> Option<String> {
        let value = Some(self.value(source)).filter(|value| *value != CellValue::Nothing)?;
        let unit = if value.number().is_some() {
            self.unit.rules().sign
        } else {
            ""
        };
        Some(self.as_column().format_cell(&value) + unit)
    }

    /// The value as a fact, with its interval if that is known.
    pub fn fact<'a>(&self, source: impl Into<FieldSource<'a>>, text: String) -> Fact {
        // The text of a rate states half of the interval.
        let interval = self
            .interval_in_words(source)
            .filter(|_| self.unit != FieldUnit::Ppm);
        let interval = interval.map(|ends| format!(" (95 % interval {ends})"));
        (self.title(), text + &interval.unwrap_or_default())
    }

    /// The 95 % interval of the value as text: its ends with their units. `None` if it is unknown or
    /// empty.
    pub fn interval_in_words<'a>(&self, source: impl Into<FieldSource<'a>>) -> Option<String> {
        let (low, high) = self.ends_in_words(&self.value(source))?;
        Some(format!("{low} to {high}"))
    }

    /// The ends of the interval of a value with their units, if they differ.
    pub fn ends_in_words(&self, value: &CellValue) -> Option<(String, String)> {
        let CellValue::Figure(figure) = value else {
            return None;
        };
        let (low, high) = figure.ends()?;
        let column = self.as_column();
        let [low, high] = [low, high].map(|end| column.format_cell(&end.into()));
        (low != high).then_some((low, high))
    }

    /// The column for tables, in which each time has a suitable unit.
    pub fn as_column(&self) -> TableColumn {
        let rules = self.unit.rules();
        let column = match rules.column_type {
            Type::Figure | Type::Count => TableColumn::right(self.heading, rules.notation),
            Type::Text | Type::Truth => TableColumn::left(self.heading),
        };
        TableColumn {
            key: self.key,
            max_chars: match self.read {
                // Paths distinguish reports, so they are never shortened.
                Read::File(_) => usize::MAX,
                _ => column.max_chars,
            },
            about: if self.key == "timer" { "" } else { self.about },
            words: self.more,
            ..column
        }
    }
}

/// A value as a number with its interval; `None` for text and for upper bounds.
fn figure_of(value: CellValue) -> Option<Estimate> {
    match value {
        CellValue::Figure(figure) => Some(figure),
        CellValue::Truth(holds) => Some(Estimate::unbounded(u8::from(holds).into())),
        CellValue::AtMost(_) | CellValue::Amortised(_) => None,
        value => value.number().map(Estimate::unbounded),
    }
}

#[cfg(test)]
mod tests;
