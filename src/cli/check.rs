//! The flags of `check`.

use clap::Args;

use super::ShortFormat;

/// Exit status of `check`.
pub(super) const EXIT_STATUS: &str = "\
Exit status:
  0  done, and nothing is a problem
  1  the command failed
  2  wrong usage
  3  done, and something is a problem";

/// Arguments of `check`.
#[derive(Clone, Debug, Args)]
pub struct CheckArgs {
    /// Judge the core and the frequency of this CPU; without it those of the quietest one
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub cpu: Option<u32>,
    /// Format of the output
    #[arg(long, value_enum, default_value_t)]
    pub format: ShortFormat,
}
