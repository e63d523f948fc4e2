//! Who descends from whom, as `/proc` tells it (proc_pid_stat(5)). Where it tells nothing, or counts processes otherwise than this one
//! does (`procfs`), none is found: then only process groups are ended.

use std::fs;

use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::procfs;
use crate::os::Pid;
use crate::os::unix::process::raw;

/// All processes, each with its parent.
#[must_use]
pub fn all() -> Vec<(Pid, Pid)> {
    numbers().filter_map(|process| Some((process, parent(process)?))).collect()
}

/// The children of a process as it lists them itself, which takes a hundredth of a look at all processes. `None` where the
/// kernel keeps no such lists (CONFIG_PROC_CHILDREN).
#[must_use]
pub fn listed(process: Pid) -> Option<Vec<Pid>> {
    let tasks = fs::read_dir(procfs::of(process.0)?.join("task")).ok()?;
    let mut children = Vec::new();
    for task in tasks.flatten() {
        match fs::read_to_string(task.path().join("children")) {
            Ok(list) => children.extend(list.split_whitespace().filter_map(Pid::parse)),
            // A thread may end meanwhile; its children are then those of another one.
            Err(_) if task.path().exists() => return None,
            Err(_) => {}
        }
    }
    Some(children)
}

/// Ends all processes but this one in whose environment stands `variable`, as they were given it. Returns how many there were. Kernels
/// before Linux 5.3 have no way to end one so that no other can be hit that got its number: there are none for them.
#[must_use]
pub fn end_all_with(variable: &str) -> usize {
    let all = numbers().filter(|&process| process != Pid::own());
    all.filter(|&process| end_if_it_has(process, variable).is_some()).count()
}

fn end_if_it_has(process: Pid, variable: &str) -> Option<()> {
    // Opened before it is looked at, so that no other process that has got its number meanwhile is ended.
    let opened = pidfd_open(raw(process)?, PidfdFlags::empty()).ok()?;
    let environment = fs::read(procfs::of(process.0)?.join("environ")).unwrap_or_default();
    environment.split(|&byte| byte == 0).find(|&given| given == variable.as_bytes())?;
    // It fails where it has ended.
    let _ = pidfd_send_signal(opened, Signal::KILL);
    Some(())
}

fn numbers() -> impl Iterator<Item = Pid> {
    let entries = procfs::is_ours().then(|| fs::read_dir("/proc").ok()).flatten();
    entries.into_iter().flatten().flatten().filter_map(|entry| Pid::parse(entry.file_name().to_str()?))
}

/// The second field of its line, counted from its state. The name before that may hold anything.
fn parent(process: Pid) -> Option<Pid> {
    let line = fs::read(procfs::of(process.0)?.join("stat")).ok()?;
    let line = String::from_utf8_lossy(&line);
    Pid::parse(line.rsplit_once(')')?.1.split_whitespace().nth(1)?)
}
