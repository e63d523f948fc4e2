//! Arguments of `analyse`.

use std::path::PathBuf;

use clap::Args;

use super::{DetailArgs, OutputArgs};

/// Arguments of `analyse`.
#[derive(Clone, Debug, Args)]
pub struct AnalyseArgs {
    /// The trace file
    #[arg(value_name = "FILE")]
    pub trace: PathBuf,
    /// The output format and files.
    #[command(flatten)]
    pub output: OutputArgs,
    /// The length of the notes below the table.
    #[command(flatten)]
    pub detail: DetailArgs,
    /// Store the report in DIR/<platform>/<date>/, with a README.md [default DIR: reports]
    ///
    /// Platform and date are those of the trace.
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true, default_missing_value = "reports")]
    pub save: Option<PathBuf>,
}
