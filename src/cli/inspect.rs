//! Arguments of `inspect`.

use std::path::PathBuf;

use clap::Args;

use super::{HostArgs, OutputArgs, values};

/// Arguments of `inspect`.
#[derive(Clone, Debug, Args)]
pub struct InspectArgs {
    /// Ids or globs of timers
    #[arg(value_name = "TIMER", required = true)]
    pub timers: Vec<String>,
    /// Show them as they are in this report (`-` is standard input) instead of measuring them,
    /// quickly; of a trace `analyse` makes a report
    #[arg(long, value_name = "REPORT", conflicts_with_all = ["agents", "runtimes", "cpu"])]
    pub from: Option<PathBuf>,
    /// Print everything: all verdicts and evidence, each length of waits, plots, causes and
    /// remedies, and the whole machine
    #[arg(long, short)]
    pub verbose: bool,
    /// Write the figures to this folder as well, as SVG fit for a paper
    #[arg(long, value_name = "DIR")]
    pub svg: Option<PathBuf>,
    /// The hosts of the timers.
    #[command(flatten)]
    pub hosts: HostArgs,
    /// Measure on this CPU
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::cpu)]
    pub cpu: Option<u32>,
    /// The output format and files.
    #[command(flatten)]
    pub output: OutputArgs,
}
