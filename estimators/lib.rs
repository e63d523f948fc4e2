//! From observations of a timer to its figures.
//!
//! Pure functions ([`analysis`]) of raw integers ([`trace`]), and what the program and its reports
//! speak of ([`model`]). Nothing here reads a clock, a file or the command line. A crate of its
//! own, as it computes by the million where the rest of the program starts once: it is compiled for
//! speed in tests as well.

#![forbid(unsafe_code)]

pub mod analysis;
pub mod model;
pub mod quality;
pub mod scoring;
pub mod trace;
