//! Arguments of `collect`.

use std::path::PathBuf;

use clap::Args;

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
