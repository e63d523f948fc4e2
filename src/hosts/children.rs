//! Starts every process that this program runs, and ends all of them when the program ends, for
//! whatever reason.
//!
//! - Each process leads its own process group, which is ended as a whole. A group is removed from
//!   the list before its leader is reaped, because the system may reuse the number afterwards.
//! - A descendant that left its group by starting a session is adopted by this process when its
//!   parent ends ([`own_descendants`]), and is ended too.
//! - If this program is killed, the kernel ends its children (`spawner`), and the guard ends their
//!   process groups and every process that has this program's mark in its environment (`guard`). A
//!   process that has its own session *and* a replaced environment escapes.
//! - A single process is only signalled after the kernel confirmed that it is a child. If `/proc`
//!   does not show the parents of processes ([`hidden`]), only groups are ended.

mod descendants;
pub mod guard;
mod spawner;

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::Duration;

use timers::os::process;
use timers::os::{CpuTime, Pid, Policy};

use guard::Guard;

static OWN_CHILDREN: Mutex<OwnChildren> = Mutex::new(OwnChildren {
    groups: Vec::new(),
    guard: None,
    has_tried_guard: false,
});
static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// Whether this process started all of its descendants, so that it may end any of them. False if
/// timermeter runs as a library in another program.
static OWNS_DESCENDANTS: AtomicBool = AtomicBool::new(false);

/// The processes that this program started and has not reaped yet.
struct OwnChildren {
    /// The process groups that the processes lead.
    groups: Vec<Pid>,
    guard: Option<Guard>,
    /// Whether this program has tried to start the guard.
    has_tried_guard: bool,
}

