//! Judges clocks by their figures: whether a clock can be trusted ([`trust`]), what happened to clocks that were watched
//! ([`watching`]), and which clock to measure with ([`choice`]).
//!
//! All functions are pure: they take values, and access no clocks, files or environment.

#![forbid(unsafe_code)]

pub mod assessment;
pub mod choice;
pub mod samples;
pub mod trust;
pub mod watching;
