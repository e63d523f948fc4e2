//! The columns that a table of reports can have, by the names that people choose them by.

use std::sync::LazyLock;

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::fields::{Field, Kind, Room, default_columns, fields};

/// A column, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnName(&'static str);

impl ColumnName {
    /// The timer, by which rows are told apart.
    pub const TIMER: Self = Self("timer");
    /// The machine.
    pub const PLATFORM: Self = Self("platform");
    /// The file of the report.
    pub const FILE: Self = Self("file");
    /// Formula (1), by which clocks are sorted.
    pub const QUALITY: Self = Self("quality");
    /// Median lateness, by which timers that wait are.
    pub const LATENESS: Self = Self("late-p50");

    /// What is shown of rows of a kind by default: of one report or of many, on a narrow terminal
    /// or not.
    #[must_use]
    pub fn by_default(kind: Kind, many: bool, narrow: bool) -> Vec<Self> {
        let most = match (narrow, many) {
            (false, _) => Room::Wide,
            (true, false) => Room::OneReport,
            (true, true) => Room::Always,
        };
        // Most reports do not have these.
        default_columns(kind, most)
            .filter(|field| !["adds", "quality_printed"].contains(&field.key))
            .map(|field| Self(field.column))
            .collect()
    }

    /// What it shows of rows of a kind; of another kind, where this one lacks it.
    pub(super) fn field(self, kind: Kind) -> &'static Field {
        let all = || fields().iter().filter(|field| field.column == self.0);
        all()
            .find(|field| field.is_of(kind))
            .or(all().next())
            .expect("columns are made of fields")
    }

    /// Whether rows of that kind have it.
    #[must_use]
    pub fn is_of(self, kind: Kind) -> bool {
        self.field(kind).is_of(kind)
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
