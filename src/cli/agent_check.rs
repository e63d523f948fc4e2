//! Arguments of `agent-check`.

use clap::Args;

/// Arguments of `agent-check`.
#[derive(Clone, Debug, Args)]
pub struct AgentCheckArgs {
    /// How the agent is started, quoted as in a shell
    #[arg(value_name = "COMMAND", value_parser = super::AgentSpec::parse)]
    pub agent: super::AgentSpec,
    /// Seconds that an answer may take
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: u64,
}
