//! An agent as a process: started, fed, listened to, ended.
//!
//! Whatever it does, its caller waits no longer than it wants to: threads write its input and read
//! its output, and nothing waits for the threads.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use timers::os::limits::{allow_files, open_files};
use timers::{Answer, Deadline, Fault};

use super::book::Book;
use super::children::{self, Placement, Running, StartError};
use super::lines::{self, Line};

/// No agent says more than this before it is asked.
const UNASKED: u64 = 64 << 10;
/// As much of a line of standard error is kept.
const LONGEST_WORDS: usize = 300;
/// How long an agent may take to end by itself once its input is closed.
const SHUTDOWN_TIME: Duration = Duration::from_millis(100);
/// How long its standard error may take to end after it.
const LAST_OUTPUT_TIME: Duration = Duration::from_millis(200);

/// How to start an agent.
#[derive(Clone, Debug)]
pub struct Command {
    /// What messages call it.
    pub name: String,
    /// The program.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// What is known of its timers before it is started, where it is built into this program.
    pub book: Option<Arc<Book>>,
}

impl Command {
    /// That of an agent of which nothing is known.
    pub fn new(name: impl Into<String>, program: impl Into<OsString>, args: Vec<OsString>) -> Self {
        Self {
            name: name.into(),
            program: program.into(),
            args,
            book: None,
        }
    }
}

/// What an agent wrote to its standard output.
pub enum Output {
    /// A line.
    Line(Vec<u8>),
    /// More than any answer to the last question needs, without an end.
    Endless,
}

/// Bytes for the stack of a thread that moves bytes: a campaign keeps a hundred of them.
const STACK: usize = 128 << 10;

/// An agent that was started and is not yet waited for, its pipes in the hands of threads.
pub struct Process {
    running: Running,
    input: Option<Sender<Vec<u8>>>,
    /// Bytes of the longest line that is read now.
    longest: Arc<AtomicU64>,
    output: Receiver<Output>,
    words: Arc<Mutex<String>>,
    words_end: Receiver<()>,
}

impl Process {
    /// Starts it, placed like that from its first instruction.
    pub fn start(command: &Command, placement: impl Into<Placement>) -> Answer<Self> {
        let lost = |why: String| {
            Fault::Lost(format!(
                "cannot start `{}`: {why}",
                command.program.display()
            ))
        };
        let no_thread = |error| {
            lost(
                crate::limits::explain(&error)
                    .unwrap_or_else(|| format!("no thread for it: {error}")),
            )
        };
        let mut running =
            children::start(piped(command), placement).map_err(|error| match error {
                StartError::Interrupted => Fault::Interrupted,
                StartError::Program(_) if !is_this_program(command) => {
                    lost(format!("{error}; check the command after --agent"))
                }
                error => lost(error.to_string()),
            })?;
        let pipes = running.pipes();
        let (input, requests) = mpsc::channel();
        let (lines, output) = mpsc::sync_channel(1);
        let (words_are_open, words_end) = mpsc::channel::<()>();
        let words = Arc::new(Mutex::new(String::new()));
        let kept = Arc::clone(&words);
        let longest = Arc::new(AtomicU64::new(UNASKED));
        let allowed = Arc::clone(&longest);
        // From here on dropping it ends the child.
        let process = Self {
            running,
            input: Some(input),
            longest,
            output,
            words,
            words_end,
        };
        if let (Some(stdin), Some(stdout), Some(stderr)) = pipes {
            let start = |job: Box<dyn FnOnce() + Send>| {
                thread::Builder::new()
                    .stack_size(STACK)
                    .spawn(job)
                    .map_err(no_thread)
            };
            start(Box::new(move || feed(&requests, stdin)))?;
            start(Box::new(move || {
                let longest = || allowed.load(Ordering::SeqCst);
                listen(
                    &mut BufReader::with_capacity(1 << 16, stdout),
                    &longest,
                    &lines,
                );
            }))?;
            start(Box::new(move || {
                let _open = words_are_open;
                keep_last_error_output(&mut BufReader::new(stderr), &kept);
            }))?;
        }
        Ok(process)
    }

