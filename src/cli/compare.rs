//! Arguments of `compare`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::comparison::Condition;

/// Arguments of `compare`.
#[derive(Clone, Debug, Args)]
pub struct CompareArgs {
    /// The old report, or a folder of them: the new one is compared with each
    #[arg(value_name = "OLD")]
    pub old: PathBuf,
    /// The new report
    #[arg(value_name = "NEW")]
    pub new: PathBuf,
    /// End with status 3 when this holds of a difference that is more than noise and large enough to matter (0.5 % of
    /// a cost or an accuracy, 0.1 % of a Quality), as in 'quality<-1' (points), 'cost>10%', 'cost[monotonic*]>5ns', 'accuracy>0ns', 'spread<-0.05', or when 'lost>0' (timers without figures now) or 'trust<0' (a timer fails a question of
    /// trust that it did not fail; 'trust[monotonic*]<0' for some) (repeatable)
    #[arg(long, value_name = "CONDITION", allow_hyphen_values = true)]
    pub fail_if: Vec<Condition>,
    /// Show differences that are no more than noise as well
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
