//! Arguments of `measure` and `rehearse`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{AgentSpec, values};
use crate::method::requirement::share;
use crate::model::Nanos;
use crate::quantity;

/// What the help of `measure` ends with.
pub const MEASURE_EXAMPLES: &str = "\
Examples:
  timermeter measure                                  what can be measured
  timermeter measure log-chain multiply --clock monotonic
  timermeter measure search-same search-random --sizes 100,10000,1000000 --format gnuplot
  timermeter measure selection-sort quicksort heapsort --plot sorts.svg
  timermeter measure clone new-and-copy --instrument throughput --time 100ms
  timermeter measure log-chain --instrument discrete --clock realtime-coarse --error 5% --limit 60
  timermeter measure --samples 20 -- sleep 0.01";

/// What the help of `rehearse` ends with.
pub const REHEARSE_EXAMPLES: &str = "\
Examples:
  timermeter rehearse                            every clock, every method
  timermeter rehearse 'monotonic*' --op log-chain
  timermeter rehearse --from report.json --format json";

/// Arguments of `measure`.
#[derive(Clone, Debug, Args)]
pub struct MeasureArgs {
    /// Built-in operations; without any, and without a command, they are listed
    #[arg(value_name = "OPERATION")]
    pub operations: Vec<String>,
    /// The clock to measure with; without it the first that this machine has of rdtsc-lfence and monotonic, or with `--from` the
    /// one of the highest Quality, among those that count wall time, cannot be set, have a step that is known, and whose reads wait
    /// for the work before them (are fenced)
    #[arg(long, value_name = "TIMER")]
    pub clock: Option<String>,
    /// How to measure
    #[arg(long, value_enum, default_value_t)]
    pub instrument: InstrumentName,
    /// The error that the clock may make
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = share, allow_hyphen_values = true)]
    pub error: f64,
    /// How sure the interval has to hold
    #[arg(long, value_name = "SHARE", default_value = "95%", value_parser = share, allow_hyphen_values = true)]
    pub confidence: f64,
    /// Sizes of the problem, as in 100,10k,1M
    #[arg(long, value_name = "N", value_delimiter = ',', allow_negative_numbers = true, value_parser = values::whole::<u64>(1..=100_000_000))]
    pub sizes: Vec<u64>,
    /// Samples that have to be valid
    #[arg(long, value_name = "N", default_value_t = 10, allow_negative_numbers = true, value_parser = values::whole::<u32>(2..=100_000))]
    pub samples: u32,
    /// How long a run of the throughput instrument takes
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = quantity::time, allow_hyphen_values = true)]
    pub time: Nanos,
    /// Seconds, or a time as in 500ms (rounded up), after which a trial has failed
    #[arg(long, value_name = "SECONDS", default_value_t = 20, allow_negative_numbers = true, value_parser = values::limit)]
    pub limit: u64,
    /// Draw the mean time a call against the size into this SVG file (`-`: to standard output, and nothing else)
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Take the figures of the clock from this report (JSON) instead of probing
    #[arg(long, value_name = "REPORT")]
    pub from: Option<PathBuf>,
    /// Measure on this CPU
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::cpu)]
    pub cpu: Option<u32>,
    /// Seed of all random choices
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = values::seed)]
    pub seed: u64,
    /// Format of the output
    #[arg(long, value_enum, default_value_t)]
    pub format: MeasureFormat,
    /// A command to measure instead, each run a sample
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// Arguments of `rehearse`.
#[derive(Clone, Debug, Args)]
pub struct RehearseArgs {
    /// Ids or globs of clocks; all native ones when none is given
    #[arg(value_name = "TIMER")]
    pub timers: Vec<String>,
    /// The operation; a chain of multiplications unless specified otherwise
    #[arg(long = "op", value_name = "NAME", default_value = "chain")]
    pub operation: String,
    /// The error that plans are made for
    #[arg(long, value_name = "SHARE", default_value = "5%", value_parser = share, allow_hyphen_values = true)]
    pub error: f64,
    /// The confidence that plans are made for
    #[arg(long, value_name = "SHARE", default_value = "95%", value_parser = share, allow_hyphen_values = true)]
    pub confidence: f64,
    /// Samples a clock and method
    #[arg(long, value_name = "N", default_value_t = 12, allow_negative_numbers = true, value_parser = values::whole::<u32>(5..=1_000))]
    pub samples: u32,
    /// Milliseconds, or a time as in 2s, that a clock and method may take; what does not fit promises less
    #[arg(long, value_name = "MS", default_value_t = 600, allow_negative_numbers = true, value_parser = values::budget)]
    pub budget: u64,
    /// Take the figures of the clocks from this report (JSON) instead of probing
    #[arg(long, value_name = "REPORT")]
    pub from: Option<PathBuf>,
    /// Measure on this CPU
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::cpu)]
    pub cpu: Option<u32>,
    /// Format of the output
    #[arg(long, value_enum, default_value_t)]
    pub format: MeasureFormat,
}

/// Arguments of the process that measures one operation.
#[derive(Clone, Debug, Args)]
pub struct MeasureWorkerArgs {
    /// What to measure, as JSON
    #[arg(value_name = "REQUEST")]
    pub request: String,
}

/// How to measure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum InstrumentName {
    /// Batches that double until they are long enough for the clock (Sestoft)
    #[default]
    Adaptive,
    /// How often in a given time (Kabutz)
    Throughput,
    /// Edge-crossing beside classic
    Discrete,
    /// Instances and bytes a call (Caliper)
    Allocations,
    /// Weighted samples around one length, varied at random (Caliper)
    Micro,
    /// Single calls, each a sample (Caliper)
    Macro,
}

/// The formats of measurements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum MeasureFormat {
    /// A table for people
    #[default]
    Table,
    /// One line a measurement, for spreadsheets
    Csv,
    /// JSON
    Json,
    /// Columns for gnuplot, the platform in comments; a block an operation
    Gnuplot,
}

/// Nobody hosts an agent for these commands.
pub(crate) const NO_AGENTS: &[AgentSpec] = &[];
