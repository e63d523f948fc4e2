//! The guard: a process that does nothing but wait for this one to end, and then ends the groups that it left behind. It is
//! for the one end that nobody can handle, `SIGKILL`.

use std::io::{self, BufRead, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};

use rustix::process::Pid;

use super::{StartError, kill, nursery, this_program};

/// The word by which this program is asked to be the guard.
pub const VERB: &str = "guard";

/// The guard, seen from the program that it guards.
pub(super) struct Guard {
    child: Child,
    told: ChildStdin,
}

impl Guard {
    /// Starts it. It holds nothing of this process but the end of a pipe, whose other end closes when this process ends.
    pub(super) fn start() -> Result<Self, StartError> {
        let mut command = Command::new(this_program()?);
        command.arg(VERB).process_group(0).current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // It would not survive this process if the kernel ended it too; and it keeps off the CPU that is measured on.
        let mut child = nursery::start(command, None, false)?;
        let told = child.stdin.take().ok_or_else(|| io::Error::other("it has no input"))?;
        Ok(Self { child, told })
    }

    pub(super) fn id(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    pub(super) fn watch(&mut self, group: Pid) {
        // Where it is gone there is nobody to tell.
        let _ = self.told.write_all(format!("+{}\n", group.as_raw_nonzero()).as_bytes());
    }

    pub(super) fn forget(&mut self, group: Pid) {
        let _ = self.told.write_all(format!("-{}\n", group.as_raw_nonzero()).as_bytes());
    }

    /// Ends it, when nobody is left to be guarded.
    pub(super) fn dismiss(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the guard does: remembers the groups it is told of, and ends them when nobody tells it any more.
pub fn serve(input: &mut dyn BufRead) {
    let mut groups: Vec<Pid> = Vec::new();
    for line in input.lines().map_while(Result::ok) {
        let group = line.get(1..).and_then(|number| number.parse().ok()).and_then(Pid::from_raw);
        match (line.as_bytes().first(), group) {
            (Some(b'+'), Some(group)) => groups.push(group),
            (Some(b'-'), Some(group)) => groups.retain(|&other| other != group),
            _ => {}
        }
    }
    groups.into_iter().for_each(kill);
}
