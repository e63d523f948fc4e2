//! macOS. Nothing here ever ran on one: it is type-checked only.

pub mod clocks;
pub mod machine;
mod timers;

pub(crate) use super::no_perf_event as perf_event;
pub(crate) use super::other::waits;
pub use super::other::{affinity, counters, discipline, ptp, scheduling};
pub use super::unix::{files, limits, signals};
pub(crate) use timers::{
    Absolute as Undistorted, OWN, UptimeRaw as Common, UptimeRaw as Unsteered, visit_own,
};

/// Threads cannot be bound to CPUs, so that none is chosen; children have groups.
pub mod process {
    pub use crate::os::other::process::{
        adopt_descendants, all, end_all_with, ends_with, ends_with_its_starter, hidden, listed,
    };
    pub use crate::os::unix::process::*;
}
