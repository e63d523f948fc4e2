//! Runs an agent as a process: starts it, writes its input, reads its output, ends it.
//!
//! The caller never waits longer than it chooses: threads write the input and read the output of
//! the agent, and the caller does not wait for those threads.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{ChildStdin, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use timers::os::limits::{self, max_open_files};
use timers::{Answer, Fault};

use super::children::{self, Placement, RunningProcess, StartError};
use super::declarations::Declarations;
use super::lines::{self, InputLine};
use super::surroundings::Surroundings;
use reporting::text::plain;

/// Maximum length of a line before the first question, in bytes.
const MAX_EARLY_LINE_BYTES: u64 = 64 << 10;
/// Maximum length of the kept part of a line of standard error, in characters.
const MAX_ERROR_LINE_CHARS: usize = 300;
/// Maximum time in which an agent has to exit once its input is closed.
const MAX_SHUTDOWN_TIME: Duration = Duration::from_millis(100);
/// Maximum time by which the standard error of an agent may end later than its process.
const MAX_ERROR_OUTPUT_DELAY: Duration = Duration::from_millis(200);

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
        }
    }
}

/// Bytes of the stack of a thread that copies bytes; small, because a campaign keeps about 100 such
/// threads.
const STACK_BYTES: usize = 128 << 10;

/// A running agent whose pipes are served by threads.
pub struct AgentProcess {
    running: RunningProcess,
    input: Option<Sender<Vec<u8>>>,
    /// Maximum length of the line that is being read, in bytes.
    max_line_bytes: Arc<AtomicU64>,
    output: Receiver<InputLine>,
    last_error_line: Arc<Mutex<String>>,
    /// Disconnected when the standard error has ended.
    error_output_end: Receiver<()>,
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
        let mut running =
            children::start(with_pipes(command), placement).map_err(|error| match error {
                StartError::Interrupted => Fault::Interrupted,
                StartError::Program(_) if !is_this_program(command) => {
                    lost(format!("{error}; check the command after --agent"))
                }
                error => lost(error.to_string()),
            })?;
        let pipes = running.pipes();
        let (input, requests) = mpsc::channel();
        let (lines, output) = mpsc::sync_channel(1);
        let (error_output_is_open, error_output_end) = mpsc::channel::<()>();
        let last_error_line = Arc::new(Mutex::new(String::new()));
        let last_line = Arc::downgrade(&last_error_line);
        let max_line_bytes = Arc::new(AtomicU64::new(MAX_EARLY_LINE_BYTES));
        let shared_max_line_bytes = Arc::clone(&max_line_bytes);
        // From here on, dropping `process` ends the child.
        let process = Self {
            running,
            input: Some(input),
            max_line_bytes,
            output,
            last_error_line,
            error_output_end,
        };
        if let (Some(stdin), Some(stdout), Some(stderr)) = pipes {
            let start = |job: Box<dyn FnOnce() + Send>| {
                thread::Builder::new()
                    .stack_size(STACK_BYTES)
                    .spawn(job)
                    .map_err(no_thread)
            };
            start(Box::new(move || write_requests(&requests, stdin)))?;
            start(Box::new(move || {
                let max_line_bytes = || shared_max_line_bytes.load(Ordering::SeqCst);
                read_output(
                    &mut BufReader::with_capacity(1 << 16, stdout),
                    &max_line_bytes,
                    &lines,
                );
            }))?;
            start(Box::new(move || {
                let _open = error_output_is_open;
                keep_last_error_output(&mut BufReader::new(stderr), &|| last_line.upgrade());
            }))?;
        }
        Ok(process)
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.running.id()
    }

    /// Queues a line for the agent; the answer is a line of at most `max_line_bytes` bytes. An
    /// error of writing is not reported, because the output then ends too.
    pub fn send(&self, line: Vec<u8>, max_line_bytes: u64) {
        self.max_line_bytes.store(max_line_bytes, Ordering::SeqCst);
        if let Some(input) = &self.input {
            let _ = input.send(line);
        }
    }

    /// Waits for the next line of output, which is whole or too long.
    ///
    /// # Errors
    /// `Timeout` when nothing arrived in time, `Disconnected` when the output has ended.
    pub(super) fn next(&self, wait: Duration) -> Result<InputLine, RecvTimeoutError> {
        self.output.recv_timeout(wait)
    }

    /// Returns a line of output that has already arrived, if any, without waiting.
    pub(super) fn pending(&self) -> Option<InputLine> {
        self.output.try_recv().ok()
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
        self.output = mpsc::channel().1;
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
        // Returns when the thread that reads standard error ends, because that thread sends
        // nothing.
        let _ = self.error_output_end.recv_timeout(MAX_ERROR_OUTPUT_DELAY);
        Some(
            self.last_error_line
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone(),
        )
        .filter(|line| !line.is_empty())
    }
}

impl Drop for AgentProcess {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.wait_for_exit(MAX_SHUTDOWN_TIME);
        self.end();
    }
}

/// Converts the command of an agent to a command whose standard streams are pipes.
fn with_pipes(command: &AgentCommand) -> std::process::Command {
    let mut process = std::process::Command::new(&command.program);
    process.args(&command.args);
    if let Some(surroundings) = &command.surroundings {
        surroundings.apply(&mut process);
    }
    process
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    process
}

/// Whether the command is this program, whose path is omitted from messages because the user did
/// not give it.
fn is_this_program(command: &AgentCommand) -> bool {
    children::this_program().is_ok_and(|(program, words)| {
        program == command.program && command.args.starts_with(&words)
    })
}

/// Writes the queued lines to the agent until the queue or the pipe is closed.
fn write_requests(requests: &Receiver<Vec<u8>>, mut input: ChildStdin) {
    while let Ok(line) = requests.recv() {
        if input.write_all(&line).and_then(|()| input.flush()).is_err() {
            return;
        }
    }
}

/// Reads the output of the agent, line by line, to its end.
fn read_output(
    output: &mut dyn BufRead,
    max_line_bytes: &dyn Fn() -> u64,
    lines: &SyncSender<InputLine>,
) {
    loop {
        // An incomplete answer is discarded.
        let Ok(line @ (InputLine::Whole(_) | InputLine::TooLong(_))) =
            lines::read_within(output, max_line_bytes)
        else {
            return;
        };
        let is_last = matches!(line, InputLine::TooLong(_));
        if lines.send(line).is_err() || is_last {
            return;
        }
    }
}

/// Keeps the last non-blank line of standard error in `last_line`, as long as that exists.
fn keep_last_error_output(
    errors: &mut dyn BufRead,
    last_line: &dyn Fn() -> Option<Arc<Mutex<String>>>,
) {
    while let Ok(InputLine::Whole(line) | InputLine::TooLong(line) | InputLine::Unfinished(line)) =
        lines::read(errors, 4 * MAX_ERROR_LINE_CHARS as u64)
    {
        let Some(last_line) = last_line() else { return };
        let text = lines::printable(&line, MAX_ERROR_LINE_CHARS);
        if !text.is_empty() && !lines::is_jvm_notice(&text) {
            *last_line.lock().unwrap_or_else(PoisonError::into_inner) = text;
        }
    }
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
