//! Arguments of `gate`.

use std::path::PathBuf;

use clap::Args;

use super::{OutputArgs, values};
use reporting::comparison::ChangeCondition;

/// Arguments of `gate`.
#[derive(Debug, Args)]
pub struct GateArgs {
    /// The earlier runs of this machine: a report, a folder of reports, or the name of a baseline
    ///
    /// `probe --baseline NAME` stores a baseline. Its native clocks are probed with the quick plan.
    #[arg(value_name = "BASELINE")]
    pub baseline: PathBuf,
    /// Exit with status 3 if this condition on a change holds, as in 'cost>10%' (repeatable)
    ///
    /// The conditions are those of `compare`: on cost, resolution, trust, source and lost.
    #[arg(long, value_name = "CONDITION", allow_hyphen_values = true, default_values = ["cost>10%", "resolution>10%", "trust<0", "source>0"])]
    pub fail_if: Vec<ChangeCondition>,
    /// Time budget of all probes together, as in 30s or 2m
    ///
    /// A number without a unit is in seconds. The first probe runs in any case; a further one
    /// starts only within the budget.
    #[arg(long, value_name = "TIME", default_value = "60s", allow_negative_numbers = true, value_parser = values::parse_seconds)]
    pub budget: f64,
    /// The output format and files.
    #[command(flatten)]
    pub output: OutputArgs,
}
