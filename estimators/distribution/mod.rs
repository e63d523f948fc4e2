//! Estimates the distribution of the cost of single calls. Single calls are quantised by the step
//! of the clock that measures them; batches of calls and model distributions add what quantisation
//! hides.

pub mod bounds;
pub mod cells;
pub mod moments;
mod programme;
pub mod shape;
