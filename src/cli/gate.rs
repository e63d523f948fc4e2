//! Arguments of `gate`.

use std::path::PathBuf;

use clap::Args;

use super::{OutputArgs, values};
use crate::comparison::ChangeCondition;

/// Arguments of `gate`.
#[derive(Clone, Debug, Args)]
pub struct GateArgs {
    /// The earlier runs of this machine: a report, a folder of reports, or the name of a baseline
    ///
    /// `probe --baseline NAME` stores a baseline. Its native clocks are probed, with its
    /// measurement plan or, if that plan takes longer than --budget, with a shorter one.
    #[arg(value_name = "BASELINE")]
    pub baseline: PathBuf,
    /// Exit with status 3 if this condition on a change holds, as in 'cost>10%' (repeatable)
    ///
    /// The conditions are those of `compare`. Without this flag the clock that `timermeter`
    /// recommends for the baseline is judged: it may cost at most 10 % more (cost[ID]>10%), have a
    /// step at most 10 % longer (resolution[ID]>10%) and fail no further trust question
    /// (trust[ID]<0), and the kernel may not have changed to a more expensive clock source (source>0).
    #[arg(long, value_name = "CONDITION", allow_hyphen_values = true)]
    pub fail_if: Vec<ChangeCondition>,
    /// Time budget of all probes together, as in 30s or 2m [default: 60s]
    ///
    /// A number without a unit is in seconds. The first probe runs in any case; a further one
    /// starts only if it should end within the budget.
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, value_parser = values::parse_seconds)]
    pub budget: Option<f64>,
    /// The output format and files.
    #[command(flatten)]
    pub output: OutputArgs,
}
