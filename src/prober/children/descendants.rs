//! Who descends from whom, as `/proc` tells it (proc_pid_stat(5)). Without `/proc` nobody does: then only process groups
//! are ended.

use std::fs;

use rustix::process::{Pid, PidfdFlags, Signal, getpid, kill_process, pidfd_open, pidfd_send_signal};

/// All processes, each with its parent.
pub(super) fn all() -> Vec<(Pid, Pid)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let process = pid(entry.file_name().to_str()?)?;
            Some((process, pid(&field(process, 1)?)?))
        })
        .collect()
}

/// The children of a process.
pub(super) fn children_of(all: &[(Pid, Pid)], parent: Pid) -> impl Iterator<Item = Pid> {
    all.iter().filter(move |(_, of)| *of == parent).map(|(process, _)| *process)
}

/// The children of a process as it lists them itself, which takes a hundredth of a look at all processes. `None` where the
/// kernel keeps no such lists (CONFIG_PROC_CHILDREN).
pub(super) fn listed(process: Pid) -> Option<Vec<Pid>> {
    let tasks = fs::read_dir(format!("/proc/{}/task", process.as_raw_nonzero())).ok()?;
    let mut children = Vec::new();
    for task in tasks.flatten() {
        match fs::read_to_string(task.path().join("children")) {
            Ok(list) => children.extend(list.split_whitespace().filter_map(pid)),
            // A thread may end meanwhile; its children are then those of another one.
            Err(_) if task.path().exists() => return None,
            Err(_) => {}
        }
    }
    Some(children)
}

/// Everybody below a process.
pub(super) fn of(process: Pid) -> Vec<Pid> {
    if listed(process).is_some_and(|children| children.is_empty()) {
        return Vec::new();
    }
    let all = all();
    let mut below: Vec<Pid> = children_of(&all, process).collect();
    let mut at = 0;
    while let Some(&parent) = below.get(at) {
        let more: Vec<Pid> = children_of(&all, parent).filter(|child| !below.contains(child)).collect();
        below.extend(more);
        at += 1;
    }
    below
}

/// Ends all processes but this one in whose environment stands `variable`, as they were given it. Returns how many there were.
pub(super) fn end_all_with(variable: &str) -> usize {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let all =
        entries.filter_map(|entry| pid(entry.file_name().to_str()?)).filter(|&process| process != getpid());
    all.filter(|&process| end_if_it_has(process, variable)).count()
}

fn end_if_it_has(process: Pid, variable: &str) -> bool {
    // Opened before it is looked at, so that no other process that has got its number meanwhile is ended.
    let opened = pidfd_open(process, PidfdFlags::empty());
    let environment = fs::read(format!("/proc/{}/environ", process.as_raw_nonzero())).unwrap_or_default();
    if !environment.split(|&byte| byte == 0).any(|given| given == variable.as_bytes()) {
        return false;
    }
    // It fails where it has ended; kernels before Linux 5.3 open none.
    let _ = match opened {
        Ok(process) => pidfd_send_signal(process, Signal::KILL),
        Err(_) => kill_process(process, Signal::KILL),
    };
    true
}

/// Whether a process is over, though nobody has waited for it yet.
pub(super) fn is_dead(process: Pid) -> bool {
    field(process, 0).is_none_or(|state| state == "Z" || state == "X")
}

/// A field of its line, counted from its state. The name before that may hold anything.
fn field(process: Pid, number: usize) -> Option<String> {
    let line = fs::read(format!("/proc/{}/stat", process.as_raw_nonzero())).ok()?;
    let line = String::from_utf8_lossy(&line);
    line.rsplit_once(')')?.1.split_whitespace().nth(number).map(str::to_owned)
}

fn pid(text: &str) -> Option<Pid> {
    Pid::from_raw(text.parse().ok()?)
}
