//! Who descends from whom, as far as the system tells. Where it does not, only process groups are
//! ended.

use timers::os::Pid;
use timers::os::process::{all, listed};

/// The children of a process.
pub(super) fn children_of(all: &[(Pid, Pid)], parent: Pid) -> impl Iterator<Item = Pid> {
    all.iter()
        .filter(move |(_, of)| *of == parent)
        .map(|(process, _)| *process)
}

/// All processes below one.
pub(super) fn of(process: Pid) -> Vec<Pid> {
    if listed(process).is_some_and(|children| children.is_empty()) {
        return Vec::new();
    }
    let all = all();
    let mut below: Vec<Pid> = children_of(&all, process).collect();
    let mut at = 0;
    while let Some(&parent) = below.get(at) {
        let more: Vec<Pid> = children_of(&all, parent)
            .filter(|child| !below.contains(child))
            .collect();
        below.extend(more);
        at += 1;
    }
    below
}
