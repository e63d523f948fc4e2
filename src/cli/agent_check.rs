//! Arguments of `agent-check`.

use clap::Args;

use super::values;

/// Arguments of `agent-check`.
#[derive(Clone, Debug, Args)]
pub struct AgentCheckArgs {
    /// How the agent is started, quoted as in a shell
    #[arg(value_name = "COMMAND", value_parser = super::AgentSpec::parse)]
    pub agent: super::AgentSpec,
    /// Seconds that an answer may take
    #[arg(long, value_name = "TIME", default_value_t = 10, value_parser = values::whole_seconds)]
    pub timeout: u64,
}
