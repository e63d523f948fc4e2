//! The flags of `check`.

use std::path::PathBuf;

use clap::Args;

use super::{ShortFormat, values};

/// What the help of `check` ends with.
pub(super) const EXAMPLES: &str = "\
Examples:
  timermeter check                       what makes figures worse here
  timermeter check --counter             whether a program may read the raw counter of the CPU
  timermeter check --from report.json    what made them worse on another machine, or then
  timermeter check --tune                what would be changed; changes nothing
  sudo timermeter check --tune --apply   changes it, and writes down what it was
  sudo timermeter check --tune --undo    sets all of it back
  timermeter check --sources             which clock sources there are, and what is known of them
  sudo timermeter check --sources --yes  measures each of them, and sets the present one back";

/// Arguments of `check`.
#[derive(Clone, Debug, Args)]
pub struct CheckArgs {
    /// Judge the core and the frequency of this CPU; without it those of the quietest one
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::cpu)]
    pub cpu: Option<u32>,
    /// Tell instead whether a program may read the counter of the CPU by itself (rdtsc, cntvct, rdtime): safe, safe until this machine is moved,
    /// or unsafe, with the evidence, what it gains and what it risks
    #[arg(long, conflicts_with = "tune")]
    pub counter: bool,
    /// Judge the machine of this report (JSON) instead of this one
    #[arg(long, value_name = "REPORT", conflicts_with_all = ["cpu", "tune", "counter", "sources"])]
    pub from: Option<PathBuf>,
    /// All findings, those that are fine too, each with what to do; without it what to do about problems only
    #[arg(long, short)]
    pub verbose: bool,
    /// Tell instead which settings of the kernel would be changed to make the machine quieter, and what else could be done
    #[arg(long)]
    pub tune: bool,
    /// Change them, as root, and write down what they were
    #[arg(long, requires = "tune")]
    pub apply: bool,
    /// Set them back to what they were, as root
    #[arg(long, requires = "tune", conflicts_with = "apply")]
    pub undo: bool,
    /// Measure every clock source that this kernel offers, one after the other, as root: the whole machine goes by each for some seconds, and
    /// by the present one again whatever happens
    #[arg(long, conflicts_with = "tune")]
    pub sources: bool,
    /// Do not ask first
    #[arg(long, requires = "sources")]
    pub yes: bool,
    /// Reads of a clock a second that costs are told for: 100 000 unless specified otherwise, or as many as all programs make, where each is a
    /// system call and the kernel lets them be counted
    #[arg(long, requires = "sources", value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub reads: Option<u64>,
    /// Look below this folder for proc, sys and run (for tests)
    #[arg(long, hide = true, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Format of the output
    #[arg(long, short, value_enum, default_value_t)]
    pub format: ShortFormat,
}

/// Arguments of `counter-recipe`.
#[derive(Clone, Debug, Args)]
pub struct RecipeArgs {
    /// Its name
    pub recipe: String,
}
