//! Where a run is kept, besides what is printed.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};

use super::{Output, values};

/// Where a run is kept.
#[derive(Clone, Debug, Default, Args)]
pub struct KeepArgs {
    /// Write the report to this file as well; its ending says how: .json, .csv, .md, .prom or .txt (repeatable)
    #[arg(short = 'o', long = "output", value_name = "FILE", value_parser = PathBufValueParser::new().try_map(Output::parse))]
    pub outputs: Vec<Output>,
    /// Write the raw observations to this file (`-`: to standard output, and nothing else), from which `analyse` computes the report again
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Keep the run in DIR/<platform>/<date>/, with a page to read; DIR is reports where none is given
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = "reports")]
    pub save: Option<PathBuf>,
    /// Keep the report under this name, over an older one of the name; `compare NAME` tells what changed since
    #[arg(long, value_name = "NAME", value_parser = values::baseline)]
    pub baseline: Option<String>,
}
