//! Starts every process that this program runs, and ends all of them when the program ends, for
//! whatever reason.
//!
//! - Each process leads its own process group, which is ended as a whole. A group is removed from
//!   the list of groups before its leader is reaped, because the system may reuse the number
//!   afterwards.
//! - A descendant that left its group by starting a session is adopted by this process when its
//!   parent ends ([`own_descendants`]), and is ended too. If this process has children that it did
//!   not start, which it cannot tell from such orphans, it adopts none and ends those that have
//!   this program's mark in their environment.
//! - If this program is killed, the kernel ends its children (`spawner`), and the guard ends their
//!   process groups and every process that has this program's mark in its environment (`guard`). A
//!   process that has its own session *and* a replaced environment escapes.
//! - A single process is only signalled after the kernel confirmed that it is a child, or after it
//!   was read that it has the mark. If `/proc` does not show the parents of processes
//!   ([`why_descendants_unknown`]), only groups are ended.
//! - A process that does not end when it is killed, because it runs as another user, is left behind
//!   and reported by [`finish`].

mod descendants;
pub mod guard;
mod mark;
mod own_program;
mod running;
mod setting;
mod spawner;
mod start_error;

use std::collections::BTreeSet;
use std::fs::File;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use timers::os::process;
use timers::os::{Pid, Policy};

use descendants::{CHECK_INTERVAL, MAX_CHECKS, end_all_descendants};
use guard::Guard;
use own_program::{STARTER, is_worker};
pub use own_program::{stay_with_starter, this_program};
pub use running::Running;
pub use setting::TemporarySetting;
pub use start_error::{StartError, with_remedy};

static OWN_CHILDREN: Mutex<OwnChildren> = Mutex::new(OwnChildren {
    groups: Vec::new(),
    left: BTreeSet::new(),
    guard: None,
    has_tried_guard: false,
});
static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// Whether this process started all of its descendants, so that it may end any of them. False if
/// timermeter runs as a library in another program.
static OWNS_DESCENDANTS: AtomicBool = AtomicBool::new(false);

/// Whether all children of this process are those that it started, and their descendants.
static ADOPTS_DESCENDANTS: AtomicBool = AtomicBool::new(false);

/// The processes that this program started and has not reaped yet.
struct OwnChildren {
    /// The process groups that the processes lead.
    groups: Vec<Pid>,
    /// Children that did not end when they were killed.
    left: BTreeSet<Pid>,
    guard: Option<Guard>,
    /// Whether this program has tried to start the guard.
    has_tried_guard: bool,
}

/// Adopts all descendants of this process, so that they end with it. Call this only in a program
/// that starts no other processes, and before a second thread starts.
pub fn own_descendants() {
    ADOPTS_DESCENDANTS.store(process::adopt_descendants(), Ordering::SeqCst);
    mark::mark_descendants();
    OWNS_DESCENDANTS.store(true, Ordering::SeqCst);
}

/// The reason why the descendants of this process cannot be listed, so that those that left their
/// group survive this program; `None` if they can be listed.
pub use timers::os::process::why_descendants_unknown;

/// Scheduling settings of a process from its first instruction; `None` keeps the setting of this
/// process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// The only CPU on which the process runs.
    pub cpu: Option<u32>,
    /// The timer slack of the process's threads, in nanoseconds.
    pub slack_ns: Option<u64>,
    /// The scheduling policy of the process's threads.
    pub policy: Option<Policy>,
}

impl From<Option<u32>> for Placement {
    fn from(cpu: Option<u32>) -> Self {
        Self {
            cpu,
            ..Self::default()
        }
    }
}

/// Starts a process with the given placement; without a CPU, wherever this process may run.
///
/// # Errors
/// When the process cannot be started; the error states the reason.
pub fn start(mut command: Command, placement: impl Into<Placement>) -> Result<Running, StartError> {
    let mut own_children = lock_own_children();
    own_children.prepare()?;
    process::prepare_group(&mut command)?;
    let is_own_worker = is_worker(&command);
    if is_own_worker {
        command.env(STARTER, std::process::id().to_string());
    }
    // The lock is held until the process is listed: an interruption comes either before the start
    // or finds the process in the list.
    let child = spawner::start(command, placement.into(), !is_own_worker)?;
    Ok(own_children.add(child))
}

