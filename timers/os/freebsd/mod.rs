//! FreeBSD. Nothing here ever ran on one: it is type-checked only.

pub mod affinity;
pub mod clocks;
pub mod machine;
mod timers;

pub(crate) use super::no_perf_event as perf_event;
pub(crate) use super::other::waits;
pub use super::other::{counters, discipline, ptp, scheduling};
pub use super::unix::{files, limits, signals};
pub(crate) use crate::posix::{Monotonic as Common, Monotonic as Unsteered, MonotonicSyscall as Undistorted};
pub(crate) use timers::{OWN, visit_own};

/// Children have groups.
pub mod process {
    pub use crate::os::other::process::{
        adopt_descendants, all, end_all_with, ends_with, ends_with_its_starter, hidden, listed,
    };
    pub use crate::os::unix::process::*;
}
