//! Arguments of `pick`.

use std::path::PathBuf;

use clap::Args;

use super::{AgentSpec, ShortFormat};
use crate::method::requirement::{rate, share};
use crate::method::{Counts, Need};
use crate::model::Nanos;
use crate::quantity;

/// What the help of `pick` ends with.
pub const EXAMPLES: &str = "\
Examples:
  timermeter pick --duration 250ns --error 1%
  timermeter pick --duration 10us --error 5% --rate 10000/s --overhead 1%
  timermeter pick --duration 2ms --error 1% --counts thread
  timermeter pick --duration 5us --error 1% --runtime java
  timermeter pick --duration 1ms --error 1% --needs threads,no-slew --from report.json
  timermeter pick --every 1ms --within 50us --share 99% --overhead 2%";

/// Arguments of `pick`.
#[derive(Clone, Debug, Args)]
pub struct PickArgs {
    /// How long the operation takes, roughly, as in 250ns or 3ms
    #[arg(long, value_name = "TIME", value_parser = quantity::time, allow_hyphen_values = true, required_unless_present = "every")]
    pub duration: Option<Nanos>,
    /// The error that may be made, as in 1%
    #[arg(long, value_name = "SHARE", value_parser = share, allow_hyphen_values = true, required_unless_present = "every")]
    pub error: Option<f64>,
    /// Pick a method to wait with instead of a clock: one that is to wake up this often, as in 1ms
    #[arg(long, value_name = "TIME", value_parser = super::values::period, allow_hyphen_values = true, requires = "within",
          conflicts_with_all = ["duration", "error", "rate", "needs", "settable"])]
    pub every: Option<u64>,
    /// By how much a wait may be late, or early, as in 50us
    #[arg(long, value_name = "TIME", value_parser = quantity::time, allow_hyphen_values = true, requires = "every")]
    pub within: Option<Nanos>,
    /// The share of waits that has to be within --within, as in 99.9%
    #[arg(long, value_name = "SHARE", default_value = "99%", value_parser = share, allow_hyphen_values = true, requires = "every")]
    pub share: f64,
    /// How sure the error has to be kept
    #[arg(long, value_name = "SHARE", default_value = "95%", value_parser = share, allow_hyphen_values = true)]
    pub confidence: f64,
    /// The share of the running time that reading the clock, or waiting, may take, as in 5%
    #[arg(long, value_name = "SHARE", value_parser = share, allow_hyphen_values = true)]
    pub overhead: Option<f64>,
    /// What the clock has to count
    #[arg(long, value_enum, default_value_t)]
    pub counts: Counts,
    /// What else the clock has to be (repeatable, or separated by commas)
    #[arg(long, value_name = "NEED", value_enum, value_delimiter = ',')]
    pub needs: Vec<Need>,
    /// Take clocks that can be set, and then step, too: a duration over a step is off by any amount
    #[arg(long)]
    pub settable: bool,
    /// The operation comes by itself, so many times a second, as in 10000/s: it cannot be repeated at will
    #[arg(long, value_name = "RATE", value_parser = rate, allow_hyphen_values = true)]
    pub rate: Option<f64>,
    /// Timers of this runtime instead of the native ones: java, dotnet, mono, python, node, or what leads the ids of an agent
    #[arg(long, value_name = "NAME")]
    pub runtime: Option<String>,
    /// Take the figures from this report (JSON) instead of measuring
    #[arg(long, value_name = "REPORT")]
    pub from: Option<PathBuf>,
    /// Measure the timers of another runtime, started by this command, where there is no report
    #[arg(long = "agent", value_name = "[NAME=]COMMAND ARG…", value_parser = AgentSpec::parse, conflicts_with = "from")]
    pub agents: Vec<AgentSpec>,
    /// Format of the output
    #[arg(long, value_enum, default_value_t)]
    pub format: ShortFormat,
}
