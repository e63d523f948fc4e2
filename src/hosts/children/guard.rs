//! Runs the guard: a process that waits until this program ends, then ends the processes that this
//! program left behind and restores kernel settings that were changed temporarily. The guard exists
//! for `SIGKILL`, which no process can handle.
//!
//! The guard finds processes by their group, or by an environment variable that all descendants
//! inherit: init or another process adopts orphans, so their original parent is unknown.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

use timers::os::Pid;
use timers::os::process::{Group, kill_by_environment, prepare_group};

use super::descendants::{CHECK_INTERVAL, MAX_CHECKS};
use super::{StartError, adopts_descendants, spawner, this_program};
use crate::scratch;

/// The subcommand with which this program runs as the guard.
pub const VERB: &str = "guard";

/// The environment variable that all descendants of this program inherit, including the guard.
pub(super) const MARK: &str = "TIMERMETER_RUN";

/// The value of [`MARK`], unique to this run.
pub(super) fn mark() -> String {
    format!(
        "{}-{}",
        std::process::id(),
        timers::kernel_time().unwrap_or(0)
    )
}

/// The mark of this run as `NAME=value`; `None` if this process has none.
pub(super) fn variable() -> Option<String> {
    Some(format!("{MARK}={}", std::env::var(MARK).ok()?))
}

/// The handle of the guard in the program that it guards.
pub(super) struct Guard {
    child: Child,
    input: ChildStdin,
    /// Whether the guard has settings to restore.
    has_settings: bool,
}

impl Guard {
    /// Starts the guard. Its standard input is a pipe, which closes when this process ends.
    pub(super) fn start() -> Result<Self, StartError> {
        let (program, words) = this_program()?;
        let mut command = Command::new(program);
        command.args(words).arg(VERB).current_dir("/");
        prepare_group(&mut command)?;
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
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

    /// Makes the guard write `value` to a kernel setting when this process ends, for whatever
    /// reason, unless `cancel_restoration` is called before.
    pub(super) fn restore_at_end(&mut self, setting: &Path, value: &str) -> io::Result<()> {
        let setting = setting
            .to_str()
            .filter(|path| !path.contains('\n'))
            .ok_or_else(|| io::Error::other("the path of the setting is not a line of UTF-8"))?;
        self.input
            .write_all(format!("={value}={setting}\n").as_bytes())?;
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
/// `+GROUP` adds a process group, `-GROUP` removes it, `=VALUE=PATH` adds a setting that has to be
/// restored, and `~` removes all settings.
pub fn serve(input: &mut dyn BufRead) {
    let mut groups: BTreeMap<Pid, Group> = BTreeMap::new();
    let mut settings: Vec<(String, String)> = Vec::new();
    for line in input.lines().map_while(Result::ok) {
        match line
            .strip_prefix('=')
            .and_then(|setting| setting.split_once('='))
        {
            Some((value, path)) => settings.push((path.to_owned(), value.to_owned())),
            None if line == "~" => settings.clear(),
            None => {}
        }
        let group = line.get(1..).and_then(Pid::parse);
        match (line.as_bytes().first(), group) {
            (Some(b'+'), Some(group)) => drop(groups.insert(group, Group::led_by(group))),
            (Some(b'-'), Some(group)) => drop(groups.remove(&group)),
            _ => {}
        }
    }
    // An error cannot be reported, because the guarded program is gone; the original settings are
    // recorded in a file too.
    settings
        .iter()
        .for_each(|(path, value)| drop(fs::write(path, format!("{value}\n"))));
    groups.values().for_each(Group::kill);
    if let Some(variable) = variable() {
        end_marked(&variable);
    }
    scratch::remove_stale(&std::env::temp_dir());
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
