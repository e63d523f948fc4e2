//! Runs the guard: a process that waits until this program ends, for whatever reason, then ends the
//! processes that this program left behind and restores kernel settings that were changed
//! temporarily. It is a process of its own because no process can handle `SIGKILL`.
//!
//! The guard finds processes by their group, or by the mark, an environment variable that all
//! descendants inherit: init or another process adopts orphans, so their original parent is unknown.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use timers::Deadline;
use timers::os::Pid;
use timers::os::process::{ProcessGroup, kill_by_environment, prepare_group, wait_for_exit};

use super::{Placement, StartError, this_program};
use crate::scratch;

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
    /// The guard has a locked file as its standard output, to which it writes nothing.
    pub(super) fn start(locked: Option<File>) -> Result<Self, StartError> {
        let (program, words) = this_program()?;
        let mut command = Command::new(program);
        command.args(words).arg(VERB).current_dir("/");
        prepare_group(&mut command)?;
        command
            .stdin(Stdio::piped())
            .stdout(locked.map_or_else(Stdio::null, Stdio::from))
            .stderr(Stdio::null());
        // Without a placement, so that the guard keeps off the CPU that is measured.
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

    /// Makes the guard write `original` to a kernel setting when this process ends, for whatever
    /// reason, unless `cancel_restoration` is called before. It does so only if the setting then
    /// has one of the values `ours`, because any other was chosen by someone else.
    pub(super) fn restore_at_end(
        &mut self,
        setting: &Path,
        original: &str,
        [before, now]: [&str; 2],
    ) -> io::Result<()> {
        let setting = setting
            .to_str()
            .filter(|path| !path.contains('\n'))
            .ok_or_else(|| io::Error::other("the path of the setting is not a line of UTF-8"))?;
        self.input
            .write_all(format!("={original}={before}={now}={setting}\n").as_bytes())
    }

    /// Removes all settings that the guard would restore.
    pub(super) fn cancel_restoration(&mut self) {
        let _ = self.input.write_all(b"~\n");
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
/// which means that the guarded program has ended; then restores the settings, ends the groups and
/// all processes with the mark, and removes the folder with the files of this run.
///
/// `+GROUP` adds a process group, `-GROUP` removes it, `=ORIGINAL=BEFORE=NOW=PATH` is a setting that
/// has to be restored if it has one of the last two values, and `~` means that there is none.
pub fn serve(input: &mut dyn BufRead) {
    let mut groups: BTreeMap<Pid, ProcessGroup> = BTreeMap::new();
    let mut setting = None;
    for line in input.lines().map_while(Result::ok) {
        match line.strip_prefix('=') {
            Some(changed) => setting = Some(changed.to_owned()),
            None if line == "~" => setting = None,
            None => {}
        }
        let group = line.get(1..).and_then(Pid::parse);
        match (line.as_bytes().first(), group) {
            (Some(b'+'), Some(group)) => drop(groups.insert(group, ProcessGroup::led_by(group))),
            (Some(b'-'), Some(group)) => drop(groups.remove(&group)),
            _ => {}
        }
    }
    restore(setting.as_deref().unwrap_or_default());
    groups.values().for_each(ProcessGroup::kill);
    if let Some(mark) = mark() {
        let limit = Deadline::after(MAX_END_TIME);
        // A process may start another one during a search.
        while kill_by_environment(&mark, None) > 0 && limit.remaining().is_some() {
            timers::pause(CHECK_INTERVAL);
        }
    }
    scratch::remove_stale(&std::env::temp_dir());
}

/// Restores a setting if it has a value that the guarded program gave it. An error cannot be
/// reported, because that program is gone.
fn restore(setting: &str) {
    let parts: Vec<&str> = setting.splitn(4, '=').collect();
    let &[original, before, now, path] = parts.as_slice() else {
        return;
    };
    if read(Path::new(path)).is_ok_and(|found| [before, now].contains(&found.as_str())) {
        let _ = fs::write(path, format!("{original}\n"));
    }
}

/// The value of a kernel setting.
pub(super) fn read(setting: &Path) -> io::Result<String> {
    Ok(fs::read_to_string(setting)?.trim().to_owned())
}
