//! Arguments of `pick`.

use std::path::PathBuf;

use clap::Args;

use super::runtimes::parse_agent;
use super::{EnvironmentArgs, OutputArgs};
use crate::method::requirement::parse_share;
use crate::method::{Language, Requirement};
use crate::model::Nanos;
use crate::quantity;
use crate::requests::AgentSpec;

/// Arguments of `pick`.
#[derive(Clone, Debug, Args)]
pub struct PickArgs {
    /// Approximate duration of the operation, as in 250ns or 3ms
    #[arg(value_name = "TIME", value_parser = quantity::parse_time, allow_hyphen_values = true, conflicts_with = "every",
          required_unless_present = "every")]
    pub operation: Option<Nanos>,
    /// The requirements on the clock.
    #[command(flatten)]
    pub requirement: Requirement,
    /// Pick a clock of this language, and print code in it [default: c]
    #[arg(long = "for", value_name = "LANGUAGE", value_enum, ignore_case = true,
          conflicts_with_all = ["every", "runtime", "agents"])]
    pub language: Option<Language>,
    /// Print all other clocks, with the reasons against them
    ///
    /// Also prints the parts of the error.
    #[arg(long)]
    pub all: bool,
    /// Pick a timer of this period, as in 1ms, instead of a clock
    ///
    /// Without --within, the timer with the least lateness is picked.
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
