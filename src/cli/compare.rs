//! Arguments of `compare`.

use std::path::PathBuf;

use clap::Args;

use super::OutputArgs;
use crate::comparison::Condition;

/// Arguments of `compare`.
#[derive(Clone, Debug, Args)]
pub struct CompareArgs {
    /// The old report and the new one: files, or names that `probe --baseline` kept them under.
    /// Without a new one this machine is probed now, the native timers of the old one in its
    /// profile. Before `--`: all the old reports of one machine. A word without a dot and a slash
    /// is a name unless there is a file called so; where there are both, it is refused
    #[arg(value_name = "OLD", required = true)]
    pub reports: Vec<PathBuf>,
    /// After `--`: the new reports of the same machine, files, names or folders. The variation
    /// between the runs of a side is then measured, and smaller changes are found: five runs per
    /// side are good
    #[arg(value_name = "NEW", last = true)]
    pub new: Vec<PathBuf>,
    /// Other runs of the same machine, files, names or folders, between which nothing changed: a
    /// change is compared with the variation between them. With ten of them, one run per side finds
    /// what otherwise takes five runs per side. Runs that are on a side count there
    #[arg(long, value_name = "REPORT", num_args = 1..)]
    pub history: Vec<PathBuf>,
    /// End with status 3 when this holds of a difference that is more than noise and large enough
    /// to matter (0.5 % of a cost or a resolution, 0.1 % of a Quality), and with 4 when it cannot be
    /// told, as in 'quality<-1' (points), 'cost>10%', 'cost[monotonic*]>5ns', 'resolution>0ns',
    /// 'spread<-0.05', or when 'lost>0' (timers without figures now) or 'trust<0' (a timer fails a
    /// question of trust that it did not fail; 'trust[monotonic*]<0' for some) (repeatable)
    #[arg(long, value_name = "CONDITION", allow_hyphen_values = true)]
    pub fail_if: Vec<Condition>,
    /// Compare with a baseline of the same model of CPU only: with one of another, or of a CPU that
    /// it does not tell, end with status 4
    #[arg(long)]
    pub same_cpu: bool,
    /// Also show differences within noise
    #[arg(long)]
    pub all: bool,
    /// The output format and files.
    #[command(flatten)]
    pub output: OutputArgs,
}

impl CompareArgs {
    /// Whether the comparison needs a probe of this machine.
    #[must_use]
    pub fn probes(&self) -> bool {
        self.reports.len() == 1 && self.new.is_empty()
    }
}
