//! Arguments of `pick`.

use std::path::PathBuf;

use clap::Args;

use super::OutputArgs;
use super::runtimes::parse_agent;
use super::values::parse_share;
use crate::quantity;
use crate::requests::AgentSpec;
use estimators::model::Nanos;
use judgement::choice::Language;

/// Arguments of `pick`.
#[derive(Debug, Args)]
pub struct PickArgs {
    /// Duration of the operation, or of the wait, as in 250ns or 3ms
    #[arg(value_name = "TIME", value_parser = quantity::parse_time, allow_hyphen_values = true, conflicts_with = "every")]
    pub operation: Option<Nanos>,
    /// Largest error of 95 % of results, as in 1%
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = parse_share, allow_hyphen_values = true)]
    pub error: f64,
    /// Requests per second of a service, as in 800k/s
    ///
    /// Each is timed as it comes, none is repeated.
    #[arg(long, value_name = "RATE", value_parser = quantity::parse_rate, allow_hyphen_values = true)]
    pub rate: Option<f64>,
    /// Timers of this runtime instead of the native ones: java, dotnet, mono, python, node, or the
    /// prefix of the ids of an agent
    #[arg(long, value_name = "NAME")]
    pub runtime: Option<String>,
    /// Language of the code [default: c]
    #[arg(long = "for", value_name = "LANGUAGE", value_enum, ignore_case = true,
          conflicts_with_all = ["runtime", "agents"])]
    pub language: Option<Language>,
    /// Print only the code, as a whole program
    #[arg(long, conflicts_with = "every")]
    pub whole: bool,
    /// Print all other clocks, with the reasons against them
    ///
    /// Also measures those that are never picked here, and prints the parts of the error.
    #[arg(long)]
    pub all: bool,
    /// Pick a way to wait once for TIME
    #[arg(long, requires = "operation", conflicts_with_all = ["rate", "whole"])]
    pub sleep: bool,
    /// Pick a way to wake a program every TIME, as in 1ms
    ///
    /// It is the least late one that blocks.
    #[arg(long, value_name = "TIME", value_parser = super::values::parse_period, allow_hyphen_values = true,
          conflicts_with_all = ["rate", "sleep"])]
    pub every: Option<u64>,
    /// Take the figures from this report (JSON) instead of measuring them
    #[arg(long, value_name = "REPORT")]
    pub from: Option<PathBuf>,
    /// Measure the timers of the agent that this command starts instead of the native ones
    #[arg(long = "agent", value_name = "[NAME=]COMMAND ARG…", value_parser = parse_agent, conflicts_with = "from")]
    pub agents: Vec<AgentSpec>,
    /// The output format and files.
    #[command(flatten)]
    pub output: OutputArgs,
}
