//! The one owner of all processes that run for this one: whatever a verb starts, it starts here,
//! and none of it outlives the program, however that ends.
//!
//! - Each leads a process group of its own, which is ended as a whole. A group is forgotten before
//!   its leader is waited for, as after that the system may give the number to another process.
//! - What left its group, by a session of its own, falls to this process when its parent ends
//!   ([`own_all`]), and is ended too.
//! - When this program is killed, the kernel ends those that it started (`spawner`), and the guard
//!   ends their groups and all that carry the mark of this program in their environment (`guard`):
//!   what has a session of its own *and* another environment gets away.
//! - By its number alone nothing is ended but what the kernel confirms as a child. Where `/proc`
//!   does not tell whose descendants processes are ([`hidden`]), groups are ended and no others.

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

static KNOWN: Mutex<OwnChildren> = Mutex::new(OwnChildren {
    groups: Vec::new(),
    guard: None,
    guarded: false,
});
static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// Whether all descendants of this process are its own doing, so that any may be ended. Not so
/// where it is a library in another program.
static OWNS_ALL: AtomicBool = AtomicBool::new(false);

struct OwnChildren {
    groups: Vec<Pid>,
    guard: Option<Guard>,
    /// Whether a guard was tried to be had.
    guarded: bool,
}

/// Why a process could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The user asked to stop: nothing is started any more.
    #[error("interrupted")]
    Interrupted,
    /// It could not be ended in time.
    #[error(
        "the kernel lets this process read no clock (clock_gettime), so that nothing could be ended that hangs: allow the call \
         in the sandbox"
    )]
    NoClock,
    /// It cannot run where it shall.
    #[error("{0}")]
    Cpu(#[from] timers::AffinityError),
    /// It may not run as it shall.
    #[error("{}", with_remedy(.0))]
    Forbidden(#[from] timers::Unavailable),
    /// The system has no room for it.
    #[error("{0}")]
    NoRoom(String),
    /// The program cannot be run.
    #[error("{}", bare(.0))]
    Program(io::Error),
}

impl From<io::Error> for StartError {
    fn from(error: io::Error) -> Self {
        match crate::limits::explain(&error) {
            Some(why) => Self::NoRoom(why),
            None => Self::Program(error),
        }
    }
}

/// A cause and what to do about it.
pub(super) fn with_remedy(why: &timers::Unavailable) -> String {
    why.remedy.as_ref().map_or_else(
        || why.reason.clone(),
        |remedy| format!("{}; {remedy}", why.reason),
    )
}

/// What the system said, without its number.
fn bare(error: &io::Error) -> String {
    let text = error.to_string();
    text.split_once(" (os error")
        .map_or(text.clone(), |(words, _)| words.to_owned())
}

/// A process that was started. Dropping it ends it, and all that it started.
#[derive(Debug)]
pub struct Running {
    child: Child,
    group: Pid,
    status: Option<ExitStatus>,
    cpu: Option<CpuTime>,
}

/// Makes all descendants of this process its own, to be ended with it. For programs that start
/// nothing else, and before they start a second thread.
pub fn own_all() {
    process::adopt_descendants();
    timers::mark_descendants(guard::MARK, &guard::mark());
    OWNS_ALL.store(true, Ordering::SeqCst);
}

/// Why what leaves its group goes on when this program ends, where that is so on a system that
/// could tell.
pub use timers::os::process::hidden;

/// Under what a process runs from its first instruction, as far as it is not as this one does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// The only CPU.
    pub cpu: Option<u32>,
    /// The timer slack of its threads, in nanoseconds.
    pub slack_ns: Option<u64>,
    /// The policy by which its threads are scheduled.
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

/// Starts a process, placed like that, or where this process may run.
///
/// # Errors
/// Says why it cannot be.
pub fn start(mut command: Command, placement: impl Into<Placement>) -> Result<Running, StartError> {
    let mut known = known();
    known.prepare()?;
    process::lead_group(&mut command)?;
    let asks_itself = is_worker(&command);
    if asks_itself {
        command.env(STARTER, std::process::id().to_string());
    }
    // Held until it is known: an interruption either comes before it, or finds it.
    let child = spawner::start(command, placement.into(), !asks_itself)?;
    Ok(known.add(child))
}

/// The variable by which a worker of this program knows which process started it.
const STARTER: &str = "TIMERMETER_STARTER";
/// The word by which this program is asked to be one that hosts timers.
const WORKER: &str = "agent";

/// Whether a command starts this program as a worker, which itself asks the kernel to be ended with
/// the one that started it.
fn is_worker(command: &Command) -> bool {
    let Ok((program, words)) = this_program() else {
        return false;
    };
    let mut args = command.get_args();
    command.get_program() == program
        && words.iter().all(|word| args.next() == Some(word))
        && args.next() == Some(WORKER.as_ref())
}

/// What a worker does first: from now on the kernel ends it when the program ends that started it.
/// Returns whether that is still there.
#[must_use]
pub fn stay_with_starter() -> bool {
    let starter = std::env::var(STARTER)
        .ok()
        .and_then(|starter| starter.parse().ok());
    starter.is_none_or(process::ends_with)
}

/// As [`start`], from the calling thread and as fast as the system can: for a run that is timed. It
/// is ended by the guard alone when this program is killed, as to ask the kernel for that takes a
/// slower way.
///
/// # Errors
/// Says why it cannot be started.
pub fn start_timed(command: &mut Command) -> Result<Running, StartError> {
    let mut known = known();
    known.prepare()?;
    process::lead_group(command)?;
    let child = process::spawn(command)?;
    Ok(known.add(child))
}

impl OwnChildren {
    fn prepare(&mut self) -> Result<(), StartError> {
        if interrupted() {
            return Err(StartError::Interrupted);
        }
        if timers::kernel_time().is_none() {
            return Err(StartError::NoClock);
        }
        if !self.guarded && owns_all() {
            self.guarded = true;
            if !process::NEEDS_GUARD {
                return Ok(());
            }
            // Without one there is still what the kernel does.
            self.guard = Guard::start().ok();
        }
        Ok(())
    }

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

    fn forget(&mut self, group: Pid) {
        self.groups.retain(|&other| other != group);
        if let Some(guard) = &mut self.guard {
            guard.forget(group);
        }
    }

    /// Children that this program waits for.
    fn is_known(&self, process: Pid) -> bool {
        self.groups.contains(&process)
            || self
                .guard
                .as_ref()
                .is_some_and(|guard| guard.id() == process)
    }
}

impl Running {
    /// Its number.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its pipes, as far as it has any and they are still here.
    pub fn pipes(&mut self) -> (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>) {
        (
            self.child.stdin.take(),
            self.child.stdout.take(),
            self.child.stderr.take(),
        )
    }

    /// Whether it is over. It is not waited for, so its process group can still be ended.
    #[must_use]
    pub fn has_exited(&self) -> bool {
        self.status.is_some() || process::has_exited(self.group)
    }

    /// Returns once it is over.
    pub fn until_it_exits(&self) {
        if self.status.is_none() {
            process::until_it_exits(self.group);
        }
    }

    /// The group that it leads, for ending it from another thread with [`process::kill_group`].
    #[must_use]
    pub fn group(&self) -> Pid {
        self.group
    }

    /// Ends it and all that it started, at once. How it ended is only its own doing if it [had
    /// exited](Self::has_exited).
    pub fn end(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() {
            let below = if owns_all() {
                descendants::below(self.group)
            } else {
                Vec::new()
            };
            self.end_group();
            if owns_all() {
                end_strays(&below);
            }
        }
        self.status
    }

    /// Ends its group only: what left that is ended later. For a run that is timed.
    pub fn end_group(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() {
            let mut known = known();
            process::kill_group(self.group);
            known.forget(self.group);
            drop(known);
            if let Ok((status, cpu)) = process::wait(&mut self.child) {
                (self.status, self.cpu) = (Some(status), cpu);
            }
        }
        self.status
    }

    /// The CPU time that it took, once it has ended; `None` where the system does not count that.
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

/// Has a setting of the kernel hold `value` again once this program ends, however that is, unless
/// it is [let go](let_settings_go) before.
///
/// # Errors
/// When no process could be started that sees to it.
pub fn keep_setting(setting: &Path, value: &str) -> Result<(), StartError> {
    let mut known = known();
    known.prepare()?;
    let guard = known
        .guard
        .as_mut()
        .ok_or_else(|| io::Error::other("no guard could be started that would set it back"))?;
    Ok(guard.keep(setting, value)?)
}

/// Settings hold what they should.
pub fn let_settings_go() {
    if let Some(guard) = &mut known().guard {
        guard.let_go();
    }
}

/// Ends all children, and everything below them, and has nothing started any more. For handlers of
/// signals.
pub fn interrupt() {
    // Set before the list is looked at: a later start sees it.
    INTERRUPTED.store(true, Ordering::SeqCst);
    // Somebody may be starting a process at this moment, and take long.
    for _ in 0..PATIENCE_STEPS {
        if let Some(known) = known_now() {
            known
                .groups
                .iter()
                .for_each(|&group| process::kill_group(group));
            break;
        }
        thread::sleep(STEP);
    }
    if owns_all() {
        end_everybody();
    }
}

/// Ends what is still there when the program has done its work, and waits for that.
pub fn finish() {
    // Who started nothing has nothing to end.
    if !owns_all() || known_now().is_some_and(|known| !known.guarded) {
        return;
    }
    end_everybody();
    if let Some(guard) = known_now().and_then(|mut known| known.guard.take()) {
        guard.dismiss();
    }
}

/// Whether the user asked to stop.
#[must_use]
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// What starts this program once more: a program, and the words before its own arguments. The
/// system tells where it is through `/proc`; without that, its starter has said so. An emulator
/// that the system does not know is started in its place.
///
/// # Errors
/// When its starter did not.
pub fn this_program() -> io::Result<(OsString, Vec<OsString>)> {
    let program = std::env::current_exe().map(Into::into).or_else(|error| {
        std::env::args_os()
            .next()
            .filter(|name| !name.is_empty())
            .ok_or_else(|| {
                io::Error::other(format!(
                    "this program cannot be found to start workers: {error}; mount /proc"
                ))
            })
    })?;
    let mut words = timers::os::runner().into_iter().chain([program]);
    Ok((words.next().unwrap_or_default(), words.collect()))
}

/// How often, and at what distance, one looks whether the last ones are gone: two seconds, as the
/// kernel takes its time with those that write to a slow disk.
const PATIENCE_STEPS: u32 = 1_000;
const STEP: Duration = Duration::from_millis(2);

/// Ends those among `below` that are orphans by now; and all orphans, when no child is left that
/// they could belong to.
fn end_strays(below: &[Pid]) {
    let own = process::listed(Pid::own());
    let is_quiet = own.is_some_and(|own| {
        let known = known();
        own.into_iter().all(|child| known.is_known(child))
    });
    if below.is_empty() && is_quiet {
        return;
    }
    for _ in 0..PATIENCE_STEPS {
        let all = process::all();
        let known = known();
        let alone = known.groups.is_empty();
        let orphans = descendants::children_of(&all, Pid::own());
        let orphans: Vec<Pid> = orphans
            .filter(|&process| !known.is_known(process))
            .collect();
        drop(known);
        let strays: Vec<Pid> = orphans
            .into_iter()
            .filter(|process| alone || below.contains(process))
            .collect();
        strays
            .iter()
            .for_each(|&process| process::end_child(process));
        // Those whose parents are still dying come later.
        let left = below
            .iter()
            .any(|process| all.iter().any(|(other, _)| other == process));
        if strays.is_empty() && !left {
            return;
        }
        thread::sleep(STEP);
    }
}

/// Ends all descendants but the guard, level by level, as each falls to this process when its
/// parent is gone.
fn end_everybody() {
    for _ in 0..PATIENCE_STEPS {
        let all = process::all();
        let known = known_now();
        let mut left = false;
        for &group in known.iter().flat_map(|known| &known.groups) {
            // It stays a child until it is waited for; what counts is that it is dead.
            left |= !process::has_exited(group);
            process::kill_group(group);
        }
        for child in descendants::children_of(&all, Pid::own()) {
            match &known {
                Some(known) if known.is_known(child) => {}
                Some(_) => {
                    left = true;
                    process::end_child(child);
                }
                // Somebody is starting one at this moment: any may be it.
                None => {
                    left |= !process::has_exited(child);
                    process::kill_group(child);
                }
            }
        }
        if !left {
            return;
        }
        drop(known);
        thread::sleep(STEP);
    }
}

fn owns_all() -> bool {
    OWNS_ALL.load(Ordering::SeqCst)
}

fn known() -> MutexGuard<'static, OwnChildren> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn known_now() -> Option<MutexGuard<'static, OwnChildren>> {
    match KNOWN.try_lock() {
        Ok(known) => Some(known),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}
