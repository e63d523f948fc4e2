//! Defines the agent protocol, version 1: one JSON object per line, one answer per request, in
//! order. The runner, which is this program, sends requests; an agent, which is a process that
//! reads timers, answers them.
//!
//! Unknown keys are ignored, so agents may add keys to their answers.

mod hello;
pub mod questions;

pub use self::hello::{AgentTimer, Hello, Missing, RuntimeVersion, answers};
pub use self::questions::{EncodedObservations, Reply, ThreadState};
pub use timers::{Op, TimerQuestion};

/// The protocol version of this program.
pub const VERSION: u32 = 1;

#[cfg(test)]
mod tests;
