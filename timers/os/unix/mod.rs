//! What systems in the manner of Unix have in common.

pub mod clocks;
pub mod files;
pub mod limits;
pub mod machine;
#[cfg(not(target_os = "linux"))]
pub mod portable;
pub mod process;
pub mod signals;
#[cfg(not(target_os = "linux"))]
pub mod sysctl;
#[cfg(not(target_os = "linux"))]
pub(crate) mod timer;
