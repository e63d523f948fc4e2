//! The flags of `check`.

use clap::Args;

use super::{ShortFormat, values};

/// Arguments of `check`.
#[derive(Clone, Debug, Args)]
pub struct CheckArgs {
    /// Judge the core and the frequency of this CPU; without it those of the quietest one
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::cpu)]
    pub cpu: Option<u32>,
    /// Format of the output
    #[arg(long, value_enum, default_value_t)]
    pub format: ShortFormat,
}
