//! Nothing is started, as what it starts could not be ended.

use std::io;
use std::process::{Child, Command, ExitStatus};

use super::unsupported;
use crate::os::{CpuTime, Pid};

pub fn lead_group(_command: &mut Command) -> io::Result<()> {
    unsupported()
}

pub const NEEDS_GUARD: bool = false;

pub fn spawn(_command: &mut Command) -> io::Result<Child> {
    unsupported()
}

pub fn ends_with_its_starter(_command: &mut Command) {}

pub fn ends_with(_parent: u32) -> bool {
    true
}

pub fn adopt_descendants() {}

pub fn kill_group(_group: Pid) {}

pub fn end_child(_process: Pid) {}

pub fn has_exited(_child: Pid) -> bool {
    false
}

pub fn until_it_exits(_child: Pid) {}

pub fn wait(child: &mut Child) -> io::Result<(ExitStatus, Option<CpuTime>)> {
    child.wait().map(|status| (status, None))
}

pub fn signal(_status: ExitStatus) -> Option<i32> {
    None
}

pub fn signal_name(_signal: i32) -> Option<&'static str> {
    None
}

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
