//! Implements the agent protocol, for runners and for agents, and starts the agents of timers.

pub mod agent;
pub mod browser;
pub mod children;
pub mod connection;
pub mod declarations;
pub mod events;
pub mod lines;
pub mod process;
pub mod protocol;
pub mod runtimes;
pub mod serve;
pub mod subject;
pub mod surroundings;
#[cfg(all(test, unix))]
mod tests;
pub mod tool;
