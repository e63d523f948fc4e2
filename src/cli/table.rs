//! Arguments of `table`.

use std::path::PathBuf;

use clap::Args;

use super::OutputArgs;
use reporting::fields::{Field, Kind};
use reporting::tabulation::{ColumnName, RowOf, TableChoice};

/// Arguments of `table`.
#[derive(Debug, Args)]
pub struct TableArgs {
    /// Reports (.json) and folders of them
    #[arg(value_name = "REPORT", required = true)]
    pub reports: Vec<PathBuf>,
    /// A row for each platform or CPU model instead of each timer
    ///
    /// Each row has the figures of the newest run.
    #[arg(long, value_enum)]
    pub by: Option<RowOf>,
    /// The output format and files.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Columns in this order, separated by commas, or all
    ///
    /// `timermeter explain` lists them. CSV and JSON add
    /// the ends of intervals. `all`
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
    pub columns: Vec<ColumnName>,
    /// Also show timers without figures
    #[arg(long, conflicts_with = "by")]
    pub all: bool,
}

impl TableArgs {
    /// The tables that may be shown, the preferred one first: of each kind that has all named
    /// columns. Rows of platforms show clocks.
    pub fn choices(&self) -> Vec<TableChoice> {
        let kinds = match self.by {
            Some(_) => &Kind::ALL[..1],
            None => &Kind::ALL,
        };
        let named = |kind: Kind| -> Option<Vec<&'static Field>> {
            let columns = self.columns.iter();
            let mut fields = Vec::new();
            for column in columns {
                let field = column.field(kind)?;
                if !fields.contains(&field) {
                    fields.push(field);
                }
            }
            Some(fields)
        };
        let choice = |&kind: &Kind| {
            let default = TableChoice::by_default(kind, self.by);
            let has_named_columns = !self.columns.is_empty();
            let columns = match has_named_columns {
                true => named(kind)?,
                false => default.columns.clone(),
            };
            Some(TableChoice {
                columns,
                has_named_columns,
                all: self.all,
                ..default
            })
        };
        kinds.iter().filter_map(choice).collect()
    }
}
