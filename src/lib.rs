//! timermeter measures how good the clocks of a machine are.
//!
//! Timers are black boxes. A [`campaign`] measures them and stores its observations in a [`trace`].
//! Pure functions compute a [`profile`] (the figures of a clock) and verdicts ([`trust`]) from the
//! trace, and a [`report`] presents them. Data flows only in that direction. The [`model`] defines
//! the types that these modules share.

#![forbid(unsafe_code)]

pub mod agents;
pub mod campaign;
pub mod cli;
pub mod commands;
pub mod measure;
pub mod messages;
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