/// The reason why a process could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The user interrupted the program, so no process is started any more.
    #[error("interrupted")]
    Interrupted,
    /// This process cannot read a clock, without which a process that hangs could not be ended.
    #[error(
        "the kernel does not let this process read a clock (clock_gettime), so a process that hangs could not be ended: allow the \
         call in the sandbox"
    )]
    NoClock,
    /// The process cannot run on the requested CPU.
    #[error("{0}")]
    Cpu(#[from] timers::AffinityError),
    /// The system does not permit the requested timer slack or policy.
    #[error("{}", with_remedy(.0))]
    Forbidden(#[from] timers::Unavailable),
    /// The system lacks memory or processes.
    #[error("{0}")]
    NoRoom(String),
    /// The program cannot be executed.
    #[error("{}", without_errno(.0))]
    Program(io::Error),
}

impl From<io::Error> for StartError {
    fn from(error: io::Error) -> Self {
        match crate::limits::explain_shortage(&error) {
            Some(why) => Self::NoRoom(why),
            None => Self::Program(error),
        }
    }
}

/// Formats a reason with its remedy.
pub(super) fn with_remedy(why: &timers::Unavailable) -> String {
    why.remedy.as_ref().map_or_else(
        || why.reason.clone(),
        |remedy| format!("{}; {remedy}", why.reason),
    )
}

/// Formats a system error without the error number.
fn without_errno(error: &io::Error) -> String {
    let text = error.to_string();
    text.split_once(" (os error")
        .map_or(text.clone(), |(words, _)| words.to_owned())
}

/// A running process. Dropping the value ends the process and everything that it started.
#[derive(Debug)]
pub struct Running {
    child: Child,
    group: Pid,
    status: Option<ExitStatus>,
    cpu: Option<CpuTime>,
}

/// Adopts all descendants of this process, so that they end with it. Call this only in a program
/// that starts no other processes, and before a second thread starts.
pub fn own_descendants() {
    process::adopt_descendants();
    timers::mark_descendants(guard::MARK, &guard::mark());
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
    process::lead_group(&mut command)?;
    let is_own_worker = is_worker(&command);
    if is_own_worker {
        command.env(STARTER, std::process::id().to_string());
    }
    // The lock is held until the process is listed: an interruption comes either before the start
    // or finds the process in the list.
    let child = spawner::start(command, placement.into(), !is_own_worker)?;
    Ok(own_children.add(child))
}

/// The environment variable that holds the process id of the program that started a worker.
const STARTER: &str = "TIMERMETER_STARTER";
/// The subcommand with which this program hosts timers.
const WORKER: &str = "agent";

/// Whether a command starts this program as a worker, which itself requests the parent-death signal
/// from the kernel.
fn is_worker(command: &Command) -> bool {
    let Ok((program, words)) = this_program() else {
        return false;
    };
    let mut args = command.get_args();
    command.get_program() == program
        && words.iter().all(|word| args.next() == Some(word))
        && args.next() == Some(WORKER.as_ref())
}

/// Requests that the kernel ends this worker when the program that started the worker ends. Returns
/// whether that program is still running.
#[must_use]
pub fn stay_with_starter() -> bool {
    let starter = std::env::var(STARTER)
        .ok()
        .and_then(|starter| starter.parse().ok());
    starter.is_none_or(process::kill_with_parent)
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
    process::lead_group(command)?;
    let child = process::spawn(command)?;
    Ok(own_children.add(child))
}

impl OwnChildren {
    /// Checks whether a process may be started, and starts the guard before the first one.
    fn prepare(&mut self) -> Result<(), StartError> {
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
            // Without a guard the kernel still ends the children.
            self.guard = Guard::start().ok();
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
        Running {
            child,
            group,
            status: None,
            cpu: None,
        }
    }

    /// Removes a process group from the list before its leader is reaped.
    fn forget(&mut self, group: Pid) {
        self.groups.retain(|&other| other != group);
        if let Some(guard) = &mut self.guard {
            guard.forget(group);
        }
    }

    /// Whether `process` is the guard or a child that this program waits for.
    fn is_known(&self, process: Pid) -> bool {
        self.groups.contains(&process)
            || self
                .guard
                .as_ref()
                .is_some_and(|guard| guard.id() == process)
    }
}

impl Running {
    /// The process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Takes the pipes of the process; `None` for a pipe that does not exist or was already taken.
    pub fn pipes(&mut self) -> (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>) {
        (
            self.child.stdin.take(),
            self.child.stdout.take(),
            self.child.stderr.take(),
        )
    }

    /// Whether the process has exited. It is not reaped, so its process group can still be ended.
    #[must_use]
    pub fn has_exited(&self) -> bool {
        self.status.is_some() || process::has_exited(self.group)
    }

    /// Waits until the process has exited, without reaping it.
    pub fn wait_for_exit(&self) {
        if self.status.is_none() {
            process::wait_for_exit(self.group);
        }
    }

    /// The process group that the process leads; another thread can end it with
    /// [`process::kill_group`].
    #[must_use]
    pub fn group(&self) -> Pid {
        self.group
    }

    /// Ends the process and everything that it started, immediately. The returned status describes
    /// the process's own exit only if it [had exited](Self::has_exited) before.
    pub fn end(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() {
            let descendants = if owns_descendants() {
                descendants::descendants_of(self.group)
            } else {
                Vec::new()
            };
            self.end_group();
            if owns_descendants() {
                end_orphans(&descendants);
            }
        }
        self.status
    }

    /// Ends only the process group, for a run that is timed. Descendants that left the group are
    /// ended later.
    pub fn end_group(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() {
            let mut own_children = lock_own_children();
            process::kill_group(self.group);
            own_children.forget(self.group);
            drop(own_children);
            if let Ok((status, cpu)) = process::wait(&mut self.child) {
                (self.status, self.cpu) = (Some(status), cpu);
            }
        }
        self.status
    }

    /// The CPU time of the process, once it has ended; `None` if the system does not account for
    /// it.
    #[must_use]
    pub fn cpu_time(&self) -> Option<CpuTime> {
        self.cpu
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

/// Restores `value` in a kernel setting when this program ends, for whatever reason, unless
/// [`cancel_setting_restoration`] is called before.
///
/// # Errors
/// When the guard, which restores the setting, could not be started.
pub fn restore_setting_at_end(setting: &Path, value: &str) -> Result<(), StartError> {
    let mut own_children = lock_own_children();
    own_children.prepare()?;
    let guard = own_children.guard.as_mut().ok_or_else(|| {
        io::Error::other("the guard, which would restore it, could not be started")
    })?;
    Ok(guard.restore_at_end(setting, value)?)
}

/// Cancels the restoration of kernel settings, because they hold their original values again.
pub fn cancel_setting_restoration() {
    if let Some(guard) = &mut lock_own_children().guard {
        guard.cancel_restoration();
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
        thread::sleep(CHECK_INTERVAL);
    }
    if owns_descendants() {
        end_all_descendants();
    }
}

/// Ends the processes that remain when the program has done its work, and waits for their end.
pub fn finish() {
    // A program that started no process has nothing to end.
    if !owns_descendants()
        || try_lock_own_children().is_some_and(|own_children| !own_children.has_tried_guard)
    {
        return;
    }
    end_all_descendants();
    if let Some(guard) =
        try_lock_own_children().and_then(|mut own_children| own_children.guard.take())
    {
        guard.dismiss();
    }
}

/// Whether the user interrupted the program.
#[must_use]
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// Returns the command that starts this program again: the program, and the words before its
/// arguments. If this program runs in an emulator that the kernel does not start by itself, the
/// command starts the emulator. The path of this program comes from the system, or without `/proc`
/// from the command line.
///
/// # Errors
/// When the path of this program is unknown.
pub fn this_program() -> io::Result<(OsString, Vec<OsString>)> {
    let program = std::env::current_exe().map(Into::into).or_else(|error| {
        std::env::args_os()
            .next()
            .filter(|name| !name.is_empty())
            .ok_or_else(|| {
                io::Error::other(format!(
                    "the path of this program, which starts itself as a worker, is unknown: {error}; mount /proc"
                ))
            })
    })?;
    let mut command = timers::os::runner().into_iter().chain([program]);
    Ok((command.next().unwrap_or_default(), command.collect()))
}

/// Maximum number of checks whether the last processes have ended: 2 s together, because the kernel
/// needs time to end processes that write to a slow disk.
const MAX_CHECKS: u32 = 1_000;
/// Interval between two of these checks.
const CHECK_INTERVAL: Duration = Duration::from_millis(2);

/// Ends those former descendants of a process that became orphans when it ended. If no other child
/// is left whose descendants they could be, ends all orphans.
fn end_orphans(descendants: &[Pid]) {
    let has_no_orphans = process::listed_children(Pid::own()).is_some_and(|children| {
        let own_children = lock_own_children();
        children
            .into_iter()
            .all(|child| own_children.is_known(child))
    });
    if descendants.is_empty() && has_no_orphans {
        return;
    }
    for _ in 0..MAX_CHECKS {
        let all = process::all_with_parents();
        let own_children = lock_own_children();
        let has_no_children = own_children.groups.is_empty();
        let orphans = descendants::children_of(&all, Pid::own());
        let orphans: Vec<Pid> = orphans
            .filter(|&process| !own_children.is_known(process))
            .collect();
        drop(own_children);
        let to_end: Vec<Pid> = orphans
            .into_iter()
            .filter(|process| has_no_children || descendants.contains(process))
            .collect();
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
        thread::sleep(CHECK_INTERVAL);
    }
}

/// Ends all descendants except the guard, level by level: this process adopts each level when the
/// parents are gone.
fn end_all_descendants() {
    for _ in 0..MAX_CHECKS {
        let all = process::all_with_parents();
        let own_children = try_lock_own_children();
        let mut any_left = false;
        for &group in own_children
            .iter()
            .flat_map(|own_children| &own_children.groups)
        {
            // A dead leader remains a child until it is reaped, so only a leader that has not
            // exited counts.
            any_left |= !process::has_exited(group);
            process::kill_group(group);
        }
        for child in descendants::children_of(&all, Pid::own()) {
            match &own_children {
                Some(own_children) if own_children.is_known(child) => {}
                Some(_) => {
                    any_left = true;
                    process::end_child(child);
                }
                // Another thread is starting a process now; `child` may be that process, so it is
                // ended through its group.
                None => {
                    any_left |= !process::has_exited(child);
                    process::kill_group(child);
                }
            }
        }
        if !any_left {
            return;
        }
        drop(own_children);
        thread::sleep(CHECK_INTERVAL);
    }
}

fn owns_descendants() -> bool {
    OWNS_DESCENDANTS.load(Ordering::SeqCst)
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
