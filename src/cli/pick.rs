//! Arguments of `pick`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::runtimes::parse_agent;
use super::values::{parse_confidence, parse_overhead, parse_rate, parse_share};
use super::{EnvironmentArgs, OutputArgs};
use crate::choice::{Language, Need};
use crate::model::{Counted, Nanos};
use crate::quantity;
use crate::requests::AgentSpec;

/// Arguments of `pick`.
#[derive(Clone, Debug, Args)]
pub struct PickArgs {
    /// Approximate duration of the operation, as in 250ns or 3ms
    #[arg(value_name = "TIME", value_parser = quantity::parse_time, allow_hyphen_values = true, conflicts_with = "every",
          required_unless_present = "every")]
    pub operation: Option<Nanos>,
    /// Largest error, as in 1%
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = parse_share, allow_hyphen_values = true)]
    pub error: f64,
    /// Confidence that the error is not exceeded
    #[arg(long, value_name = "SHARE", default_value = "95%", value_parser = parse_confidence, allow_hyphen_values = true)]
    pub confidence: f64,
    /// Largest share of the running time (with --rate, of a CPU) spent on reading the clock, or on
    /// waiting, as in 5%
    #[arg(long, value_name = "SHARE", value_parser = parse_overhead, allow_hyphen_values = true)]
    pub overhead: Option<f64>,
    /// What the clock must count
    #[arg(long, value_name = "TIME", value_parser = counted_parser(), default_value = "wall")]
    pub counts: Counted,
    /// Further properties that the clock must have (repeatable, or separated by commas)
    #[arg(long, value_name = "NEED", value_enum, value_delimiter = ',')]
    pub needs: Vec<Need>,
    /// Also accept clocks that can be set and then step: a duration across a step is wrong by any
    /// amount
    #[arg(long)]
    pub settable: bool,
    /// Requests a second of a service, as in 10000/s: each is timed as it comes, none is repeated
    #[arg(long, value_name = "RATE", value_parser = parse_rate, allow_hyphen_values = true)]
    pub rate: Option<f64>,
    /// Timers of this runtime instead of the native ones: java, dotnet, mono, python, node, or the
    /// prefix of the ids of an agent
    #[arg(long, value_name = "NAME")]
    pub runtime: Option<String>,
    /// The language of the code and of the clock or sleep primitive [default: c]
    #[arg(long = "for", value_name = "LANGUAGE", value_enum, ignore_case = true,
          conflicts_with_all = ["runtime", "agents"])]
    pub language: Option<Language>,
    /// Print all other clocks, with the reasons against them
    ///
    /// Also prints the parts of the error.
    #[arg(long)]
    pub all: bool,
    /// Pick a way to wake a program every TIME, as in 1ms, not a clock
    ///
    /// Without --within, the least late one that blocks is picked.
    #[arg(long, value_name = "TIME", value_parser = super::values::parse_period, allow_hyphen_values = true,
          conflicts_with_all = ["rate", "needs", "settable"])]
    pub every: Option<u64>,
    /// Largest lateness or earliness of a wait, as in 50us
    #[arg(long, value_name = "TIME", value_parser = quantity::parse_time, allow_hyphen_values = true, requires = "every")]
    pub within: Option<Nanos>,
    /// Smallest share of waits that meet --within, as in 99.9%
    #[arg(long, value_name = "SHARE", default_value = "99%", value_parser = parse_share, allow_hyphen_values = true, requires = "within")]
    pub share: f64,
    /// Take the figures from this report (JSON) instead of measuring them
    #[arg(long, value_name = "REPORT")]
    pub from: Option<PathBuf>,
    /// Measure the timers of the agent that this command starts instead of the native ones
    #[arg(long = "agent", value_name = "[NAME=]COMMAND ARG…", value_parser = parse_agent, conflicts_with = "from")]
    pub agents: Vec<AgentSpec>,
    /// The environment of the agent of --runtime.
    #[command(flatten)]
    pub environment: EnvironmentArgs,
    /// The output format and files.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Creates the parser for the value of `--counts`.
fn counted_parser() -> impl TypedValueParser<Value = Counted> {
    PossibleValuesParser::new(["wall", "process", "thread"]).map(|word| match word.as_str() {
        "process" => Counted::ProcessCpu,
        "thread" => Counted::ThreadCpu,
        _ => Counted::Wall,
    })
}
