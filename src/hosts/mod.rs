//! Implements the agent protocol, for runners and for hosts, and starts the hosts of timers.

pub mod browser;
pub mod children;
pub mod connection;
pub mod declarations;
pub mod events;
pub mod host;
pub mod hosted;
pub mod lines;
pub mod process;
pub mod protocol;
pub mod runtimes;
pub mod serve;
pub mod surroundings;
#[cfg(all(test, unix))]
mod tests;
pub mod tool;
