//! The processes that run for this one, so that none outlives it and all can be ended at once.
//!
//! Each leads a process group of its own. A group is forgotten before its leader is waited for, as after that the
//! system may give the number to somebody else.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group};

static GROUPS: Mutex<Vec<Pid>> = Mutex::new(Vec::new());
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Ends all children, and those that are still to come as soon as they are registered. For the handler of Ctrl-C.
pub fn interrupt() {
    // Set before the list is looked at: who registers later sees it.
    INTERRUPTED.store(true, Ordering::SeqCst);
    groups().iter().for_each(|&group| kill(group));
}

/// Whether the user asked to stop.
#[must_use]
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// Makes a group known that was just started.
pub fn register(group: Pid) {
    let mut groups = groups();
    groups.push(group);
    if interrupted() {
        kill(group);
    }
}

/// Ends a group and forgets it. Its leader is not waited for yet, so the number is still its own.
pub fn end(group: Pid) {
    let mut groups = groups();
    kill(group);
    groups.retain(|&other| other != group);
}

fn groups() -> MutexGuard<'static, Vec<Pid>> {
    GROUPS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn kill(group: Pid) {
    // It fails when nobody is left in the group: that is what was wanted.
    let _ = kill_process_group(group, Signal::KILL);
}
