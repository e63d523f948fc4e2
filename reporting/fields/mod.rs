//! What is listed of a report: each field once, with all that tables, CSV, Parquet, metrics,
//! comparisons and checks have to know of it. To list another figure is an entry in `clocks.rs`,
//! `waits.rs` or `report.rs`; what is a sentence is written by hand elsewhere. Functions there are
//! as long as their lists.

mod clocks;
mod comparable;
mod periods;
mod report;
mod waits;

use std::sync::{Arc, LazyLock};

use crate::model::{Interval, Report, TimerRow};
use crate::table::{Notation, TableColumn, Type, Value};

pub use comparable::{Comparable, Kind, Measure, Range, Row, Scatter, Ticked, Waited, in_a_line};

/// Something that is listed.
pub struct Field {
    /// What it is called where scripts read it, with its unit; it stays.
    pub key: &'static str,
    /// What it is, in a sentence.
    pub about: &'static str,
    /// What files of typed columns hold of it.
    pub kind: Type,
    /// As `table --columns` calls it, and its heading there; none where `table` does not have it.
    pub column: Option<(&'static str, &'static str)>,
    /// How its figures are written in tables.
    pub notation: Notation,
    /// Whether the largest come first when it is sorted by.
    pub largest_first: bool,
    /// Whether its text tells reports apart, so that none of it is cut off.
    pub whole: bool,
    /// Its place among the columns that `table` has by default, and where there is no room for it.
    pub by_default: Option<(u8, Room)>,
    /// In the table of a single report, on terminals and pages.
    pub screen: Option<Screen>,
    /// Whether `table --columns all` and Parquet have it.
    pub in_all: bool,
    /// Its gauge.
    pub metric: Option<Metric>,
    /// What comparisons know it by.
    pub compared: Option<&'static Comparable>,
    /// Where it stands in the document, and what is possible there.
    pub check: Option<Check>,
    source: FieldSource,
}

/// For what a terminal needs room to show a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Room {
    /// It is always shown.
    Always,
    /// Not on a narrow terminal beside the names of several reports.
    OfOneReport,
    /// Not on a narrow terminal.
    Wide,
}

/// A column of the table of a single report.
#[derive(Clone, Copy)]
pub struct Screen {
    /// What it is called on terminals, on pages, and in Markdown, which repeats headings; empty
    /// where it is not shown.
    pub headings: [&'static str; 3],
    /// How it is written.
    pub notation: Notation,
    /// From which width on a page shows it: a class of its style sheet. What is `wide` is left out
    /// on narrow terminals.
    pub width: &'static str,
    /// Whether it is left out where no row has it.
    pub optional: bool,
}

/// A gauge.
#[derive(Clone, Copy)]
pub struct Metric {
    /// Its name without the unit.
    pub name: &'static str,
    /// Its base unit; empty for numbers of things.
    pub unit: &'static str,
    /// What it is, without a full stop.
    pub help: &'static str,
    /// Which quantile it is of, where several share a name.
    pub percentile: Option<&'static str>,
    /// Whether it is of waits of one length.
    pub of_length: bool,
}

/// What is possible.
#[derive(Clone, Copy)]
pub struct Check {
    /// Where it stands in the document.
    pub place: &'static str,
    /// What is possible of the figure and of its upper end.
    pub range: Range,
    /// What is possible of its lower end.
    pub low: Range,
}

/// Which number of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Value,
    Low,
    High,
}

impl Part {
    fn get(self, interval: Interval) -> Option<f64> {
        match self {
            Self::Value => Some(interval.value),
            Self::Low => interval.low(),
            Self::High => interval.high(),
        }
    }
}

/// Something of each kind of row that has it.
struct Of<T> {
    clock: Option<Arc<OfClock<T>>>,
    wait: Option<Arc<OfWait<T>>>,
    period: Option<Arc<OfPeriod<T>>>,
}

type OfClock<T> = dyn Fn(&TimerRow) -> T + Send + Sync;
type OfWait<T> = dyn Fn(&Waited) -> T + Send + Sync;
type OfPeriod<T> = dyn Fn(&Ticked) -> T + Send + Sync;

enum FieldSource {
    /// Known to the reader of the report.
    Origin,
    Report(fn(&Report) -> Value),
    Row(Of<Value>),
    /// A figure, or one of the ends of its interval: which of the three.
    Figure(Of<Option<Interval>>, Part),
}

impl<T> Clone for Of<T> {
    fn clone(&self) -> Self {
        Self {
            clock: self.clock.clone(),
            wait: self.wait.clone(),
            period: self.period.clone(),
        }
    }
}

impl<T> Of<T> {
    fn clock(of: impl Fn(&TimerRow) -> T + Send + Sync + 'static) -> Self {
        Self {
            clock: Some(Arc::new(of)),
            wait: None,
            period: None,
        }
    }

