//! Arguments of `pick`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::{AgentSpec, OutputArgs};
use crate::method::requirement::{rate, share};
use crate::method::{Language, Need};
use crate::model::{Counted, Nanos};
use crate::quantity;

/// Arguments of `pick`.
#[derive(Clone, Debug, Args)]
pub struct PickArgs {
    /// Approximate duration of the operation, as in 250ns or 3ms
    #[arg(value_name = "TIME", value_parser = quantity::time, allow_hyphen_values = true, conflicts_with = "every",
          required_unless_present = "every")]
    pub operation: Option<Nanos>,
    /// Largest error, as in 1%
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = share, allow_hyphen_values = true)]
    pub error: f64,
    /// Write the code in this language, for the clock of its standard library [default: c]
    #[arg(long = "for", value_name = "LANGUAGE", value_enum, conflicts_with_all = ["every", "runtime", "agents"])]
    pub language: Option<Language>,
    /// Print all clocks with the reason why each was not picked, and the
    /// parts of the error
    #[arg(long)]
    pub all: bool,
    /// Pick a method to wait with instead of a clock, for wake-ups at this period, as in 1ms;
    /// without --within the one that is least late
    #[arg(long, value_name = "TIME", value_parser = super::values::period, allow_hyphen_values = true,
          conflicts_with_all = ["rate", "needs", "settable"])]
    pub every: Option<u64>,
    /// Largest lateness or earliness of a wait, as in 50us
    #[arg(long, value_name = "TIME", value_parser = quantity::time, allow_hyphen_values = true, requires = "every")]
    pub within: Option<Nanos>,
    /// Share of waits that must meet --within, as in 99.9%
    #[arg(long, value_name = "SHARE", default_value = "99%", value_parser = share, allow_hyphen_values = true, requires = "within")]
    pub share: f64,
    /// Confidence that the error is kept
    #[arg(long, value_name = "SHARE", default_value = "95%", value_parser = share, allow_hyphen_values = true)]
    pub confidence: f64,
    /// Largest share of the running time spent on reading the clock, or on waiting, as in 5%
    #[arg(long, value_name = "SHARE", value_parser = share, allow_hyphen_values = true)]
    pub overhead: Option<f64>,
    /// What the clock must count
    #[arg(long, value_name = "TIME", value_parser = counted(), default_value = "wall")]
    pub counts: Counted,
    /// Further properties that the clock must have (repeatable, or separated by commas)
    #[arg(long, value_name = "NEED", value_enum, value_delimiter = ',')]
    pub needs: Vec<Need>,
    /// Also accept clocks that can be set and then step: a duration across a step is wrong by any
    /// amount
    #[arg(long)]
    pub settable: bool,
    /// Rate at which the operation happens on its own, as in 10000/s: it cannot be repeated at will
    #[arg(long, value_name = "RATE", value_parser = rate, allow_hyphen_values = true)]
    pub rate: Option<f64>,
    /// Timers of this runtime instead of the native ones: java, dotnet, mono, python, node, or what
    /// leads the ids of an agent
    #[arg(long, value_name = "NAME")]
    pub runtime: Option<String>,
    /// Take the figures from this report (JSON) instead of measuring
    #[arg(long, value_name = "REPORT")]
    pub from: Option<PathBuf>,
    /// Measure the timers of another runtime, started by this command, where there is no report
    #[arg(long = "agent", value_name = "[NAME=]COMMAND ARG…", value_parser = AgentSpec::parse, conflicts_with = "from")]
    pub agents: Vec<AgentSpec>,
    /// Where it is written.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// What a clock may have to count.
fn counted() -> impl TypedValueParser<Value = Counted> {
    PossibleValuesParser::new(["wall", "process", "thread"]).map(|word| match word.as_str() {
        "process" => Counted::ProcessCpu,
        "thread" => Counted::ThreadCpu,
        _ => Counted::Wall,
    })
}
