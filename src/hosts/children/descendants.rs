//! Lists the descendants of a process, if the system reports the parents of processes; otherwise
//! only process groups are ended.

use timers::os::Pid;
use timers::os::process::{all_with_parents, listed_children};

/// The children of a process, from a list of processes with their parents.
pub(super) fn children_of(all: &[(Pid, Pid)], parent: Pid) -> impl Iterator<Item = Pid> {
    all.iter()
        .filter(move |(_, other)| *other == parent)
        .map(|(process, _)| *process)
}

/// All descendants of a process.
pub(super) fn descendants_of(process: Pid) -> Vec<Pid> {
    if listed_children(process).is_some_and(|children| children.is_empty()) {
        return Vec::new();
    }
    let all = all_with_parents();
    let mut found: Vec<Pid> = children_of(&all, process).collect();
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        let unseen: Vec<Pid> = children_of(&all, parent)
            .filter(|child| !found.contains(child))
            .collect();
        found.extend(unseen);
        next += 1;
    }
    found
}
