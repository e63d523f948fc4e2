//! The flags of the commands that measure timers: which timers, for how long, and where to store
//! the report.

use std::path::PathBuf;

use clap::Args;

use super::{HostArgs, OutputArgs, values};
use crate::platform::frequency::CyclesFrom;
use crate::report::Detail;

/// The flags that `probe`, `wait` and `period` share.
#[derive(Clone, Debug, Default, Args)]
pub struct RunArgs {
    /// Ids or globs of timers, as in 'monotonic*' or 'java:*'; all of them when none is given
    #[arg(value_name = "TIMER")]
    pub timers: Vec<String>,
    /// Measure less: a first look
    #[arg(long, conflicts_with = "thorough")]
    pub quick: bool,
    /// Measure more: narrower intervals, rarer quantiles
    #[arg(long)]
    pub thorough: bool,
    /// The hosts of the timers.
    #[command(flatten)]
    pub hosts: HostArgs,
    /// Frequency that turns time into cycles: effective, nominal, or a figure as in 2.8GHz
    #[arg(
        long,
        value_name = "FREQUENCY",
        default_value = "effective",
        allow_hyphen_values = true
    )]
    pub cycles: CyclesFrom,
    /// The output format and files.
    #[command(flatten)]
    pub output: OutputArgs,
    /// The length of the notes below the table.
    #[command(flatten)]
    pub detail: DetailArgs,
    /// Name of this machine in the report, which identifies it in tables and comparisons
    #[arg(long, value_name = "NAME", value_parser = values::node, overrides_with = "node")]
    pub node: Option<String>,
    /// Write the raw observations to this file (`-`: to standard output, and nothing else), from
    /// which `analyse` computes the report again
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Keep the run in DIR/<platform>/<date>/, with a page to read; DIR is reports where none is
    /// given
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true, default_missing_value = "reports")]
    pub save: Option<PathBuf>,
    /// Keep the report under this name and replace an older one; `compare NAME` prints what changed
    /// since
    #[arg(long, value_name = "NAME", value_parser = values::baseline)]
    pub baseline: Option<String>,
    /// Seed of all random choices
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::seed)]
    pub seed: Option<u64>,
    /// Time that the answers of one process of a timer may take together, as in 30s or 2m (seconds
    /// without a unit; rounded up) [default: 30s]
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, value_parser = values::whole_seconds)]
    pub timeout: Option<u64>,
    /// No progress, no hints
    #[arg(long, short)]
    pub quiet: bool,
}

/// The length of the notes below the table.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct DetailArgs {
    /// Length of the notes and of the description of the machine below the table
    #[arg(long, value_enum, default_value_t)]
    pub notes: Detail,
    /// The same as --notes full
    #[arg(long, short)]
    pub verbose: bool,
}

impl DetailArgs {
    /// The requested length of the notes.
    #[must_use]
    pub fn wanted(self) -> Detail {
        if self.verbose {
            Detail::Full
        } else {
            self.notes
        }
    }
}
