//! timermeter tells how good the clocks of a machine are.
//!
//! Timers are black boxes; a [`prober`] asks them questions; pure functions ([`analysis`]) turn the answers
//! ([`trace`]) into a profile; a [`report`] shows it. Everything flows that way and never back.

#![forbid(unsafe_code)]

pub mod analysis;
pub mod cli;
pub mod commands;
pub mod comparison;
pub mod page;
pub mod platform;
pub mod prober;
pub mod quality;
pub mod quantity;
pub mod recording;
pub mod report;
pub mod selection;
pub mod selftest;
pub mod tabulation;
pub mod trace;
pub mod units;
