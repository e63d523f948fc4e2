//! The flags that name runtimes.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use timers::agents::{RUNTIMES, runtime};

use crate::requests::{AgentRequest, AgentSpec, RuntimeName};

/// Flags that add agents of timers.
#[derive(Debug, Args)]
pub struct AgentOptions {
    /// Also measure the timers of the agent that this command starts; their ids are NAME:ID
    #[arg(long = "agent", value_name = "[NAME=]COMMAND ARG…", value_parser = parse_agent)]
    pub agents: Vec<AgentSpec>,
    /// Also measure the timers of these runtimes; their ids are RUNTIME:ID
    ///
    /// Repeatable, or with commas.
    #[arg(long = "runtime", value_name = "RUNTIME", value_delimiter = ',', value_parser = runtime_parser(),
          ignore_case = true)]
    pub runtimes: Vec<RuntimeName>,
}

/// A parser for the names of runtimes.
fn runtime_parser() -> impl TypedValueParser<Value = RuntimeName> {
    let all = PossibleValue::new("all").help("All installed runtimes");
    let each = RUNTIMES.iter().map(|runtime| {
        PossibleValue::new(runtime.name)
            .aliases(runtime.aliases)
            .help(runtime.about)
    });
    PossibleValuesParser::new(each.chain([all]))
        .map(|name| runtime(&name).map_or(RuntimeName::All, RuntimeName::One))
}

impl AgentOptions {
    /// The request of these flags.
    pub fn request(&self) -> AgentRequest {
        AgentRequest {
            agents: self.agents.clone(),
            runtimes: self.runtimes.clone(),
        }
    }
}

/// Parses `COMMAND ARG…` or `NAME=COMMAND ARG…`, quoted as in a POSIX shell.
pub(super) fn parse_agent(text: &str) -> Result<AgentSpec, String> {
    let is_name = |name: &str| {
        !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '#' | '+'))
    };
    let (name, command) = match text.split_once('=') {
        Some((name, command)) if is_name(name) => (Some(name.to_owned()), command),
        _ => (None, text),
    };
    let command =
        shell_words::split(command).map_err(|error| format!("{error}; quote as in a shell"))?;
    match command.first() {
        Some(program) if !program.is_empty() => Ok(AgentSpec { name, command }),
        _ => Err(
            "there is no command; give one as in 'java -jar agent.jar' or py='python3 agent.py'"
                .to_owned(),
        ),
    }
}
