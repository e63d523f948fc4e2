//! Arguments of `check`.

use std::path::PathBuf;

use clap::Args;

use super::{OutputArgs, values};

/// Arguments of `check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Judge the core and the frequency of this CPU [default: the quietest]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::parse_cpu)]
    pub cpu: Option<u32>,
    /// Judge instead whether programs may read the CPU counter directly (rdtsc, cntvct, rdtime)
    ///
    /// The verdict is "safe with a fence", "safe until this machine is moved", "unsafe" or "not proven", with the
    /// evidence, the gain and the risk.
    #[arg(long)]
    pub counter: bool,
    /// Judge the machine of this report (JSON) instead of this one
    ///
    /// Of a folder, or of several reports, the verdict on each machine in a line: whether its
    /// CLOCK_MONOTONIC can be trusted, and is read in user mode in less than 100 ns.
    #[arg(long, value_name = "REPORT", num_args = 1.., conflicts_with_all = ["cpu", "counter"])]
    pub from: Vec<PathBuf>,
    /// Print all findings, with their remedies, and the facts about the machine
    ///
    /// By default only problems and notes are printed, and remedies only for problems.
    #[arg(long, short)]
    pub verbose: bool,
    /// The output format and files.
    #[command(flatten)]
    pub output: OutputArgs,
}
