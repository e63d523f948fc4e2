//! The list of the process groups that this program started and has not reaped yet.

use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use timers::Deadline;
use timers::os::Pid;
use timers::os::process;

use super::StartError;
use super::guard::{CHECK_INTERVAL, Guard, MAX_END_TIME, mark_descendants};

static GROUPS: Mutex<ProcessGroups> = Mutex::new(ProcessGroups {
    running: Vec::new(),
    left: Vec::new(),
    guard: None,
});
static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// Whether this process started all of its descendants, so that it may end any of them. False if
/// timermeter runs as a library in another program.
static OWNS_DESCENDANTS: AtomicBool = AtomicBool::new(false);

/// The processes that this program started, each with its process group.
pub(super) struct ProcessGroups {
    /// The leaders that were not reaped yet.
    running: Vec<Pid>,
    /// Groups with a process that did not end when it was killed.
    left: Vec<Pid>,
    /// The guard, which is started before the first process.
    guard: Option<Guard>,
}

impl ProcessGroups {
    /// The list, locked.
    pub fn lock() -> MutexGuard<'static, Self> {
        GROUPS.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The list, unless it remains locked: another thread may hold the lock while it starts a
    /// process, which can take long.
    fn lock_soon() -> Option<MutexGuard<'static, Self>> {
        let limit = Deadline::after(MAX_END_TIME);
        loop {
            match GROUPS.try_lock() {
                Ok(groups) => return Some(groups),
                Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) => limit.remaining()?,
            };
            timers::pause(CHECK_INTERVAL);
        }
    }

    /// Checks whether a process may be started, and starts the guard before the first process.
    pub fn prepare(&mut self) -> Result<(), StartError> {
        if interrupted() {
            return Err(StartError::Interrupted);
        }
        if self.guard.is_none() && owns_descendants() && process::NEEDS_GUARD {
            self.guard = Some(Guard::start()?);
        }
        Ok(())
    }

    /// Lists a process that was started, here and in the guard.
    pub fn add(&mut self, child: &Child) -> Pid {
        let group = Pid::from_child(child);
        self.running.push(group);
        if let Some(guard) = &mut self.guard {
            guard.watch(group);
        }
        group
    }

    /// Removes a process group before its leader is reaped.
    pub fn forget(&mut self, group: Pid) {
        self.running.retain(|&other| other != group);
        if let Some(guard) = &mut self.guard {
            guard.forget(group);
        }
    }

    /// Lists a group with a process that does not end.
    pub fn leave(&mut self, group: Pid) {
        self.left.push(group);
    }
}

/// Makes all descendants of this process end with it. Call this only in a program that starts no
/// other processes, and before a second thread uses the environment.
pub fn own_descendants() {
    process::keep_exited_children();
    mark_descendants();
    OWNS_DESCENDANTS.store(true, Ordering::SeqCst);
}

/// Ends all process groups, and prevents further starts, for the thread of `signals::listen`.
pub fn interrupt() {
    // The flag is set before the list is read, so a later start sees the flag.
    INTERRUPTED.store(true, Ordering::SeqCst);
    for &group in ProcessGroups::lock_soon()
        .iter()
        .flat_map(|groups| &groups.running)
    {
        process::kill_group(group);
    }
}

/// Ends the processes that remain when the program has done its work. Returns the process groups
/// in which a process still runs, because it does not end when it is killed; none if another thread
/// keeps the list.
pub fn finish() -> Vec<Pid> {
    if !owns_descendants() {
        return Vec::new();
    }
    let Some(mut groups) = ProcessGroups::lock_soon() else {
        return Vec::new();
    };
    let guard = groups.guard.take();
    let limit = Deadline::after(MAX_END_TIME);
    while !groups.running.is_empty() && limit.remaining().is_some() {
        groups
            .running
            .iter()
            .for_each(|&group| process::kill_group(group));
        // The threads that started the processes reap them.
        drop(groups);
        timers::pause(CHECK_INTERVAL);
        let Some(again) = ProcessGroups::lock_soon() else {
            return Vec::new();
        };
        groups = again;
    }
    let ProcessGroups { running, left, .. } = &*groups;
    let still_runs =
        |group: &&Pid| !process::has_exited(**group) || process::has_unkillable(**group);
    let all = running
        .iter()
        .chain(left)
        .filter(still_runs)
        .copied()
        .collect();
    drop(groups);
    if let Some(guard) = guard {
        guard.dismiss();
    }
    all
}

/// Whether the user interrupted the program.
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

pub(super) fn owns_descendants() -> bool {
    OWNS_DESCENDANTS.load(Ordering::SeqCst)
}
