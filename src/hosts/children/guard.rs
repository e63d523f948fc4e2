//! The guard: a process that does nothing but wait for this one to end, and then ends what it left
//! behind, and sets back settings of the kernel that were changed for a while. It is for the one
//! end that no process can handle, `SIGKILL`.
//!
//! What this program started it finds by its group, or else by a variable that all descendants
//! inherit: orphans fall to init, or the process that adopts them, and no longer tell whom they
//! come from.

use std::fs;
use std::io::{self, BufRead, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;

use timers::os::Pid;
use timers::os::process::{end_all_with, kill_group, lead_group};

use super::{PATIENCE_STEPS, STEP, StartError, nursery, this_program};
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
    told: ChildStdin,
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
        let mut child = nursery::start(command, super::Placement::default(), false)?;
        let told = child
            .stdin
            .take()
            .ok_or_else(|| io::Error::other("it has no input"))?;
        Ok(Self {
            child,
            told,
            keeps: false,
        })
    }

    pub(super) fn id(&self) -> Pid {
        Pid::of(&self.child)
    }

    pub(super) fn watch(&mut self, group: Pid) {
        // Where it is gone there is no process to tell.
        let _ = self.told.write_all(format!("+{group}\n").as_bytes());
    }

    pub(super) fn forget(&mut self, group: Pid) {
        let _ = self.told.write_all(format!("-{group}\n").as_bytes());
    }

    /// Has it write `value` to a setting of the kernel once this process ends, however that is,
    /// until it is told to let go.
    pub(super) fn keep(&mut self, setting: &Path, value: &str) -> io::Result<()> {
        let setting = setting
            .to_str()
            .filter(|path| !path.contains('\n'))
            .ok_or_else(|| io::Error::other("its path is not text"))?;
        self.told
            .write_all(format!("={value}={setting}\n").as_bytes())?;
        self.keeps = true;
        Ok(())
    }

    pub(super) fn let_go(&mut self) {
        let _ = self.told.write_all(b"~\n");
        self.keeps = false;
    }

    /// Ends it, when nothing is left to be guarded; it sets back first what is to be set back.
    pub(super) fn dismiss(mut self) {
        if self.keeps {
            drop(self.told);
        } else {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

/// What the guard does: remembers the groups it is told of, and ends them when its input ends. Then
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
