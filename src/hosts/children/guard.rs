//! Runs the guard: a process that waits until this program ends, then ends the processes that this
//! program left behind and restores kernel settings that were changed temporarily. The guard exists
//! for `SIGKILL`, which no process can handle.
//!
//! The guard finds processes by their group, or by the mark that all descendants inherit: init or
//! another process adopts orphans, so their original parent is unknown.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

use timers::os::Pid;
use timers::os::process::{Group, kill_by_environment, prepare_group};

use super::descendants::{CHECK_INTERVAL, MAX_CHECKS};
use super::{StartError, adopts_descendants, mark, setting, spawner, this_program};
use crate::scratch;

/// The subcommand with which this program runs as the guard.
pub const VERB: &str = "guard";

/// The handle of the guard in the program that it guards.
pub(super) struct Guard {
    child: Child,
    input: ChildStdin,
    /// Whether the guard has settings to restore.
    has_settings: bool,
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
        // Without the parent-death signal, so that the guard survives this process; without a
        // placement, so that the guard keeps off the CPU that is measured.
        let mut child = spawner::start(command, super::Placement::default(), false)?;
        let input = child
            .stdin
            .take()
            .ok_or_else(|| io::Error::other("the guard has no standard input"))?;
        Ok(Self {
            child,
            input,
            has_settings: false,
        })
    }

    pub(super) fn id(&self) -> Pid {
        Pid::from_child(&self.child)
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
            .write_all(format!("={original}={before}={now}={setting}\n").as_bytes())?;
        self.has_settings = true;
        Ok(())
    }

    /// Removes all settings that the guard would restore.
    pub(super) fn cancel_restoration(&mut self) {
        let _ = self.input.write_all(b"~\n");
        self.has_settings = false;
    }

    /// Ends the guard when no process group is left to be guarded; the guard restores its settings
    /// first, and ends the descendants that this process did not adopt.
    pub(super) fn dismiss(mut self) {
        if self.has_settings || !adopts_descendants() {
            drop(self.input);
        } else {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

/// The main function of the guard. Records what each line of its input says until the input ends,
/// which means that the guarded program has ended; then restores the settings, ends the groups and
/// all processes with the mark, and removes the folder with the files of this run.
///
/// `+GROUP` adds a process group, `-GROUP` removes it, `=ORIGINAL=BEFORE=NOW=PATH` is a setting that
/// has to be restored if it has one of the last two values, and `~` means that there is none.
pub fn serve(input: &mut dyn BufRead) {
    let mut groups: BTreeMap<Pid, Group> = BTreeMap::new();
    let mut setting = None;
    for line in input.lines().map_while(Result::ok) {
        match line.strip_prefix('=') {
            Some(changed) => setting = Some(changed.to_owned()),
            None if line == "~" => setting = None,
            None => {}
        }
        let group = line.get(1..).and_then(Pid::parse);
        match (line.as_bytes().first(), group) {
            (Some(b'+'), Some(group)) => drop(groups.insert(group, Group::led_by(group))),
            (Some(b'-'), Some(group)) => drop(groups.remove(&group)),
            _ => {}
        }
    }
    restore(setting.as_deref().unwrap_or_default());
    groups.values().for_each(Group::kill);
    if let Some(variable) = mark::variable() {
        end_marked(&variable);
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
    if setting::read(Path::new(path)).is_ok_and(|found| [before, now].contains(&found.as_str())) {
        let _ = fs::write(path, format!("{original}\n"));
    }
}

/// Ends every process whose environment contains `variable`. Repeats the search, because a process
/// may start another one during it.
fn end_marked(variable: &str) {
    for _ in 0..MAX_CHECKS {
        if kill_by_environment(variable, None) == 0 {
            return;
        }
        timers::pause(CHECK_INTERVAL);
    }
}
