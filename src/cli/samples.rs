//! Arguments of `samples`.

use std::path::PathBuf;

use clap::Args;

use super::OutputArgs;
use reporting::durations::TimeUnit;

/// Arguments of `samples`.
#[derive(Debug, Args)]
pub struct SamplesArgs {
    /// Files of durations; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// The column, by its heading or number; `cpu_time` reads the CPU times of google/benchmark
    #[arg(long, value_name = "NAME|N")]
    pub column: Option<String>,
    /// The unit of text [default: by the heading, else ns for whole numbers and s for others]
    #[arg(long, value_enum, value_name = "UNIT")]
    pub unit: Option<TimeUnit>,
    /// The output format and files.
    #[command(flatten)]
    pub output: OutputArgs,
}
