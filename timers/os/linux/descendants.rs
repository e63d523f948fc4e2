//! Who descends from whom, as `/proc` tells it (proc_pid_stat(5)). Without `/proc` nobody does: then only process groups
//! are ended.

use std::fs;

use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::os::Pid;
use crate::os::unix::process::{kill, raw};

/// All processes, each with its parent.
#[must_use]
pub fn all() -> Vec<(Pid, Pid)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let process = Pid::parse(entry.file_name().to_str()?)?;
            Some((process, Pid::parse(&field(process, 1)?)?))
        })
        .collect()
}

/// The children of a process as it lists them itself, which takes a hundredth of a look at all processes. `None` where the
/// kernel keeps no such lists (CONFIG_PROC_CHILDREN).
#[must_use]
pub fn listed(process: Pid) -> Option<Vec<Pid>> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).ok()?;
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

/// Ends all processes but this one in whose environment stands `variable`, as they were given it. Returns how many there were.
#[must_use]
pub fn end_all_with(variable: &str) -> usize {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let all = entries
        .filter_map(|entry| Pid::parse(entry.file_name().to_str()?))
        .filter(|&process| process != Pid::own());
    all.filter(|&process| end_if_it_has(process, variable)).count()
}

fn end_if_it_has(process: Pid, variable: &str) -> bool {
    // Opened before it is looked at, so that no other process that has got its number meanwhile is ended.
    let opened = raw(process).and_then(|process| pidfd_open(process, PidfdFlags::empty()).ok());
    let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
    if !environment.split(|&byte| byte == 0).any(|given| given == variable.as_bytes()) {
        return false;
    }
    // It fails where it has ended; kernels before Linux 5.3 open none.
    match opened {
        Some(process) => drop(pidfd_send_signal(process, Signal::KILL)),
        None => kill(process),
    }
    true
}

/// Whether a process is over, though nobody has waited for it yet.
#[must_use]
pub fn is_dead(process: Pid) -> bool {
    field(process, 0).is_none_or(|state| state == "Z" || state == "X")
}

/// A field of its line, counted from its state. The name before that may hold anything.
fn field(process: Pid, number: usize) -> Option<String> {
    let line = fs::read(format!("/proc/{process}/stat")).ok()?;
    let line = String::from_utf8_lossy(&line);
    line.rsplit_once(')')?.1.split_whitespace().nth(number).map(str::to_owned)
}
