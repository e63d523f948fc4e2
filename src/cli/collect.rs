//! Arguments of `collect` and `fleet`.

use std::path::PathBuf;

use clap::Args;

use crate::fields::Kind;

pub(super) const EXAMPLES: &str = "\
Examples:
  timermeter collect RUN --output fleet                 a folder of reports
  parallel ssh {} timermeter probe --quiet --node {} --format json :::: NODES | timermeter collect - --output fleet
  timermeter collect RUN --kind waits --output fleet-waits
  timermeter collect --compact --output fleet           one part of many, once a day
  duckdb -c \"SELECT host, cost_ns FROM 'fleet/**/*.parquet' WHERE timer = 'monotonic'\"";

/// Arguments of `collect`.
#[derive(Clone, Debug, Args)]
pub struct CollectArgs {
    /// Reports (.json), folders of them, and `-`, which is any number of reports one after the other
    #[arg(value_name = "REPORT", required_unless_present = "compact")]
    pub reports: Vec<PathBuf>,
    /// The dataset, a folder: made, or added to; a report that it holds is not added again
    #[arg(long, short, value_name = "DATASET")]
    pub output: PathBuf,
    /// Content of the rows; each kind is a dataset of its own
    #[arg(long, value_enum, default_value_t)]
    pub kind: Kind,
    /// Then merge the parts of each partition into one, all with the same columns; without REPORT do only that
    #[arg(long)]
    pub compact: bool,
}
