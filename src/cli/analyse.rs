//! Arguments of `analyse`.

use std::path::PathBuf;

use clap::Args;

use super::{DetailArgs, OutputArgs};

/// Arguments of `analyse`.
#[derive(Clone, Debug, Args)]
pub struct AnalyseArgs {
    /// The trace
    #[arg(value_name = "FILE")]
    pub trace: PathBuf,
    /// The output format and files.
    #[command(flatten)]
    pub output: OutputArgs,
    /// The length of the notes below the table.
    #[command(flatten)]
    pub detail: DetailArgs,
    /// Keep the report in DIR/<platform>/<date>/ by what the trace tells, with a page to read; DIR
    /// is reports where none is given
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true, default_missing_value = "reports")]
    pub save: Option<PathBuf>,
}
