//! Linux.

pub mod affinity;
pub mod clocks;
pub mod counters;
mod descendants;
pub mod discipline;
pub mod files;
pub mod limits;
pub mod machine;
pub mod perf_event;
pub mod process;
pub mod signals;
