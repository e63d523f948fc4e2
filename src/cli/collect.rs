//! Arguments of `collect` and `fleet`.

use std::path::PathBuf;

use clap::Args;

use super::CompareFormat;
use crate::fields::Kind;

pub(super) const EXAMPLES: &str = "\
Examples:
  timermeter collect RUN --output fleet                 a folder of reports
  parallel ssh {} timermeter probe --quiet --node {} --format json :::: NODES | timermeter collect - --output fleet
  timermeter collect RUN --kind waits --output fleet-waits
  duckdb -c \"SELECT host, cost_ns FROM 'fleet/**/*.parquet' WHERE timer = 'monotonic'\"";

/// Arguments of `collect`.
#[derive(Clone, Debug, Args)]
pub struct CollectArgs {
    /// Reports (.json), folders of them, and `-`, which is any number of reports one after the other
    #[arg(value_name = "REPORT", required = true)]
    pub reports: Vec<PathBuf>,
    /// The dataset, a folder: made, or added to; a report that it holds is not added again
    #[arg(long, short, value_name = "DATASET")]
    pub output: PathBuf,
    /// What the rows are of; each kind is a dataset of its own
    #[arg(long, value_enum, default_value_t)]
    pub kind: Kind,
}

pub(super) const FLEET_EXAMPLES: &str = "\
Examples:
  timermeter fleet RUN                                  who stands out, each thing once
  timermeter fleet RUN --format json | jq -r '.findings[] | \"\\(.kind): \\(.what): \\(.nodes | length)\"'";

/// Arguments of `fleet`.
#[derive(Clone, Debug, Args)]
pub struct FleetArgs {
    /// The folder of reports
    #[arg(value_name = "RUN")]
    pub folder: PathBuf,
    /// Tell all that stands out, and not only the first twenty things
    #[arg(long)]
    pub all: bool,
    /// Format on standard output
    #[arg(long, short, value_enum, default_value_t)]
    pub format: CompareFormat,
}
