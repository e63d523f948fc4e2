//! Arguments of `analyse`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};

use super::keep::DetailArgs;
use super::{Output, values};
use crate::table::Format;

/// Arguments of `analyse`.
#[derive(Clone, Debug, Args)]
pub struct AnalyseArgs {
    /// The trace
    #[arg(value_name = "FILE")]
    pub trace: PathBuf,
    /// Format on standard output
    #[arg(long, short, value_parser = values::formats(Format::REPORT), default_value = "table")]
    pub format: Format,
    /// How much the table says.
    #[command(flatten)]
    pub detail: DetailArgs,
    /// Write the report to this file as well; its ending says how: .json, .csv, .md, .prom or .txt
    /// (repeatable)
    #[arg(short = 'o', long = "output", value_name = "FILE", value_parser = PathBufValueParser::new().try_map(Output::parse))]
    pub outputs: Vec<Output>,
    /// Keep the report in DIR/<platform>/<date>/ by what the trace tells, with a page to read; DIR
    /// is reports where none is given
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = "reports")]
    pub save: Option<PathBuf>,
}
