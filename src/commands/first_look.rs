//! Figures of the timers for commands that need them and were not given a report: what `probe --quick` finds.

use clap::Parser;

use super::{CommandError, probe};
use crate::cli::{AgentSpec, Cli, Command};
use crate::model::Report;

/// Probes these timers, all of them when none is named, those of a runtime too where one is named. Its workers are processes
/// of their own, so that nothing of it is left in this one.
///
/// # Errors
/// As `probe`.
pub fn first_look(
    timers: &[String],
    agents: &[AgentSpec],
    runtime: Option<&str>,
) -> Result<Report, CommandError> {
    let mut words = ["timermeter", "probe", "--quick"].map(str::to_owned).to_vec();
    words.extend(runtime.iter().flat_map(|runtime| ["--runtime", runtime]).map(str::to_owned));
    words.push("--".to_owned());
    words.extend(timers.iter().cloned());
    let probed = Cli::try_parse_from(words).map_err(|error| CommandError::Usage(error.to_string()))?;
    let Command::Probe(mut args) = probed.command else {
        return Err(CommandError::Failed("the timers could not be probed".into()));
    };
    args.agents = agents.to_vec();
    let (recording, _) = probe::record(&args)?;
    recording.report().map_err(|error| CommandError::Failed(error.to_string()))
}
