//! Lists and ends the descendants of processes that left their process group. If the system does
//! not report the parents of processes, only process groups are ended.

use std::time::Duration;

use timers::os::Pid;
use timers::os::process::{self, all_with_parents, listed_children};

use super::{adopts_descendants, lock_own_children, mark, try_lock_own_children};

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

/// Maximum number of checks whether the last processes have ended: 2 s together, because the kernel
/// needs time to end processes that write to a slow disk.
pub(super) const MAX_CHECKS: u32 = 1_000;
/// Interval between two checks whether the last processes have ended.
pub(super) const CHECK_INTERVAL: Duration = Duration::from_millis(2);

/// Ends those former descendants of a process that became orphans when it ended. If no other child
/// is left whose descendants they could be, ends all orphans.
pub(super) fn end_orphans(descendants: &[Pid]) {
    if !adopts_descendants() {
        if let Some(variable) = mark::variable().filter(|_| !descendants.is_empty()) {
            process::kill_by_environment(&variable, Some(descendants));
        }
        return;
    }
    let has_no_orphans = listed_children(Pid::own()).is_some_and(|children| {
        let own_children = lock_own_children();
        children
            .into_iter()
            .all(|child| own_children.is_known(child))
    });
    if descendants.is_empty() && has_no_orphans {
        return;
    }
    for check in 0..=MAX_CHECKS {
        let all = all_with_parents();
        let mut own_children = lock_own_children();
        let has_no_children = own_children.groups.is_empty();
        let orphans = children_of(&all, Pid::own());
        let orphans: Vec<Pid> = orphans
            .filter(|&process| !own_children.is_known(process))
            .collect();
        let to_end: Vec<Pid> = orphans
            .into_iter()
            .filter(|process| has_no_children || descendants.contains(process))
            .collect();
        if check == MAX_CHECKS {
            own_children.left.extend(to_end);
            return;
        }
        drop(own_children);
        to_end
            .iter()
            .for_each(|&process| process::end_child(process));
        // Processes whose parents are still exiting become orphans later.
        let any_left = descendants
            .iter()
            .any(|process| all.iter().any(|(other, _)| other == process));
        if to_end.is_empty() && !any_left {
            return;
        }
        timers::pause(CHECK_INTERVAL);
    }
}

/// Ends all descendants except the guard, level by level: this process adopts each level when the
/// parents are gone. The guard ends those that this process did not adopt.
pub(super) fn end_all_descendants() {
    for _ in 0..MAX_CHECKS {
        if !kill_children() {
            return;
        }
        timers::pause(CHECK_INTERVAL);
    }
    let Some(mut own_children) = try_lock_own_children() else {
        return;
    };
    let all = adopted_with_parents();
    let orphans = children_of(&all, Pid::own()).filter(|&child| !own_children.is_known(child));
    let left: Vec<Pid> = orphans.collect();
    own_children.left.extend(left);
    let groups = std::mem::take(&mut own_children.groups);
    own_children.left.extend(groups);
}

/// Kills all children except the guard and those that were left. Returns whether any were there.
fn kill_children() -> bool {
    let all = adopted_with_parents();
    let own_children = try_lock_own_children();
    let mut any_left = false;
    for &group in own_children
        .iter()
        .flat_map(|own_children| &own_children.groups)
    {
        // A dead leader remains a child until it is reaped, so only a leader that has not exited
        // counts.
        any_left |= !process::has_exited(group);
        process::kill_group(group);
    }
    for child in children_of(&all, Pid::own()) {
        match &own_children {
            Some(own_children) if own_children.is_known(child) => {}
            Some(_) => {
                any_left = true;
                process::end_child(child);
            }
            // Another thread is starting a process now; `child` may be that process, so it is ended
            // through its group.
            None => {
                any_left |= !process::has_exited(child);
                process::kill_group(child);
            }
        }
    }
    any_left
}

/// All processes with their parents; none if this process has children that it did not start.
fn adopted_with_parents() -> Vec<(Pid, Pid)> {
    if adopts_descendants() {
        all_with_parents()
    } else {
        Vec::new()
    }
}
