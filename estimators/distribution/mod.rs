//! Estimates how the cost of single calls is distributed, from counted reads, batches and laws.

pub mod bounds;
pub mod cells;
pub mod moments;
mod programme;
pub mod shape;
