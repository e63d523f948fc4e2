//! Describes an agent, which is a program that can read timers, and starts its processes.

use std::time::Duration;

use timers::Answer;

use crate::agents::children::Placement;
use crate::agents::connection::{Connection, SharedConnection};
use crate::agents::process::AgentCommand;
use crate::agents::protocol::AgentTimer;

/// A program that answers for timers.
#[derive(Clone, Debug)]
pub struct Agent {
    /// The command that starts the agent. The ids of the timers are appended if the command takes
    /// ids.
    pub command: AgentCommand,
    /// Whether the command takes ids of timers as arguments and then opens only those timers.
    pub takes_ids: bool,
    /// All timers that the agent introduced.
    pub timers: Vec<AgentTimer>,
    /// Whether the agent answers the question `comparisons`.
    pub compares: bool,
    /// Whether the agent accepts questions about several timers.
    pub answers_for_many: bool,
}

/// Starts a process of an agent that opens these timers, or all timers if the agent takes no ids.
pub fn connect(
    agent: &Agent,
    ids: &[&str],
    placement: impl Into<Placement>,
    timeout: Duration,
) -> Answer<SharedConnection> {
    let mut command = agent.command.clone();
    let is_built_in = command.declarations.is_some();
    if agent.takes_ids && !is_built_in {
        command.args.extend(ids.iter().map(Into::into));
    }
    let mut connection = Connection::start(&command, placement, timeout)?;
    if is_built_in {
        connection.warm_up(ids)?;
    }
    Ok(connection.share())
}
