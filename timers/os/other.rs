//! Replacements for features that several systems lack: readers return `None`, actions return an
//! error.

#![allow(
    missing_docs,
    clippy::missing_errors_doc,
    reason = "the items are documented in the folders of the other systems"
)]

use std::io;

use crate::{Available, Unavailable};

pub fn unsupported<T>() -> io::Result<T> {
    Err(io::ErrorKind::Unsupported.into())
}

pub fn unavailable<T>(what: &str) -> Available<T> {
    Err(Unavailable::elsewhere(format!(
        "{what}: timermeter does not support them on this operating system"
    )))
}

pub mod clocks {
    use crate::Available;

    /// Always permitted: no process can be forbidden to read the counter.
    pub fn tsc_permitted() -> Available {
        Ok(())
    }

    /// Always permitted, as [`tsc_permitted`].
    #[cfg(unix)]
    pub fn vdso_permitted() -> Available {
        Ok(())
    }
}

/// Always succeeds without executing the instruction: faults are caught on Linux only.
pub fn attempt(_label: &str, _code: &dyn Fn()) -> Available {
    Ok(())
}

pub mod library {
    pub const CALLS_DIRECTLY: bool = true;

    /// None: there is one way to read the clocks.
    pub const CLOCKS: &[(&str, [i32; 3])] = &[];

    pub fn preloaded() -> &'static [String] {
        &[]
    }

    pub fn read_by_call(_clock: i32) -> Option<i64> {
        None
    }
}

pub mod emulator {
    use std::ffi::OsString;

    /// Always `None`: emulators are detected on Linux only.
    pub fn emulator() -> Option<String> {
        None
    }

    /// The command that starts programs under the emulator; empty without an emulator.
    pub fn runner() -> Vec<OsString> {
        Vec::new()
    }
}

pub mod counters {
    use crate::os::Counters;

    #[derive(Clone, Debug)]
    pub struct CounterSource;

    impl CounterSource {
        pub fn of_system() -> Self {
            Self
        }

        pub fn at(_folder: &std::path::Path) -> Self {
            Self
        }

        pub fn of_process(&self, _process: u32) -> Option<Counters> {
            None
        }

        pub fn of_this_thread() -> Option<Counters> {
            None
        }

        pub fn steal_ticks(&self, _cpu: u32) -> Option<u64> {
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

    pub fn declared_tick_ns() -> io::Result<i64> {
        unsupported()
    }
}

pub mod machine {
    use std::path::PathBuf;

    pub fn system_root() -> Option<PathBuf> {
        None
    }

    pub fn regain_counter() {}

    pub fn clock_source() -> Option<String> {
        None
    }

    pub fn has_vdso() -> Option<bool> {
        None
    }

    #[cfg(unix)]
    pub fn subsystem() -> Option<String> {
        None
    }

    /// Always readable, as [`super::clocks::tsc_permitted`].
    pub fn check_time_is_readable() -> crate::Available {
        Ok(())
    }
}

pub mod scheduling {

    use crate::Available;
    use crate::os::Policy;

    pub fn timer_slack() -> Available<u64> {
        super::unavailable("timer slack")
    }

    pub fn set_timer_slack(_nanoseconds: u64) -> Available {
        super::unavailable("timer slack")
    }

    pub fn policy() -> Option<Policy> {
        None
    }

    pub fn set_policy(_policy: Policy) -> Available {
        super::unavailable("policies of the scheduler")
    }

    #[derive(Debug)]
    pub enum RunDelay {}

    impl RunDelay {
        pub fn of_this_thread() -> Option<Self> {
            None
        }

        pub fn ns(&self) -> Option<u64> {
            match *self {}
        }
    }
}

pub mod process {
    use crate::os::Pid;

    #[cfg(windows)]
    pub fn keep_exited_children() {}

    #[cfg(windows)]
    pub fn has_unkillable(_group: Pid) -> bool {
        false
    }

    #[cfg(windows)]
    pub fn why_left(_group: Pid) -> &'static str {
        "does not end although its job was terminated"
    }

    #[derive(Debug)]
    pub struct ProcessGroup(Pid);

    impl ProcessGroup {
        pub fn led_by(leader: Pid) -> Self {
            Self(leader)
        }

        pub fn kill(&self) {
            crate::os::process::kill_group(self.0);
        }
    }

    pub fn descendants(_process: Pid) -> Vec<Pid> {
        Vec::new()
    }

    pub fn why_descendants_unknown() -> Option<&'static str> {
        None
    }

    pub fn kill_by_environment(_variable: &str, _processes: Option<&[Pid]>) -> usize {
        0
    }
}
