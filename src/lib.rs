//! timermeter measures how good the clocks of a machine are.
//!
//! Timers are black boxes. A [`campaign`] asks [`agents`] questions about them, as a [`plan`] says, and its
//! observations become a [`recording`]. Pure functions of other crates compute the figures of each clock and
//! the verdicts from these, of which `analysis` makes the report. Data flows only in that direction.

#![forbid(unsafe_code)]

pub mod agents;
mod analysis;
pub mod campaign;
pub mod cli;
pub mod commands;
pub mod measure;
pub mod messages;
pub mod plan;
pub mod platform;
pub mod program;
pub mod quantity;
pub mod recording;
pub mod requests;
pub mod runs;
pub mod selection;

/// The examples of docs/library.md, which are compiled with the tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/library.md")]
struct Library;
