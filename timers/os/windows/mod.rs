//! Windows, and Wine, which is one of the things that `machine` finds out.

pub mod affinity;
pub mod clocks;
pub mod discipline;
pub mod files;
mod functions;
mod handle;
pub mod limits;
pub mod machine;
pub mod process;
mod settings;
pub mod signals;
mod timers;
pub(crate) mod waits;

pub(crate) use super::no_perf_event as perf_event;
pub use super::other::{counters, ptp, scheduling};
pub(crate) use timers::{NtQpc as Undistorted, OWN, Qpc as Common, Qpc as Unsteered, visit_own};
