//! Defines the columns that users can select for a table of reports, by name.

use std::sync::LazyLock;

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::fields::{Field, Kind, Visibility, default_columns, fields};

/// The name of a column on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnName(&'static str);

impl ColumnName {
    /// The id of the timer.
    pub const TIMER: Self = Self("timer");
    /// The name of the machine.
    pub const PLATFORM: Self = Self("platform");

    /// The default columns of one kind of rows; `narrow` states whether the terminal is narrow.
    pub fn by_default(kind: Kind, narrow: bool) -> Vec<Self> {
        let visibility = match narrow {
            false => Visibility::Wide,
            true => Visibility::Always,
        };
        // Most reports have no values for these columns.
        default_columns(kind, visibility)
            .filter(|field| !["adds", "quality_printed"].contains(&field.key))
            .map(|field| Self(field.column))
            .collect()
    }

    /// The field that the column shows for rows of this kind; for another kind if this kind has no
    /// such field.
    pub(super) fn field(self, kind: Kind) -> &'static Field {
        let all = || fields().iter().filter(|field| field.column == self.0);
        all()
            .find(|field| field.applies_to(kind))
            .or(all().next())
            .expect("every column is the column of a field")
    }

    /// The columns with the numbers of a column whose cells are text like `±0.26`.
    #[must_use]
    pub fn numbers(self) -> &'static [Self] {
        match self.0 {
            "interval" => &[Self("quality-low"), Self("quality-high")],
            "adds" => &[
                Self("adds-latency"),
                Self("adds-throughput"),
                Self("adds-memory"),
                Self("adds-ahead"),
            ],
            _ => &[],
        }
    }

    /// Whether rows of this kind have the column.
    pub fn applies_to(self, kind: Kind) -> bool {
        self.field(kind).applies_to(kind)
    }
}

impl ValueEnum for ColumnName {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<ColumnName>> = LazyLock::new(|| {
            let mut all: Vec<ColumnName> = Vec::new();
            for column in fields().iter().map(|field| ColumnName(field.column)) {
                if !all.contains(&column) {
                    all.push(column);
                }
            }
            all
        });
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let field = self.field(Kind::Clocks);
        Some(
            PossibleValue::new(self.0)
                .help(field.about)
                .hide(field.is_end()),
        )
    }
}
