//! Runs an agent as a process: starts it, writes its input, reads its output, ends it.
//!
//! The caller never waits longer than it chooses: threads write the input and read the output of
//! the agent, and the caller does not wait for those threads.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{ChildStdin, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use timers::os::handoff::{self, Sender};
use timers::os::limits::{self, max_open_files};
use timers::{Answer, Fault};

use super::browser::{PAGE, Page};
use super::children::{self, Placement, RunningProcess, StartError};
use super::declarations::Declarations;
use super::lines::{InputLine, LastLine, Lines, in_thread};
use super::surroundings::Surroundings;
use reporting::text::plain;

/// Maximum length of a line before the first question, in bytes.
const MAX_EARLY_LINE_BYTES: u64 = 64 << 10;
/// Maximum time in which an agent has to exit once its input is closed.
const MAX_SHUTDOWN_TIME: Duration = Duration::from_millis(100);

/// The command that starts an agent.
#[derive(Clone, Debug)]
pub struct AgentCommand {
    /// The name of the agent in messages, without control characters.
    pub name: String,
    /// The program.
    pub program: OsString,
    /// The arguments of the program.
    pub args: Vec<OsString>,
    /// The declared properties of the agent's timers, if the agent is built into this program.
    pub declarations: Option<Arc<Declarations>>,
    /// Where the agent runs, if it does not run where this program does.
    pub surroundings: Option<Arc<Surroundings>>,
    /// The log in which the runtime of the agent records disturbances of a measurement; `%p` in its
    /// name stands for the process id.
    pub log: Option<PathBuf>,
    /// The version of the browser in a page of which the agent runs; pages get only a part of it.
    pub browser_version: Option<String>,
}

impl AgentCommand {
    /// A command for an agent without declared properties.
    pub fn new(name: impl Into<String>, program: impl Into<OsString>, args: Vec<OsString>) -> Self {
        Self {
            name: plain(&name.into()),
            program: program.into(),
            args,
            declarations: None,
            surroundings: None,
            log: None,
            browser_version: None,
        }
    }

    /// Whether the agent runs in a page of a browser, which the command starts.
    fn runs_in_page(&self) -> bool {
        self.args.iter().any(|arg| arg == PAGE)
    }
}

/// A running agent whose pipes are served by threads.
pub struct AgentProcess {
    running: RunningProcess,
    input: Option<Sender<Vec<u8>>>,
    /// The output, until the agent is ended.
    output: Option<Lines>,
    last_error: Option<LastLine>,
    /// The page in which the agent runs, if it is one.
    page: Option<Page>,
}

impl AgentProcess {
    /// Starts the agent with the given placement.
    pub fn start(command: &AgentCommand, placement: impl Into<Placement>) -> Answer<Self> {
        let lost = |why: String| {
            Fault::Lost(format!(
                "cannot start `{}`: {why}",
                command.program.display()
            ))
        };
        let no_thread = |error| lost(format!("no thread can be started for its pipes: {error}"));
        let page = match &command.surroundings {
            Some(surroundings) if command.runs_in_page() => {
                let opened = Page::open(surroundings.folder(), MAX_EARLY_LINE_BYTES);
                Some(opened.map_err(|error| lost(format!("its page cannot be served: {error}")))?)
            }
            _ => None,
        };
        let mut process = match &page {
            Some((page, ..)) => page.command(&command.program, &command.args),
            None => with_pipes(command),
        };
        if let Some(surroundings) = &command.surroundings {
            surroundings.apply(&mut process);
        }
        let mut running =
            children::start(&mut process, placement.into()).map_err(|error| match error {
                StartError::Interrupted => Fault::Interrupted,
                StartError::Program(_) if !is_this_program(command) => {
                    lost(format!("{error}; check the command after --agent"))
                }
                error => lost(error.to_string()),
            })?;
        let (stdin, stdout, stderr) = running.pipes();
        let last_error = stderr.map(LastLine::of).transpose().map_err(no_thread)?;
        let (page, input, output) = match (page, stdin, stdout) {
            (Some((page, input, output)), ..) => (Some(page), input, output),
            (None, Some(stdin), Some(stdout)) => {
                let input = write_requests(stdin).map_err(no_thread)?;
                let output = Lines::of(stdout, MAX_EARLY_LINE_BYTES).map_err(no_thread)?;
                (None, input, output)
            }
            _ => return Err(lost("it has no pipes".into())),
        };
        Ok(Self {
            running,
            input: Some(input),
            output: Some(output),
            last_error,
            page,
        })
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.running.id()
    }

    /// Whether the process is a browser, and the agent runs in its page.
    pub fn is_browser(&self) -> bool {
        self.page.is_some()
    }

