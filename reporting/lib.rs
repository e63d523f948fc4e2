//! Reads, compares and prints reports.
//!
//! [`fields`] lists the quantities of a report, [`tabulation`] and [`table`] build tables,
//! [`report`] writes documents in many formats, [`page`] writes pages, and [`comparison`] compares
//! reports. This crate does not measure. Of the crate `timers` it uses only the table of clock
//! sources and the functions of [`timers::os`] for files and limits.

#![forbid(unsafe_code)]

pub mod comparison;
pub mod document;
pub mod durations;
pub mod fields;
pub mod format;
pub mod glob;
pub mod input;
pub mod limits;
pub mod page;
pub mod parallel;
pub mod plot;
pub mod report;
pub mod scratch;
pub mod table;
pub mod tabulation;
pub mod text;
