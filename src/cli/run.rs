//! The flags of the commands that measure timers: which timers, for how long, and where to store
//! the report.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::{AgentOptions, OutputArgs, values};
use crate::plan::Plan;
use crate::platform::frequency::CyclesFrom;
use crate::requests::RunRequest;
use reporting::report::Detail;

/// The flags that `probe` and `wait` share.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Ids or globs, as in 'monotonic*' or 'java:*' [default: all]
    #[arg(value_name = "TIMER")]
    pub timers: Vec<String>,
    /// Measure less: faster, with wider intervals
    #[arg(long, conflicts_with = "thorough")]
    pub quick: bool,
    /// Measure more: narrower intervals, rarer quantiles
    #[arg(long)]
    pub thorough: bool,
    /// The agents of the timers.
    #[command(flatten)]
    pub agents: AgentOptions,
    /// Frequency for converting times to cycles: effective, or a value as in 2.8GHz
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
    /// Also print the whole machine, and the causes and remedies of notes
    #[arg(long, short)]
    pub verbose: bool,
    /// Write the raw observations to this file
    ///
    /// `probe --from` computes the report from them. `-` is standard output; the report is then not
    /// printed.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Store the report in DIR/<platform>/<date>/, with a README.md [default DIR: reports]
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true, default_missing_value = "reports")]
    pub save: Option<PathBuf>,
    /// Store the report under this name, for `compare NAME`
    ///
    /// Replaces an older report of this name. `compare NAME` prints what changed since.
    #[arg(long, value_name = "NAME", value_parser = values::parse_baseline)]
    pub baseline: Option<String>,
    /// Seed of all random choices [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::parse_seed)]
    pub seed: Option<u64>,
    /// Time limit of one process of a timer, as in 30s or 2m [default: 30s]
    ///
    /// A number without a unit is in seconds; the limit is rounded up to whole seconds.
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, value_parser = values::parse_whole_seconds)]
    pub timeout: Option<u64>,
}

impl RunArgs {
    /// The requested length of the notes below the table.
    pub fn detail(&self) -> Detail {
        match self.verbose {
            true => Detail::Full,
            false => Detail::Short,
        }
    }

    /// The request of these flags, on this CPU.
    pub(super) fn request(&self, cpu: Option<u32>) -> RunRequest {
        let plan = match (self.quick, self.thorough) {
            (true, _) => Plan::QUICK,
            (_, true) => Plan::THOROUGH,
            _ => Plan::DEFAULT,
        };
        RunRequest {
            agents: self.agents.request(),
            plan: Plan {
                seed: self.seed.unwrap_or(plan.seed),
                placement: cpu.into(),
                timeout: self.timeout.map(Duration::from_secs),
                ..plan
            },
            cycles: self.cycles,
            ..RunRequest::of(&self.timers)
        }
    }
}
