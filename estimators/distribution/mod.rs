//! Estimates the distribution of the cost of single calls from quantised samples, batches and model
//! distributions.

pub mod bounds;
pub mod cells;
pub mod moments;
mod programme;
pub mod shape;