/// Like [`start`], but from the calling thread and as fast as the system can, for a run that is
/// timed. If this program is killed, only the guard ends the process, because requesting the
/// parent-death signal would slow the start down.
///
/// # Errors
/// When the process cannot be started; the error states the reason.
pub fn start_timed(command: &mut Command) -> Result<Running, StartError> {
    let mut own_children = lock_own_children();
    own_children.prepare()?;
    process::prepare_group(command)?;
    let child = process::spawn(command)?;
    Ok(own_children.add(child))
}

impl OwnChildren {
    /// Checks whether a process may be started, and starts the guard before the first process.
    fn prepare(&mut self) -> Result<(), StartError> {
        self.prepare_holding(None)
    }

    /// Like [`prepare`](Self::prepare); the guard holds the lock on a file until it ends.
    fn prepare_holding(&mut self, locked: Option<File>) -> Result<(), StartError> {
        if interrupted() {
            return Err(StartError::Interrupted);
        }
        if timers::kernel_time().is_none() {
            return Err(StartError::NoClock);
        }
        if !self.has_tried_guard && owns_descendants() {
            self.has_tried_guard = true;
            if !process::NEEDS_GUARD {
                return Ok(());
            }
            let must_start = locked.is_some();
            match Guard::start(locked) {
                Err(error) if must_start => return Err(error),
                // Without a guard the kernel still ends the children.
                guard => self.guard = guard.ok(),
            }
        }
        Ok(())
    }

    /// Lists a process that was started, here and in the guard.
    fn add(&mut self, child: Child) -> Running {
        let group = Pid::from_child(&child);
        self.groups.push(group);
        if let Some(guard) = &mut self.guard {
            guard.watch(group);
        }
        Running::new(child, group)
    }

    /// Removes a process group from the list before its leader is reaped.
    fn forget(&mut self, group: Pid) {
        self.groups.retain(|&other| other != group);
        if let Some(guard) = &mut self.guard {
            guard.forget(group);
        }
    }

    /// Whether `process` is the guard, a child that this program waits for, or one that it left.
    fn is_known(&self, process: Pid) -> bool {
        self.groups.contains(&process)
            || self.left.contains(&process)
            || self
                .guard
                .as_ref()
                .is_some_and(|guard| guard.id() == process)
    }
}

/// Ends all children and their descendants, and prevents further starts. For signal handlers.
pub fn interrupt() {
    // The flag is set before the list is read, so a later start sees the flag.
    INTERRUPTED.store(true, Ordering::SeqCst);
    // Another thread may hold the lock while it starts a process, which can take long.
    for _ in 0..MAX_CHECKS {
        if let Some(own_children) = try_lock_own_children() {
            own_children
                .groups
                .iter()
                .for_each(|&group| process::kill_group(group));
            break;
        }
        timers::pause(CHECK_INTERVAL);
    }
    if owns_descendants() {
        end_all_descendants();
    }
}

/// Ends the processes that remain when the program has done its work, and waits for their end.
/// Returns the children that still run, because they do not end when they are killed.
pub fn finish() -> Vec<Pid> {
    // A program that started no process has nothing to end.
    if !owns_descendants()
        || try_lock_own_children().is_some_and(|own_children| !own_children.has_tried_guard)
    {
        return Vec::new();
    }
    end_all_descendants();
    let Some(mut own_children) = try_lock_own_children() else {
        return Vec::new();
    };
    if let Some(guard) = own_children.guard.take() {
        guard.dismiss();
    }
    let still_runs = |child: &Pid| !process::has_exited(*child);
    own_children
        .left
        .iter()
        .copied()
        .filter(still_runs)
        .collect()
}

/// Whether the user interrupted the program.
#[must_use]
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

fn owns_descendants() -> bool {
    OWNS_DESCENDANTS.load(Ordering::SeqCst)
}

fn adopts_descendants() -> bool {
    ADOPTS_DESCENDANTS.load(Ordering::SeqCst)
}

fn lock_own_children() -> MutexGuard<'static, OwnChildren> {
    OWN_CHILDREN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn try_lock_own_children() -> Option<MutexGuard<'static, OwnChildren>> {
    match OWN_CHILDREN.try_lock() {
        Ok(own_children) => Some(own_children),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}
