//! Arguments of `table`.

use std::path::PathBuf;
use std::sync::LazyLock;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};

use super::OutputArgs;
use crate::fields::Kind;
use crate::tabulation::{ColumnName, TableChoice};

/// A value of `--columns`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columns {
    /// All columns.
    All,
    /// The named column.
    One(ColumnName),
}

impl ValueEnum for Columns {
    fn value_variants<'a>() -> &'a [Self] {
        static VARIANTS: LazyLock<Vec<Columns>> = LazyLock::new(|| {
            let one = ColumnName::value_variants()
                .iter()
                .copied()
                .map(Columns::One);
            std::iter::once(Columns::All).chain(one).collect()
        });
        &VARIANTS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::All => {
                Some(PossibleValue::new("all").help("All columns and rows, as CSV for SQL"))
            }
            Self::One(name) => name.to_possible_value(),
        }
    }
}

/// What a row of the table is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RowOf {
    /// A machine with its clock source: its best clock, its counter, a sleep of 1 ms
    Platform,
}

/// Arguments of `table`.
#[derive(Clone, Debug, Args)]
pub struct TableArgs {
    /// Reports (.json) and folders of them
    #[arg(value_name = "REPORT", required = true)]
    pub reports: Vec<PathBuf>,
    /// A row for each platform instead of each timer
    ///
    /// Each row has the figures of the newest run.
    #[arg(long, value_enum, conflicts_with_all = ["columns", "all"])]
    pub by: Option<RowOf>,
    /// The output format and files.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Columns in this order, separated by commas, or all
    ///
    /// `timermeter explain` lists them. `NAME-low` and `NAME-high` are the ends of an interval. `all`
    /// writes one row per timer with all columns, whose names suit SQL, as CSV. The rows
    /// are clocks, sleep primitives or periodic timers: the first of these that the reports have and
    /// that has all columns.
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "COLUMN,…",
        hide_possible_values = true
    )]
    pub columns: Vec<Columns>,
    /// Also show timers without figures
    #[arg(long)]
    pub all: bool,
}

impl TableArgs {
    /// The columns of `--columns` without `all`, and those with their numbers for programs.
    fn column_names(&self) -> Vec<ColumnName> {
        let named = |column: &Columns| match column {
            Columns::One(name) => [&[*name], name.numbers()].concat(),
            Columns::All => Vec::new(),
        };
        self.columns.iter().flat_map(named).collect()
    }

    /// The tables that may be shown, the preferred one first: of each kind that has all named
    /// columns, or else of all kinds. `narrow` says that the terminal does not fit all default
    /// columns.
    #[must_use]
    pub fn choices(&self, narrow: bool) -> Vec<TableChoice> {
        let named = self.column_names();
        let has_named = |kind: &Kind| named.iter().all(|column| column.applies_to(*kind));
        let kinds: Vec<Kind> = Kind::ALL.into_iter().filter(has_named).collect();
        let kinds = if kinds.is_empty() {
            Kind::ALL.to_vec()
        } else {
            kinds
        };
        kinds
            .into_iter()
            .map(|kind| self.choice(kind, narrow))
            .collect()
    }

    /// The table of this kind. Without `--columns` it has the default columns for a `narrow`
    /// terminal, and the platform if there may be several.
    fn choice(&self, kind: Kind, narrow: bool) -> TableChoice {
        let has_platforms = self.reports.len() > 1 || self.reports.iter().any(|path| path.is_dir());
        let columns = if self.columns.is_empty() {
            let platform = has_platforms.then_some(ColumnName::PLATFORM);
            let default = ColumnName::by_default(kind, narrow);
            platform.into_iter().chain(default).collect()
        } else {
            self.column_names()
        };
        TableChoice {
            kind,
            columns,
            has_named_columns: !self.columns.is_empty(),
            all: self.all,
        }
    }
}
