//! The guard: a process that does nothing but wait for this one to end, and then ends what it left
//! behind, and sets back settings of the kernel that were changed for a while. It is for the one
//! end that no process can handle, `SIGKILL`.
//!
//! What this program started it finds by its group, or else by a variable that all descendants
//! inherit: init, or another process, adopts orphans, so that their parent is no longer known.

use std::fs;
use std::io::{self, BufRead, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;

use timers::os::Pid;
use timers::os::process::{end_all_with, kill_group, lead_group};

use super::{PATIENCE_STEPS, STEP, StartError, spawner, this_program};
use crate::scratch;

/// The word by which this program is asked to be the guard.
pub const VERB: &str = "guard";

/// The variable that all descendants of this program inherit, the guard too.
pub(super) const MARK: &str = "TIMERMETER_RUN";

/// What it holds: no other run has the same.
pub(super) fn mark() -> String {
    format!(
        "{}-{}",
        std::process::id(),
        timers::kernel_time().unwrap_or(0)
    )
}

/// The guard, seen from the program that it guards.
pub(super) struct Guard {
    child: Child,
    input: ChildStdin,
    /// Whether something is to be set back at the end.
    keeps: bool,
}

impl Guard {
    /// Starts it. It holds nothing of this process but the end of a pipe, whose other end closes
    /// when this process ends.
    pub(super) fn start() -> Result<Self, StartError> {
        let (program, words) = this_program()?;
        let mut command = Command::new(program);
        command.args(words).arg(VERB).current_dir("/");
        lead_group(&mut command)?;
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        // It would not survive this process if the kernel ended it too; and it keeps off the CPU
        // that is measured on.
        let mut child = spawner::start(command, super::Placement::default(), false)?;
        let input = child
            .stdin
            .take()
            .ok_or_else(|| io::Error::other("it has no input"))?;
        Ok(Self {
            child,
            input,
            keeps: false,
        })
    }

    pub(super) fn id(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    pub(super) fn watch(&mut self, group: Pid) {
        // Where it is gone there is no process to tell.
        let _ = self.input.write_all(format!("+{group}\n").as_bytes());
    }

    pub(super) fn forget(&mut self, group: Pid) {
        let _ = self.input.write_all(format!("-{group}\n").as_bytes());
    }

    /// Has it write `value` to a setting of the kernel once this process ends, however that is,
    /// or until `let_go`.
    pub(super) fn keep(&mut self, setting: &Path, value: &str) -> io::Result<()> {
        let setting = setting
            .to_str()
            .filter(|path| !path.contains('\n'))
            .ok_or_else(|| io::Error::other("its path is not text"))?;
        self.input
            .write_all(format!("={value}={setting}\n").as_bytes())?;
        self.keeps = true;
        Ok(())
    }

    pub(super) fn let_go(&mut self) {
        let _ = self.input.write_all(b"~\n");
        self.keeps = false;
    }

    /// Ends it, when nothing is left to be guarded; it sets back first what is to be set back.
    pub(super) fn dismiss(mut self) {
        if self.keeps {
            drop(self.input);
        } else {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

/// What the guard does: remembers the groups that it receives, and ends them when its input ends. Then
/// it removes the folder with their files.
pub fn serve(input: &mut dyn BufRead) {
    let mut groups: Vec<Pid> = Vec::new();
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
            (Some(b'+'), Some(group)) => groups.push(group),
            (Some(b'-'), Some(group)) => groups.retain(|&other| other != group),
            _ => {}
        }
    }
    // Nothing is left to tell that it could not be done: what the settings were is written down as
    // well.
    settings
        .iter()
        .for_each(|(path, value)| drop(fs::write(path, format!("{value}\n"))));
    groups.into_iter().for_each(kill_group);
    if let Ok(mark) = std::env::var(MARK) {
        end_marked(&format!("{MARK}={mark}"));
    }
    scratch::sweep(&std::env::temp_dir());
}

/// Some may start others while they are looked for.
fn end_marked(variable: &str) {
    for _ in 0..PATIENCE_STEPS {
        let marked = end_all_with(variable);
        if marked == 0 {
            return;
        }
        thread::sleep(STEP);
    }
}
