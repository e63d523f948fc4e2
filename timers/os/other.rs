//! What a system takes from here that it lacks: a fact is `None`, a deed is an error that says so.

#![allow(
    missing_docs,
    clippy::missing_errors_doc,
    reason = "as in the folders of the other systems"
)]

use std::io;

use crate::Unavailable;

const WHY: &str = "this build does not know how to do that on this system";

pub(super) fn unsupported<T>() -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::Unsupported, WHY))
}

pub(super) fn unavailable<T>(call: &str) -> Result<T, Unavailable> {
    Err(Unavailable::elsewhere(format!(
        "{call}: not on this system, or not known to this build"
    )))
}

pub mod clocks {
    use crate::Unavailable;

    /// Nothing forbids reading the counter of the CPU.
    pub fn tsc_permitted() -> Result<(), Unavailable> {
        Ok(())
    }

    /// Nor reading the clocks.
    pub fn vdso_permitted() -> Result<(), Unavailable> {
        Ok(())
    }
}

/// Instructions that fault are known on Linux only.
pub(crate) fn attempt(_label: &str, _instruction: fn() -> u64) -> Result<(), Unavailable> {
    Ok(())
}

pub mod emulator {
    use std::ffi::OsString;

    /// No emulator is known.
    #[must_use]
    pub fn emulator() -> Option<String> {
        None
    }

    /// Nothing starts programs but the system.
    #[must_use]
    pub fn runner() -> Vec<OsString> {
        Vec::new()
    }
}

pub mod counters {
    use std::path::Path;

    use crate::os::Counters;

    #[derive(Clone, Debug)]
    pub struct Counts;

    impl Counts {
        pub fn of_system() -> Self {
            Self
        }

        pub fn at(_folder: &Path) -> Self {
            Self
        }

        pub fn of_process(&self, _process: u32) -> Option<Counters> {
            None
        }

        pub fn of_this_thread() -> Option<Counters> {
            None
        }

        pub fn stolen(&self, _cpu: u32) -> Option<u64> {
            None
        }
    }
}

pub mod discipline {
    use std::io;

    use super::unsupported;
    use crate::os::{Discipline, Trim};

    pub fn discipline() -> io::Result<Discipline> {
        unsupported()
    }

    pub fn trim() -> io::Result<Trim> {
        unsupported()
    }
}

pub mod machine {
    use std::path::PathBuf;

    pub fn files() -> Option<PathBuf> {
        None
    }

    pub fn regain_counter() {}

    pub fn kernel_log() -> std::io::Result<String> {
        super::unsupported()
    }
}

/// Threads are scheduled as the system likes.
pub mod scheduling {
    use std::fs::File;

    use crate::Unavailable;
    use crate::os::Policy;

    pub fn timer_slack() -> Result<u64, Unavailable> {
        super::unavailable("timer slack")
    }

    pub fn set_timer_slack(_nanoseconds: u64) -> Result<(), Unavailable> {
        super::unavailable("timer slack")
    }

    #[must_use]
    pub fn policy() -> Option<Policy> {
        None
    }

    pub fn set_policy(_policy: Policy) -> Result<(), Unavailable> {
        super::unavailable("policies of the scheduler")
    }

    pub(crate) enum RunDelay {}

    impl RunDelay {
        pub(crate) fn of_this_thread() -> Option<Self> {
            None
        }

        pub(crate) fn ns(&self) -> Option<u64> {
            match *self {}
        }
    }

    pub(crate) fn trace_marker() -> Option<File> {
        None
    }
}

pub mod process {
    use std::process::Command;

    use crate::os::Pid;

    pub fn ends_with_its_starter(_command: &mut Command) {}

    pub fn ends_with(_parent: u32) -> bool {
        true
    }

    pub fn adopt_descendants() {}

    pub fn all() -> Vec<(Pid, Pid)> {
        Vec::new()
    }

    pub fn listed(_process: Pid) -> Option<Vec<Pid>> {
        None
    }

    pub fn hidden() -> Option<&'static str> {
        None
    }

    pub fn end_all_with(_variable: &str) -> usize {
        0
    }
}
