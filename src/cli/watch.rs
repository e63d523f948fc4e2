//! Arguments of `watch`.

use std::path::PathBuf;

use clap::Args;

use super::values;
use crate::table::Format;

/// Arguments of `watch`.
#[derive(Clone, Debug, Args)]
pub struct WatchArgs {
    /// Duration, as in 30s, 15m or 8h (seconds without a unit)
    #[arg(value_name = "DURATION", allow_negative_numbers = true, value_parser = values::seconds)]
    pub duration: f64,
    /// Period at which the clocks are read; a shorter one locates pauses more precisely and takes
    /// more CPU time
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = values::seconds)]
    pub period: f64,
    /// Shortest pause that is reported
    #[arg(long, value_name = "TIME", default_value = "20ms", value_parser = values::seconds)]
    pub pause: f64,
    /// Append events to this file, one JSON document per line; without a name to the file that
    /// `check` reads
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    pub save: Option<Option<PathBuf>>,
    /// Format of the output: one line per event either way
    #[arg(long, short, value_parser = super::output::formats(Format::EVENTS), default_value = "table")]
    pub format: Format,
}
