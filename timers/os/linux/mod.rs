//! Linux.

pub mod affinity;
pub mod clocks;
pub mod counters;
mod descendants;
pub mod discipline;
pub mod machine;
#[cfg(any(
    target_arch = "x86",
    target_arch = "x86_64",
    target_arch = "aarch64",
    target_arch = "riscv64",
    target_arch = "powerpc64",
    target_arch = "loongarch64",
    target_arch = "s390x"
))]
pub(crate) mod perf_event;
mod permission;
pub mod process;
mod procfs;
pub mod ptp;
pub mod scheduling;
pub(crate) mod waits;

#[cfg(not(any(
    target_arch = "x86",
    target_arch = "x86_64",
    target_arch = "aarch64",
    target_arch = "riscv64",
    target_arch = "powerpc64",
    target_arch = "loongarch64",
    target_arch = "s390x"
)))]
pub(crate) use crate::os::no_perf_event as perf_event;

pub use super::unix::{files, limits, signals};

use ptp::Clock as Ptp;

crate::catalogue::list![Ptp<0>, Ptp<1>, Ptp<2>, Ptp<3>];
pub(crate) use crate::posix::{
    Monotonic as Common, MonotonicRaw as Unsteered, MonotonicSyscall as Undistorted,
};