    fn wait(of: impl Fn(&Waited) -> T + Send + Sync + 'static) -> Self {
        Self {
            clock: None,
            wait: Some(Arc::new(of)),
            period: None,
        }
    }

    fn period(of: impl Fn(&Ticked) -> T + Send + Sync + 'static) -> Self {
        Self {
            clock: None,
            wait: None,
            period: Some(Arc::new(of)),
        }
    }

    fn get(&self, row: &Row) -> Option<T> {
        match row {
            Row::Clock(row) => self.clock.as_ref().map(|of| of(row)),
            Row::Wait(row) => self.wait.as_ref().map(|of| of(row)),
            Row::Period(row) => self.period.as_ref().map(|of| of(row)),
        }
    }

    fn is_of(&self, kind: Kind) -> bool {
        match kind {
            Kind::Clocks => self.clock.is_some(),
            Kind::Waits => self.wait.is_some(),
            Kind::Periods => self.period.is_some(),
        }
    }
}

/// All fields, in the order of `table --columns all`: those of reports first.
#[must_use]
pub fn fields() -> &'static [Field] {
    static FIELDS: LazyLock<Vec<Field>> = LazyLock::new(|| {
        let all = [
            report::fields(),
            clocks::fields(),
            waits::fields(),
            periods::fields(),
        ];
        all.into_iter()
            .flatten()
            .flat_map(Field::with_ends)
            .collect()
    });
    &FIELDS
}

/// Those of rows of a kind, and of their reports.
pub fn of_kind(kind: Kind) -> impl Iterator<Item = &'static Field> {
    fields().iter().filter(move |field| field.is_of(kind))
}

/// The columns of rows of a kind in CSV and Parquet: those of the report first.
#[must_use]
pub fn columns(kind: Kind) -> Vec<&'static Field> {
    of_kind(kind).filter(|field| field.in_all).collect()
}

/// What the table of a single report shows of its clocks.
#[must_use]
pub fn on_screen(report: &Report) -> Vec<(&'static Field, Screen)> {
    let is_told = |field: &Field| {
        report
            .timers
            .iter()
            .any(|row| !matches!(field.of_row(&Row::Clock(row)), Value::Nothing))
    };
    let screens = of_kind(Kind::Clocks).filter_map(|field| Some((field, field.screen?)));
    screens
        .filter(|(field, screen)| !screen.optional || is_told(field))
        .collect()
}

impl Field {
    /// Whether rows of that kind have it.
    #[must_use]
    pub fn is_of(&self, kind: Kind) -> bool {
        match &self.source {
            FieldSource::Origin | FieldSource::Report(_) => true,
            FieldSource::Row(of) => of.is_of(kind),
            FieldSource::Figure(of, _) => of.is_of(kind),
        }
    }

    /// Whether it is an end of the interval of the field before it.
    #[must_use]
    pub fn is_end(&self) -> bool {
        matches!(&self.source, FieldSource::Figure(_, part) if *part != Part::Value)
    }

    /// Whether it is the same for all rows of a report.
    #[must_use]
    pub fn is_of_report(&self) -> bool {
        matches!(self.source, FieldSource::Origin | FieldSource::Report(_))
    }

    /// What it is of a report; `None` where it is one of rows, or known to the reader of the
    /// report.
    #[must_use]
    pub fn of_report(&self, report: &Report) -> Option<Value> {
        if let FieldSource::Report(of) = self.source {
            Some(of(report))
        } else {
            None
        }
    }

    /// What it is of a row; nothing where it is one of reports.
    #[must_use]
    pub fn of_row(&self, row: &Row) -> Value {
        match &self.source {
            FieldSource::Row(of) => of.get(row).unwrap_or(Value::Nothing),
            FieldSource::Figure(of, part) => of
                .get(row)
                .flatten()
                .and_then(|interval| part.get(interval))
                .into(),
            FieldSource::Origin | FieldSource::Report(_) => Value::Nothing,
        }
    }

    /// The figure with its interval, as it stands in the document.
    #[must_use]
    pub fn figure(&self, row: &Row) -> Option<Interval> {
        match &self.source {
            FieldSource::Figure(of, Part::Value) => of.get(row).flatten(),
            _ => self.of_row(row).number().map(Interval::unbounded),
        }
    }

    /// As a column of tables of many reports.
    #[must_use]
    pub fn as_column(&self) -> TableColumn {
        let heading = self.column.map_or(self.key, |(_, heading)| heading);
        let column = match self.kind {
            Type::Figure | Type::Count => TableColumn::right(heading, self.notation),
            Type::Text | Type::Truth | Type::Time | Type::Day => TableColumn::left(heading),
        };
        TableColumn {
            key: self.key,
            longest: if self.whole {
                Some(usize::MAX)
            } else {
                column.longest
            },
            ..column
        }
    }
}

