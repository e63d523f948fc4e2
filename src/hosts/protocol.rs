//! The agent protocol, version 1: one JSON object a line, one answer a request, in order.
//!
//! Keys that are not known here are ignored, so that agents may say more than they are asked for.

pub mod examples;
mod hello;
mod questions;

pub use self::hello::{Hello, HostedTimer, HostedWaiter, Missing, Runtime};
pub use self::questions::{Around, Op, PackedRun, Question, Reply};

/// The version that is spoken here.
pub const VERSION: u32 = 1;

#[cfg(test)]
mod tests;
