//! Runs the guard: a process that waits until this program ends, for whatever reason, then ends the
//! processes that this program left behind. It is a process of its own because no process can handle `SIGKILL`.
//!
//! The guard finds processes by their group, or by the mark, an environment variable that all
//! descendants inherit: init or another process adopts orphans, so their original parent is unknown.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use timers::Deadline;
use timers::os::Pid;
use timers::os::process::{ProcessGroup, kill_by_environment, prepare_group, wait_for_exit};

use super::{Placement, StartError, this_program};
use reporting::scratch;

/// The subcommand with which this program runs as the guard.
pub const VERB: &str = "guard";

/// The environment variable that holds the mark of a run.
const MARK: &str = "TIMERMETER_RUN";
/// Maximum time from the end of a process's pipes and its kill to its exit: the kernel needs time to
/// end processes that write to a slow disk.
pub(super) const MAX_END_TIME: Duration = Duration::from_secs(2);
/// Interval between two checks whether the last processes have ended.
pub(super) const CHECK_INTERVAL: Duration = Duration::from_millis(2);

/// Gives the mark, which is unique to this run, to all processes that this program starts. Call this
/// before a second thread uses the environment.
pub(super) fn mark_descendants() {
    let time = timers::kernel_time().unwrap_or(0);
    timers::mark_descendants(MARK, &format!("{}-{time}", std::process::id()));
}

/// The mark of this run as `NAME=value`; `None` if this process has none.
fn mark() -> Option<String> {
    Some(format!("{MARK}={}", std::env::var(MARK).ok()?))
}

/// Ends those of `processes` that have the mark.
pub(super) fn end_marked(processes: &[Pid]) {
    if let Some(mark) = mark().filter(|_| !processes.is_empty()) {
        kill_by_environment(&mark, Some(processes));
    }
}

/// The handle of the guard in the program that it guards.
pub(super) struct Guard {
    child: Child,
    input: ChildStdin,
}

impl Guard {
    /// Starts the guard. Its standard input is a pipe, which closes when this process ends.
    pub(super) fn start() -> Result<Self, StartError> {
        let (program, words) = this_program()?;
        let mut command = Command::new(program);
        command.args(words).arg(VERB).current_dir("/");
        prepare_group(&mut command);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        // The default placement undoes that this thread is pinned to the CPU that is measured.
        let mut child = Placement::default().spawn(&mut command)?;
        let input = child
            .stdin
            .take()
            .ok_or_else(|| io::Error::other("the guard has no standard input"))?;
        Ok(Self { child, input })
    }

    /// Adds a process group.
    pub(super) fn watch(&mut self, group: Pid) {
        // A write error means that the guard is gone, so the group cannot be registered.
        let _ = self.input.write_all(format!("+{group}\n").as_bytes());
    }

    /// Removes a process group.
    pub(super) fn forget(&mut self, group: Pid) {
        let _ = self.input.write_all(format!("-{group}\n").as_bytes());
    }

    /// Lets the guard do its work and waits until it has ended, but not much longer than it searches.
    pub(super) fn dismiss(self) {
        let Self { mut child, input } = self;
        drop(input);
        if wait_for_exit(Pid::from_child(&child), 2 * MAX_END_TIME) {
            let _ = child.wait();
        }
    }
}

/// The main function of the guard. Records what each line of its input says until the input ends,
/// which means that the guarded program has ended or dismissed the guard; then ends the groups and all processes with the
/// mark, and removes the folder with the files of this run.
///
/// `+GROUP` adds a process group, and `-GROUP` removes it.
pub fn serve(input: &mut dyn BufRead) {
    let mut groups: BTreeMap<Pid, ProcessGroup> = BTreeMap::new();
    for line in input.lines().map_while(Result::ok) {
        let group = line.get(1..).and_then(Pid::parse);
        match (line.as_bytes().first(), group) {
            (Some(b'+'), Some(group)) => drop(groups.insert(group, ProcessGroup::led_by(group))),
            (Some(b'-'), Some(group)) => drop(groups.remove(&group)),
            _ => {}
        }
    }
    groups.values().for_each(ProcessGroup::kill);
    if let Some(mark) = mark() {
        let limit = Deadline::after(MAX_END_TIME);
        // A process may start another one during a search. The mark is looked for in the environment that a process
        // began with, which is that of neither this process nor the guarded one.
        while kill_by_environment(&mark, None) > 0 && limit.remaining().is_some() {
            timers::pause(CHECK_INTERVAL);
        }
    }
    scratch::remove_stale(&std::env::temp_dir());
}
