//! Everything that is done with a report that is there.
//!
//! What is listed of it ([`fields`]), as tables ([`tabulation`], [`table`]), as a document in many
//! formats ([`report`]), as pages ([`page`]); what changed from one to another ([`comparison`]).
//! Nothing here measures, or knows how it is done: of the crate `timers` only the table of clock sources and the calls of
//! [`timers::os`] on files and limits are used.

#![forbid(unsafe_code)]

pub mod comparison;
pub mod document;
pub mod fields;
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

use estimators::{model, quality, statistics};
