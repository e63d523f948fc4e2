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
    /// Show the timers of this report (JSON) instead of measuring them
    ///
    /// `-` is standard input. `analyse` computes a report from a trace.
    #[arg(long, value_name = "REPORT", conflicts_with_all = ["agents", "runtimes", "cpu"])]
    pub from: Option<PathBuf>,
    /// Print all details
    ///
    /// All verdicts with their evidence, all lengths of waits, plots, causes and remedies, and the
    /// description of the machine.
    #[arg(long, short)]
    pub verbose: bool,
    /// Also write the plots to this folder, as SVG
    #[arg(long, value_name = "DIR")]
    pub svg: Option<PathBuf>,
    /// The hosts of the timers.
    #[command(flatten)]
    pub hosts: HostArgs,
    /// Measure on this CPU
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::parse_cpu)]
    pub cpu: Option<u32>,
    /// The output format and files.
    #[command(flatten)]
    pub output: OutputArgs,
}
