//! Arguments of `watch`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::ArgPredicate;

use super::{OutputArgs, values};

/// Arguments of `watch`.
#[derive(Clone, Debug, Args)]
pub struct WatchArgs {
    /// Duration, as in 30s, 15m or 8h; in seconds without a unit
    #[arg(value_name = "DURATION", required = false, required_unless_present = "from", default_value_if("from", ArgPredicate::IsPresent, Some("1h")), allow_negative_numbers = true, value_parser = values::parse_seconds)]
    pub duration: f64,
    /// Time between two samples of the clocks
    ///
    /// A shorter period detects shorter pauses and takes more CPU time.
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = values::parse_seconds)]
    pub period: f64,
    /// Shortest pause that is reported
    #[arg(long, value_name = "TIME", default_value = "20ms", value_parser = values::parse_seconds)]
    pub pause: f64,
    /// Append the events to this file, one JSON document per line
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Print the last watch in this file, which `--save` wrote, instead of watching
    #[arg(long, value_name = "FILE", conflicts_with_all = ["duration", "save", "period", "pause"])]
    pub from: Option<PathBuf>,
    /// The output format and files.
    #[command(flatten)]
    pub output: OutputArgs,
}
