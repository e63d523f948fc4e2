//! Arguments of `measure`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{StringValueParser, TypedValueParser as _};

use super::values::parse_share;
use super::{OutputArgs, values};
use crate::measure::Instrument;
use crate::quantity;
use crate::selection::native_clock;
use estimators::model::Nanos;

/// Arguments of `measure`.
#[derive(Debug, Args)]
pub struct MeasureArgs {
    /// Built-in operations [default: lists all]
    #[arg(value_name = "OPERATION")]
    pub operations: Vec<String>,
    /// The clock [default: chosen like `pick`]
    ///
    /// By default it is the clock that `pick` would pick: from the report of --from, or else from
    /// rdtsc-lfence and monotonic on this machine.
    #[arg(long, value_name = "TIMER", value_parser = StringValueParser::new().map(|name| native_clock(&name)))]
    pub clock: Option<String>,
    /// How
    #[arg(long, value_name = "METHOD", value_enum, default_value_t)]
    pub instrument: Instrument,
    /// Largest error due to the clock
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = parse_share, allow_hyphen_values = true)]
    pub error: f64,
    /// Sizes of the input, as in 100,10k,1M
    #[arg(long, value_name = "N", value_delimiter = ',', allow_negative_numbers = true, value_parser = values::whole_number_parser::<u64>(1..=100_000_000))]
    pub sizes: Vec<u64>,
    /// Number of valid samples [default: 10]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::whole_number_parser::<u32>(2..=100_000))]
    pub samples: Option<u32>,
    /// Duration of a run with --instrument throughput
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = quantity::parse_time, allow_hyphen_values = true)]
    pub time: Nanos,
    /// Time limit of an operation
    ///
    /// A number without a unit is in seconds; the limit is rounded up to whole seconds.
    #[arg(long, value_name = "TIME", default_value = "20s", allow_negative_numbers = true, value_parser = values::parse_whole_seconds)]
    pub budget: u64,
    /// Take the figures of the clock from this report (JSON) instead of measuring them
    #[arg(long, value_name = "REPORT")]
    pub from: Option<PathBuf>,
    /// Measure on this CPU [default: the quietest]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::parse_cpu)]
    pub cpu: Option<u32>,
    /// Seed of all random choices
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = values::parse_seed)]
    pub seed: u64,
    /// The output format and files.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Arguments of the process that measures one operation.
#[derive(Debug, Args)]
pub struct MeasureWorkerArgs {
    /// The request, as JSON
    #[arg(value_name = "REQUEST")]
    pub request: String,
}