    /// Queues a line for the agent; the answer is a line of at most `max_line_bytes` bytes. An
    /// error of writing is not reported, because the output then ends too.
    pub fn send(&self, line: Vec<u8>, max_line_bytes: u64) {
        if let (Some(input), Some(output)) = (&self.input, &self.output) {
            output.limit(max_line_bytes);
            let _ = input.send(line);
        }
    }

    /// Waits for the next line of output, which is whole or too long; without any time, returns one
    /// that has already arrived.
    ///
    /// # Errors
    /// `Timeout` when nothing arrived in time, `Disconnected` when the output has ended.
    pub(super) fn next(&self, wait: Duration) -> Result<InputLine, RecvTimeoutError> {
        let output = self.output.as_ref();
        output.map_or(Err(RecvTimeoutError::Disconnected), |output| {
            output.next(wait)
        })
    }

    /// Whether the process has exited. It is not reaped, so its process group can still be ended.
    pub fn has_exited(&self) -> bool {
        self.running.has_exited()
    }

    /// Waits for at most `limit` until the process has exited. Returns whether it has.
    pub fn wait_for_exit(&self, limit: Duration) -> bool {
        self.running.wait_for_exit(limit)
    }

    /// Ends the process and everything that it started, immediately. The returned status describes
    /// the process's own exit only if it [had exited](Self::has_exited) before.
    pub fn end(&mut self) -> Option<ExitStatus> {
        self.input = None;
        // The thread that reads the output then closes it.
        self.output = None;
        self.running.end()
    }

    /// Ends the process as [`end`](Self::end) does. Returns what came of it, as a predicate that
    /// follows its name.
    pub fn end_and_describe(&mut self) -> String {
        self.end();
        self.running.why_left().map_or_else(
            || "was ended".into(),
            |why| format!("cannot be ended, because its process {} {why}", self.id()),
        )
    }

    /// Returns the last non-blank line of standard error, if any.
    pub fn last_error_output(&self) -> Option<String> {
        self.last_error.as_ref()?.get()
    }
}

impl Drop for AgentProcess {
    fn drop(&mut self) {
        self.input = None;
        if !self.is_browser() {
            let _ = self.wait_for_exit(MAX_SHUTDOWN_TIME);
        }
        self.end();
    }
}

/// Converts the command of an agent to a command whose standard streams are pipes.
fn with_pipes(command: &AgentCommand) -> std::process::Command {
    let mut process = std::process::Command::new(&command.program);
    process
        .args(&command.args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    process
}

/// Starts a thread that writes what is sent to the pipe, until one of them is closed.
fn write_requests(mut pipe: ChildStdin) -> io::Result<Sender<Vec<u8>>> {
    let (input, requests) = handoff::channel::<Vec<u8>>()?;
    in_thread(move || {
        while let Ok(line) = requests.receive(Duration::MAX) {
            if pipe.write_all(&line).and_then(|()| pipe.flush()).is_err() {
                return;
            }
        }
    })?;
    Ok(input)
}

/// Whether the command is this program, whose path is omitted from messages because the user did
/// not give it.
fn is_this_program(command: &AgentCommand) -> bool {
    children::this_program().is_ok_and(|(program, words)| {
        program == command.program && command.args.starts_with(&words)
    })
}

/// Number of files that a campaign has to open at the same time: three pipes for each of several
/// concurrent processes.
pub const MIN_OPEN_FILES: u64 = 128;

/// This process may open fewer files than a campaign needs.
#[derive(Debug, thiserror::Error)]
#[error(
    "this process may open only {0} files, and {min} are needed: allow more with `ulimit -n {min}`",
    min = MIN_OPEN_FILES
)]
pub struct TooFewFiles(u64);

/// Raises the limit of open files of this process as far as the system permits.
///
/// # Errors
/// When the limit is less than a campaign needs.
pub fn raise_file_limit() -> Result<(), TooFewFiles> {
    let too_few = || max_open_files().filter(|&files| files < MIN_OPEN_FILES);
    if too_few().is_some() {
        limits::raise_file_limit(MIN_OPEN_FILES);
    }
    too_few().map_or(Ok(()), |files| Err(TooFewFiles(files)))
}

/// Describes how a process ended, as a predicate that follows its name.
pub fn exit_description(status: ExitStatus) -> String {
    let Some(signal) = timers::os::process::signal(status) else {
        return status.code().map_or_else(
            || "ended".into(),
            |code| format!("exited with status {code}"),
        );
    };
    let name = timers::os::process::signal_name(signal)
        .map_or_else(String::new, |name| format!(" ({name})"));
    format!("was killed by signal {signal}{name}")
}
