//! timermeter tells how good the clocks of a machine are.
//!
//! Timers are black boxes; a [`campaign`] asks them questions; pure functions ([`profile`],
//! [`trust`]) turn the answers ([`trace`]) into a profile and verdicts; a [`report`] shows them.
//! Everything flows that way and never back. What they all speak of stands in the [`model`].

#![forbid(unsafe_code)]

pub mod campaign;
pub mod cli;
pub mod commands;
pub mod counter;
pub mod hosts;
pub mod measure;
pub mod method;
pub mod platform;
pub mod quantity;
pub mod recording;
pub mod selection;
pub mod trust;
pub mod watching;

pub use estimators::{
    cost, distribution, findings, model, periods, profile, quality, rate, resolution, scoring,
    statistics, trace, waits,
};
pub use reporting::{
    comparison, document, fields, glob, input, limits, page, parallel, plot, report, scratch,
    table, tabulation, text,
};

/// The examples of docs/library.md, which are compiled with the tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/library.md")]
struct Library;
