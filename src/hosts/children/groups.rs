//! The list of the process groups that this program started and has not reaped yet.

use std::fs::File;
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use timers::os::Pid;
use timers::os::process;

use super::StartError;
use super::guard::{Guard, mark_descendants};

static GROUPS: Mutex<ProcessGroups> = Mutex::new(ProcessGroups {
    running: Vec::new(),
    left: Vec::new(),
    guard: None,
});
static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// Whether this process started all of its descendants, so that it may end any of them. False if
/// timermeter runs as a library in another program.
static OWNS_DESCENDANTS: AtomicBool = AtomicBool::new(false);

/// Maximum number of checks whether the last processes have ended: 2 s together, because the kernel
/// needs time to end processes that write to a slow disk.
pub(super) const MAX_CHECKS: u32 = 1_000;
/// Interval between two checks whether the last processes have ended.
pub(super) const CHECK_INTERVAL: Duration = Duration::from_millis(2);

/// The processes that this program started, each with its process group.
pub(super) struct ProcessGroups {
    /// The leaders that were not reaped yet.
    running: Vec<Pid>,
    /// Groups with a process that did not end when it was killed.
    left: Vec<Pid>,
    /// The guard, which is started before the first process.
    pub guard: Option<Guard>,
}

impl ProcessGroups {
    /// The list, locked.
    pub fn lock() -> MutexGuard<'static, Self> {
        GROUPS.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The list, unless it remains locked: another thread may hold the lock while it starts a
    /// process, which can take long.
    fn lock_soon() -> Option<MutexGuard<'static, Self>> {
        for _ in 0..MAX_CHECKS {
            match GROUPS.try_lock() {
                Ok(groups) => return Some(groups),
                Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) => timers::pause(CHECK_INTERVAL),
            }
        }
        None
    }

    /// Checks whether a process may be started, and starts the guard before the first process. The
    /// guard holds the lock on a file until it ends.
    pub fn prepare(&mut self, locked: Option<File>) -> Result<(), StartError> {
        if interrupted() {
            return Err(StartError::Interrupted);
        }
        if timers::kernel_time().is_none() {
            return Err(StartError::NoClock);
        }
        if self.guard.is_none() && owns_descendants() && process::NEEDS_GUARD {
            self.guard = Some(Guard::start(locked)?);
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
/// other processes, and before a second thread starts.
pub fn own_descendants() {
    process::keep_exited_children();
    mark_descendants();
    OWNS_DESCENDANTS.store(true, Ordering::SeqCst);
}

/// Ends all process groups, and prevents further starts. For signal handlers.
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
/// in which a process still runs, because it does not end when it is killed.
pub fn finish() -> Vec<Pid> {
    if !owns_descendants() {
        return Vec::new();
    }
    let Some(mut groups) = ProcessGroups::lock_soon() else {
        return Vec::new();
    };
    let guard = groups.guard.take();
    for _ in 0..MAX_CHECKS {
        groups
            .running
            .iter()
            .for_each(|&group| process::kill_group(group));
        if groups.running.is_empty() {
            break;
        }
        // The threads that started the processes reap them.
        drop(groups);
        timers::pause(CHECK_INTERVAL);
        let Some(again) = ProcessGroups::lock_soon() else {
            return Vec::new();
        };
        groups = again;
    }
    let ProcessGroups { running, left, .. } = &*groups;
    let alive = running.iter().filter(|&&group| !process::has_exited(group));
    let left = left.iter().filter(|&&group| process::has_unkillable(group));
    let all = alive.chain(left).copied().collect();
    drop(groups);
    if let Some(guard) = guard {
        guard.dismiss();
    }
    all
}

/// Whether the user interrupted the program.
#[must_use]
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

pub(super) fn owns_descendants() -> bool {
    OWNS_DESCENDANTS.load(Ordering::SeqCst)
}
