//! Arguments of `table`.

use std::path::PathBuf;
use std::sync::LazyLock;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};

use super::OutputArgs;
use crate::fields::Kind;
use crate::tabulation::{ColumnName, Layout, TableChoice};

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
            Self::All => Some(
                PossibleValue::new("all").help("All columns and rows, as CSV or Parquet for SQL"),
            ),
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
    /// Content of the rows: clocks, sleep primitives or periodic timers
    ///
    /// The default is the first of these that the reports have.
    #[arg(long, value_enum)]
    pub kind: Option<Kind>,
    /// A row for each platform instead of each timer
    ///
    /// Each row has the figures of the newest run.
    #[arg(long, value_enum, conflicts_with_all = ["kind", "layout", "columns", "sort", "reverse", "top", "all"])]
    pub by: Option<RowOf>,
    /// The output format and files.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Arrangement of several platforms
    #[arg(long, value_enum, default_value_t)]
    pub layout: Layout,
    /// Columns in this order, separated by commas, or all
    ///
    /// `timermeter explain` lists them. `NAME-low` and `NAME-high` are the ends of an interval. `all`
    /// writes one row per timer with all columns, whose names suit SQL, as CSV or Parquet.
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "COLUMN,…",
        hide_possible_values = true
    )]
    pub columns: Vec<Columns>,
    /// Sort by this column, the best or smallest first
    ///
    /// By default the rows have the order of the reports.
    #[arg(long, value_enum, value_name = "COLUMN", hide_possible_values = true)]
    pub sort: Option<ColumnName>,
    /// Reverse the order; without --sort, the order by Quality or median lateness
    #[arg(long)]
    pub reverse: bool,
    /// Only the first N rows
    ///
    /// N rows of each report are printed, or N rows in total if the rows of all reports are sorted
    /// together or the reports are side by side.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = super::values::whole_number_parser::<usize>(1..=1_000_000))]
    pub top: Option<usize>,
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

    /// The tables that may be shown, the preferred one first: the table of the requested kind, or
    /// else of each kind that has all named columns, or else of all kinds. `narrow` says that the
    /// terminal does not fit all default columns.
    #[must_use]
    pub fn choices(&self, narrow: bool) -> Vec<TableChoice> {
        let named: Vec<ColumnName> = self.column_names().into_iter().chain(self.sort).collect();
        let all = Kind::value_variants();
        let has_named = |kind: &Kind| named.iter().all(|column| column.applies_to(*kind));
        let kinds: Vec<Kind> = all.iter().copied().filter(has_named).collect();
        let kinds = match self.kind {
            Some(kind) => vec![kind],
            None if kinds.is_empty() => all.to_vec(),
            None => kinds,
        };
        kinds
            .into_iter()
            .map(|kind| self.choice(kind, narrow))
            .collect()
    }

    /// The table of this kind. Without `--columns` it has the default columns for the layout and
    /// for a `narrow` terminal, and the platform if there may be several.
    fn choice(&self, kind: Kind, narrow: bool) -> TableChoice {
        let has_platforms = self.reports.len() > 1 || self.reports.iter().any(|path| path.is_dir());
        let main_column = if kind == Kind::Clocks {
            ColumnName::QUALITY
        } else {
            ColumnName::LATENESS
        };
        let columns = match self.layout {
            _ if !self.columns.is_empty() => self.column_names(),
            Layout::SideBySide => vec![ColumnName::TIMER, main_column],
            Layout::Stacked => {
                let platform = has_platforms.then_some(ColumnName::PLATFORM);
                platform
                    .into_iter()
                    .chain(ColumnName::by_default(kind, has_platforms, narrow))
                    .collect()
            }
        };
        let columns = match (self.layout, columns.contains(&ColumnName::TIMER)) {
            (Layout::SideBySide, false) => [vec![ColumnName::TIMER], columns].concat(),
            _ => columns,
        };
        TableChoice {
            kind,
            columns,
            has_named_columns: !self.columns.is_empty(),
            layout: self.layout,
            sort: self
                .sort
                .or(self.reverse.then_some(main_column))
                .map(|column| (column, self.reverse)),
            all: self.all,
            top: self.top,
        }
    }
}
