//! Timers that wait: what is asked of each in one process (`explore`), and of all of them in turn (`campaign`).

pub mod campaign;
pub mod explore;
mod hosted;
pub mod plan;
pub mod subject;

pub use hosted::waiter;
