//! Computes the figures of a timer from what was observed of it.
//!
//! Pure functions of raw integers ([`trace`]): slices in, figures out. Nothing here reads a clock, a
//! file or the command line. [`profile`] puts the figures of one clock together: its
//! [`resolution`], its [`cost`], the [`distribution`] of single calls and its [`rate`]; [`waits`]
//! and [`periods`] are what sleep primitives and periodic timers have. [`model`] holds the types of
//! the report. This is a crate of its own because it is compiled for speed in tests as well.

#![forbid(unsafe_code)]

pub mod cost;
pub mod distribution;
pub mod findings;
pub mod model;
pub mod numbers;
pub mod periods;
pub mod profile;
pub mod quality;
pub mod rate;
pub mod resolution;
pub mod scoring;
pub mod statistics;
pub mod trace;
pub mod waits;
