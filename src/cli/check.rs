//! Arguments of `check`.

use std::path::PathBuf;

use clap::Args;

use super::{OutputArgs, values};

/// Arguments of `check`.
#[derive(Clone, Debug, Args)]
pub struct CheckArgs {
    /// Judge the core and the frequency of this CPU; without it those of the quietest one
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::cpu)]
    pub cpu: Option<u32>,
    /// Judge instead whether a program may read the counter of the CPU directly (rdtsc, cntvct,
    /// rdtime): safe, safe until this machine is migrated, or unsafe, with the evidence, the gain
    /// and the risk
    #[arg(long)]
    pub counter: bool,
    /// Judge the machine of this report (JSON) instead of this one
    #[arg(long, value_name = "REPORT", conflicts_with_all = ["cpu", "counter", "sources"])]
    pub from: Option<PathBuf>,
    /// Print all findings with their remedies, including those that are fine; the default is
    /// remedies of problems only
    #[arg(long, short)]
    pub verbose: bool,
    /// List the clock sources that this kernel offers
    #[arg(long)]
    pub sources: bool,
    /// Measure them, one after the other, as root: the whole machine uses each for some seconds, and
    /// then the present one again, even if the run fails
    #[arg(long, requires = "sources")]
    pub yes: bool,
    /// Look below this folder for proc, sys and run (for tests)
    #[arg(long, hide = true, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// The output format and files.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Arguments of `counter-recipe`.
#[derive(Clone, Debug, Args)]
pub struct RecipeArgs {
    /// Its name
    pub recipe: String,
}
