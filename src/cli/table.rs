//! Arguments of `table`.

use std::path::PathBuf;

use clap::Args;

use crate::table::Format;
use crate::tabulation::{Choice, Column, Layout};

/// Arguments of `table`.
#[derive(Clone, Debug, Args)]
pub struct TableArgs {
    /// Reports (.json) and folders of them
    #[arg(value_name = "REPORT", required = true)]
    pub reports: Vec<PathBuf>,
    /// Format of the output
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// How several platforms stand to each other
    #[arg(long, value_enum, default_value_t)]
    pub layout: Layout,
    /// Columns, in this order, parted by commas
    #[arg(long, value_enum, value_delimiter = ',', value_name = "COLUMN,…", hide_possible_values = false)]
    pub columns: Vec<Column>,
    /// Sort by this column, the best or smallest first; else as the reports have them
    #[arg(long, value_enum, value_name = "COLUMN", hide_possible_values = true)]
    pub sort: Option<Column>,
    /// Sort the other way round; without `--sort`, by Quality
    #[arg(long)]
    pub reverse: bool,
    /// Show timers without figures too
    #[arg(long)]
    pub all: bool,
}

impl TableArgs {
    /// What is to be shown; without `--columns` what fits the layout and, where it is a table for people, a `narrow` terminal, with the
    /// platform where there may be several.
    #[must_use]
    pub fn choice(&self, narrow: bool) -> Choice {
        let many = self.reports.len() > 1 || self.reports.iter().any(|path| path.is_dir());
        let columns = match self.layout {
            _ if !self.columns.is_empty() => self.columns.clone(),
            Layout::Beside => vec![Column::Timer, Column::Quality],
            Layout::Stacked => {
                let platform = many.then_some(Column::Platform);
                let figures = [
                    Column::Timer,
                    Column::Accuracy,
                    Column::Cost,
                    Column::CostCycles,
                    Column::Spread,
                    Column::Quality,
                    Column::Interval,
                    Column::Trust,
                ];
                let left_out: &[Column] = match (narrow, many) {
                    (false, _) => &[],
                    (true, false) => &[Column::CostCycles],
                    (true, true) => &[Column::CostCycles, Column::Interval],
                };
                let kept = |column: &Column| !left_out.contains(column);
                platform.into_iter().chain(figures).filter(kept).collect()
            }
        };
        let columns = match (self.layout, columns.contains(&Column::Timer)) {
            (Layout::Beside, false) => [vec![Column::Timer], columns].concat(),
            _ => columns,
        };
        Choice {
            columns,
            layout: self.layout,
            sort: self.sort.or(self.reverse.then_some(Column::Quality)).map(|column| (column, self.reverse)),
            all: self.all,
        }
    }
}
