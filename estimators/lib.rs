//! Computes the figures of a timer from its observations.
//!
//! All functions are pure: they take raw integers ([`trace`]) and access no clocks, files or
//! command line.
//! [`figures`] combines the results for one clock: its [`resolution`], its [`cost`], the
//! [`distribution`] of single calls and its [`rate`]; [`waits`] analyses sleep primitives and
//! periodic timers. [`model`] holds the types of the report. This is a separate
//! crate so that it is optimised even when tests are built.
//!
//! ```
//! use estimators::model::Cycles;
//! use estimators::quality::quality;
//!
//! // The step is 37 cycles long, a read takes 34 cycles, and all reads take the same time.
//! let quality = quality(Cycles(37.0), Cycles(34.0), 1.0).expect("these are numbers");
//! assert!((quality - 0.49).abs() < 0.01);
//! ```

#![forbid(unsafe_code)]

#[macro_use]
extern crate attributes;
#[macro_use(names)]
extern crate timers;

pub mod cost;
pub mod distribution;
pub mod figures;
pub mod findings;
pub mod model;
pub mod numbers;
pub mod quality;
pub mod rate;
pub mod resolution;
pub mod scoring;
pub mod statistics;
pub mod trace;
pub mod waits;
