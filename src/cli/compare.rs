//! Arguments of `compare`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::comparison::Condition;

/// What the help of `compare` ends with.
pub(super) const EXAMPLES: &str = "\
Examples:
  timermeter compare old.json new.json
  timermeter compare reports new.json --fail-if 'quality<-1'
  timermeter compare before/ after/ two folders, a report a node: what changed in the fleet
  timermeter compare before         a baseline, with this machine as it is now
  timermeter compare before after   two baselines";

/// Arguments of `compare`.
#[derive(Clone, Debug, Args)]
pub struct CompareArgs {
    /// The old report: a file, or the name that `probe --baseline` kept it under; or a folder of reports: the new one is compared with
    /// each. A word without a dot and a slash is a name unless there is a file called so; where there are both, it is refused
    #[arg(value_name = "OLD")]
    pub old: PathBuf,
    /// The new report, likewise; or, where OLD is a folder, another one: then what changed in the fleet is told, by a random-effects
    /// model over the nodes that are in both. A node is called by its folder or file below the one that is named. Without NEW this
    /// machine is probed now, the native timers of OLD in its profile
    #[arg(value_name = "NEW")]
    pub new: Option<PathBuf>,
    /// End with status 3 when this holds of a difference that is more than noise and large enough to matter (0.5 % of
    /// a cost or an accuracy, 0.1 % of a Quality), as in 'quality<-1' (points), 'cost>10%', 'cost[monotonic*]>5ns', 'accuracy>0ns', 'spread<-0.05', or when 'lost>0' (timers without figures now) or 'trust<0' (a timer fails a question of
    /// trust that it did not fail; 'trust[monotonic*]<0' for some) (repeatable)
    #[arg(long, value_name = "CONDITION", allow_hyphen_values = true)]
    pub fail_if: Vec<Condition>,
    /// Show differences that are no more than noise as well, and of a fleet every node that changed unlike the rest
    #[arg(long)]
    pub all: bool,
    /// Format of the output
    #[arg(long, value_enum, default_value_t)]
    pub format: CompareFormat,
}

/// The formats of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum CompareFormat {
    /// For people
    #[default]
    Table,
    /// Everything, noise too
    Json,
    /// For a page or a pull request
    Markdown,
}