/// How fields are declared.
impl Field {
    fn new(key: &'static str, kind: Type, about: &'static str, source: FieldSource) -> Self {
        Self {
            key,
            about,
            kind,
            column: None,
            notation: Notation::Significant,
            largest_first: false,
            whole: false,
            by_default: None,
            screen: None,
            in_all: true,
            metric: None,
            compared: None,
            check: None,
            source,
        }
    }

    fn of_clocks(
        key: &'static str,
        kind: Type,
        about: &'static str,
        of: impl Fn(&TimerRow) -> Value + Send + Sync + 'static,
    ) -> Self {
        Self::new(key, kind, about, FieldSource::Row(Of::clock(of)))
    }

    fn clock_figure(
        key: &'static str,
        about: &'static str,
        of: fn(&TimerRow) -> Option<Interval>,
    ) -> Self {
        Self::new(
            key,
            Type::Figure,
            about,
            FieldSource::Figure(Of::clock(of), Part::Value),
        )
    }

    fn of_reports(
        key: &'static str,
        kind: Type,
        about: &'static str,
        of: fn(&Report) -> Value,
    ) -> Self {
        Self::new(key, kind, about, FieldSource::Report(of))
    }

    fn column(self, name: &'static str, heading: &'static str) -> Self {
        Self {
            column: Some((name, heading)),
            ..self
        }
    }

    fn notation(self, notation: Notation) -> Self {
        Self { notation, ..self }
    }

    fn largest_first(self) -> Self {
        Self {
            largest_first: true,
            ..self
        }
    }

    fn by_default(self, place: u8, room: Room) -> Self {
        Self {
            by_default: Some((place, room)),
            ..self
        }
    }

    fn screen(self, headings: [&'static str; 3], notation: Notation, width: &'static str) -> Self {
        Self {
            screen: Some(Screen {
                headings,
                notation,
                width,
                optional: false,
            }),
            ..self
        }
    }

    /// Its column is left out where no row has it.
    fn where_told(self) -> Self {
        Self {
            screen: self.screen.map(|screen| Screen {
                optional: true,
                ..screen
            }),
            ..self
        }
    }

    /// `table --columns all` lacks it.
    fn not_in_all(self) -> Self {
        Self {
            in_all: false,
            ..self
        }
    }

    fn metric(self, name: &'static str, unit: &'static str, help: &'static str) -> Self {
        Self {
            metric: Some(Metric {
                name,
                unit,
                help,
                percentile: None,
                of_length: false,
            }),
            ..self
        }
    }

    fn percentile(self, percentile: &'static str) -> Self {
        Self {
            metric: self.metric.map(|metric| Metric {
                percentile: Some(percentile),
                ..metric
            }),
            ..self
        }
    }

    /// Its gauge is of waits of one length.
    fn of_length(self) -> Self {
        Self {
            metric: self.metric.map(|metric| Metric {
                of_length: true,
                ..metric
            }),
            ..self
        }
    }

    fn compared(self, compared: &'static Comparable) -> Self {
        Self {
            compared: Some(compared),
            ..self
        }
    }

    fn check(self, place: &'static str, range: Range) -> Self {
        Self {
            check: Some(Check {
                place,
                range,
                low: range,
            }),
            ..self
        }
    }

    /// The field, followed by the ends of its interval where it has one.
    fn with_ends(self) -> Vec<Self> {
        let of = match &self.source {
            FieldSource::Figure(of, Part::Value) if self.in_all || self.column.is_some() => of,
            _ => return vec![self],
        };
        let end = |part, name: &str, about| Self {
            column: self.column.map(|(column, heading)| {
                let (what, unit) = heading.split_at(heading.find(" (").unwrap_or(heading.len()));
                let heading = format!("{what}, {name}{unit}");
                (format!("{column}-{name}").leak() as _, heading.leak() as _)
            }),
            largest_first: self.largest_first,
            notation: self.notation,
            in_all: self.in_all,
            ..Self::new(
                end_key(self.key, name).leak(),
                Type::Figure,
                about,
                FieldSource::Figure(of.clone(), part),
            )
        };
        let ends = [
            end(Part::Low, "low", "Lower end of its 95 % interval"),
            end(Part::High, "high", "Upper end of its 95 % interval"),
        ];
        [self].into_iter().chain(ends).collect()
    }
}

/// The key of an end of an interval: the unit stays last, as in `cost_low_ns`.
fn end_key(key: &str, end: &str) -> String {
    let is_unit = |unit: &&&str| key.ends_with(**unit);
    let unit = ["_ns", "_ppm", "_percent"].iter().find(is_unit);
    let unit = unit.copied().unwrap_or_default();
    format!("{}_{end}{unit}", &key[..key.len() - unit.len()])
}

#[cfg(test)]
mod tests;