    /// Its number.
    pub fn id(&self) -> u32 {
        self.running.id()
    }

    /// Hands a line to it, whose answer is a line of at most `longest` bytes. If it is not read,
    /// the end of the output will tell.
    pub fn send(&self, line: Vec<u8>, longest: u64) {
        self.longest.store(longest, Ordering::SeqCst);
        if let Some(input) = &self.input {
            let _ = input.send(line);
        }
    }

    /// Ends its input.
    pub fn close(&mut self) {
        self.input = None;
    }

    /// What it writes next. Disconnected once there is nothing more to come.
    pub fn next(&self, wait: Duration) -> Result<Output, RecvTimeoutError> {
        self.output.recv_timeout(wait)
    }

    /// What it has written already, if anything.
    pub fn pending(&self) -> Option<Output> {
        self.output.try_recv().ok()
    }

    /// Whether it is over. It is not waited for, so its process group can still be ended.
    pub fn has_exited(&self) -> bool {
        self.running.has_exited()
    }

    /// Ends it and all it started, at once. How it ended is only its own doing if it [had
    /// exited](Self::has_exited).
    pub fn end(&mut self) -> Option<ExitStatus> {
        self.input = None;
        self.running.end()
    }

    /// The last line of its standard error that holds something.
    pub fn last_error_output(&self) -> Option<String> {
        // Ends at once when the thread does, as it never sends anything.
        let _ = self.words_end.recv_timeout(LAST_OUTPUT_TIME);
        Some(
            self.words
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone(),
        )
        .filter(|words| !words.is_empty())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.input = None;
        let shutdown = Deadline::after(SHUTDOWN_TIME);
        while !self.has_exited() && !children::interrupted() {
            let Some(left) = shutdown.remaining() else {
                break;
            };
            if self.next(left).is_err() {
                break;
            }
        }
        self.end();
    }
}

fn piped(command: &Command) -> std::process::Command {
    let mut process = std::process::Command::new(&command.program);
    process.args(&command.args);
    process
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    process
}

/// The command of a worker is not the user's: it is not told.
fn is_this_program(command: &Command) -> bool {
    children::this_program().is_ok_and(|(program, words)| {
        program == command.program && command.args.starts_with(&words)
    })
}

fn feed(requests: &Receiver<Vec<u8>>, mut input: ChildStdin) {
    while let Ok(line) = requests.recv() {
        if input.write_all(&line).and_then(|()| input.flush()).is_err() {
            return;
        }
    }
}

fn listen(output: &mut dyn BufRead, longest: &dyn Fn() -> u64, lines: &SyncSender<Output>) {
    loop {
        let next = match lines::read_within(output, longest) {
            Ok(Line::Whole(line)) => Output::Line(line),
            Ok(Line::TooLong(_)) => Output::Endless,
            // Half an answer is none.
            Ok(Line::Unfinished(_) | Line::End) | Err(_) => return,
        };
        let last = matches!(next, Output::Endless);
        if lines.send(next).is_err() || last {
            return;
        }
    }
}

fn keep_last_error_output(errors: &mut dyn BufRead, kept: &Mutex<String>) {
    while let Ok(Line::Whole(line) | Line::TooLong(line) | Line::Unfinished(line)) =
        lines::read(errors, 4 * LONGEST_WORDS as u64)
    {
        let words = lines::printable(&line, LONGEST_WORDS);
        if !words.is_empty() {
            *kept.lock().unwrap_or_else(PoisonError::into_inner) = words;
        }
    }
}

/// Files that a campaign needs open at once: three pipes a process, of which some run beside each
/// other.
pub const FILES: u64 = 128;

/// Allows this process as many open files as it may allow itself.
///
/// # Errors
/// When that is less than what a campaign needs.
pub fn make_room_for_files() -> Result<(), String> {
    let too_few = || open_files().filter(|&files| files < FILES);
    if too_few().is_some() {
        allow_files(FILES);
    }
    match too_few() {
        Some(files) => Err(format!(
            "at most {files} files may be open at once, and {FILES} are needed: allow more with `ulimit -n {FILES}`"
        )),
        None => Ok(()),
    }
}

/// How a process ended, as a sentence goes on after its name.
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
