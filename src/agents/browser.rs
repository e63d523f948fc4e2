//! Hosts the clocks of a browser: a process that passes questions from the runner to a page of the
//! browser and answers back, and that ends the browser when it ends itself.
//!
//! The browser has its own profile in the folder of its agent, and loads a page from this process
//! only. The page fetches each question from this process and posts the answer.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use timers::Deadline;

use super::children::{self, RunningProcess, StartError};
use super::lines::{self, InputLine, printable};
use super::protocol::{AgentQuestion, Hello};
use super::tool::{self, ToolError};
use reporting::scratch::{self, ScratchFolder};

/// Maximum length of a request from the runner, in bytes.
const MAX_REQUEST_BYTES: u64 = 1 << 20;
/// Maximum length of a message from a page, in bytes.
const MAX_MESSAGE_BYTES: u64 = 256 << 20;
/// Maximum time for the start of a browser, enough for a busy machine.
const START_TIMEOUT: Duration = Duration::from_secs(60);
/// Interval between two checks of a browser that is silent.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);
/// Maximum time that a page waits for a question before it requests one again, because browsers
/// abort requests after minutes.
const MAX_POLL_TIME: Duration = Duration::from_secs(30);
/// Maximum length of a browser's error output in a message, in characters.
const MAX_ERROR_CHARS: usize = 200;

/// Flags that disable downloads and first-run questions, and give timers the behaviour of a visible
/// page.
const CHROMIUM_FLAGS: &[&str] = &[
    "--headless=new",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-proxy-server",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-gpu",
    "--disable-renderer-backgrounding",
    "--disable-sync",
    "--mute-audio",
];

/// The files that the browser may load; the first is the page.
const FILES: [&str; 3] = ["plain.html", "agent.js", "serve.js"];
/// The path from which the page fetches questions.
const QUESTION_PATH: &str = "next";

/// A kind of browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum BrowserKind {
    /// Chromium and browsers based on it.
    Chromium,
    /// Firefox.
    Firefox,
}

/// A browser with the files of its page.
#[derive(Clone, Debug)]
pub struct BrowserAgent {
    /// The kind of browser.
    pub kind: BrowserKind,
    /// The path of the browser.
    pub program: PathBuf,
    /// The folder that contains the files of the page and will contain the profile.
    pub folder: PathBuf,
}

/// The reason why a browser cannot be used any more.
#[derive(Debug, thiserror::Error)]
pub enum BrowserError {
    /// The folder of the profile cannot be created or written.
    #[error("the folder of its profile cannot be written: {0}; set TMPDIR")]
    Figures(io::Error),
    /// The thread that reads requests cannot be started.
    #[error("the thread that reads requests cannot be started: {0}")]
    NoThread(io::Error),
    /// No socket can be opened.
    #[error("no socket can be opened that serves its page: {0}")]
    NoSocket(io::Error),
    /// The browser does not report its version.
    #[error("`--version` of the browser failed: {0}")]
    NoVersion(ToolError),
    /// The browser cannot be started.
    #[error(transparent)]
    NotStarted(#[from] StartError),
    /// The browser has not requested a question within [`START_TIMEOUT`].
    #[error("the browser did not load its page within {} s", START_TIMEOUT.as_secs())]
    NoPage,
    /// The browser has ended, after this last line of error output.
    #[error("the browser has ended; its last error output: {0}")]
    Ended(String),
    /// The introduction cannot be written.
    #[error(transparent)]
    Introduction(#[from] serde_json::Error),
}

/// Serves requests until the input ends; then ends this process and the browser.
///
/// # Errors
/// When the browser cannot be used or has ended.
pub fn serve(
    agent: &BrowserAgent,
    mut input: Box<dyn BufRead + Send>,
    output: &mut dyn Write,
) -> Result<(), BrowserError> {
    let profile = ScratchFolder::within(&agent.folder, 0o700).map_err(BrowserError::Figures)?;
    let (request_sender, requests) = mpsc::channel();
    let read_requests = move || {
        while let Ok(InputLine::Whole(line)) = lines::read(&mut *input, MAX_REQUEST_BYTES) {
            if request_sender.send(line).is_err() {
                return;
            }
        }
        // The runner no longer waits for an answer.
        children::interrupt();
        scratch::abandon();
        children::finish();
        std::process::exit(0);
    };
    thread::Builder::new()
        .spawn(read_requests)
        .map_err(BrowserError::NoThread)?;
    let (question_sender, questions) = mpsc::channel();
    let (answer_sender, answers) = mpsc::channel();
    // The name of the profile is random, so no other program knows the path of the page.
    let name = profile.path().file_name().unwrap_or_default();
    let folder_path = format!("/{}/", name.to_string_lossy());
    let site = Arc::new(PageServer {
        files: agent.folder.clone(),
        folder_path: folder_path.clone(),
        questions: Mutex::new(questions),
        answers: answer_sender,
    });
    let port = serve_page(&site).map_err(BrowserError::NoSocket)?;
    let url = format!("http://127.0.0.1:{port}{folder_path}{}", FILES[0]);
    let (browser, version) = start_browser(agent, profile.path(), &url, &answers)?;
    for line in requests {
        let is_introduction = matches!(
            serde_json::from_slice(&line),
            Ok(AgentQuestion::Hello { .. })
        );
        let _ = question_sender.send(line);
        let mut answer = loop {
            match answers.recv_timeout(CHECK_INTERVAL) {
                // A page without an answer only requests a question.
                Ok(answer) if answer.is_empty() => {}
                Ok(answer) => break answer,
                Err(_) if browser.has_exited() => return Err(ended(profile.path())),
                Err(_) => {}
            }
        };
        if let Ok(mut hello) = serde_json::from_slice::<Hello>(&answer)
            && is_introduction
        {
            // Browsers report only a part of their version to pages.
            hello.runtime.version.clone_from(&version);
            answer = serde_json::to_vec(&hello)?;
        }
        answer.push(b'\n');
        if output
            .write_all(&answer)
            .and_then(|()| output.flush())
            .is_err()
        {
            break;
        }
    }
    Ok(())
}

/// Starts the browser and waits for its page. Returns the browser and its version with any
/// deviations from the default settings.
fn start_browser(
    agent: &BrowserAgent,
    profile: &Path,
    url: &str,
    answers: &Receiver<Vec<u8>>,
) -> Result<(RunningProcess, String), BrowserError> {
    let mut asks_version = Command::new(&agent.program);
    asks_version.arg("--version");
    let output = tool::run_within(START_TIMEOUT, asks_version).map_err(BrowserError::NoVersion)?;
    let mut words = output.split_whitespace();
    let version = words.find(|word| word.starts_with(|first: char| first.is_ascii_digit()));
    let version = version.unwrap_or("of unknown version").to_owned();
    match agent.kind {
        BrowserKind::Chromium => {
            let mut data = std::ffi::OsString::from("--user-data-dir=");
            data.push(profile);
            let start = |flag: Option<&str>| {
                let mut command =
                    command(&agent.program, profile).map_err(BrowserError::Figures)?;
                command.args(CHROMIUM_FLAGS).args(flag).arg(&data).arg(url);
                wait_for_page(command, profile, answers)
            };
            match start(None) {
                Ok(browser) => Ok((browser, version)),
                Err(why) if children::interrupted() => Err(why),
                // Chromium refuses to run as root with its sandbox.
                Err(_) => start(Some("--no-sandbox"))
                    .map(|browser| (browser, format!("{version}, without its sandbox"))),
            }
        }
        BrowserKind::Firefox => {
            let command = std::fs::copy(agent.folder.join("user.js"), profile.join("user.js"))
                .and_then(|_| command(&agent.program, profile));
            let mut command = command.map_err(BrowserError::Figures)?;
            command
                .args(["--headless", "--no-remote", "--profile"])
                .arg(profile)
                .arg(url);
            wait_for_page(command, profile, answers).map(|browser| (browser, version))
        }
    }
}

/// Returns a command that keeps its temporary files, settings and error output in the profile.
fn command(program: &Path, profile: &Path) -> io::Result<Command> {
    let error_output = File::create(error_file(profile))?;
    let mut command = Command::new(program);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(error_output);
    for name in [
        "HOME",
        "XDG_CONFIG_HOME",
        "XDG_CACHE_HOME",
        "XDG_RUNTIME_DIR",
    ] {
        command.env(name, profile);
    }
    // Browsers create sockets in this folder, whose paths have to be short (`unix(7)`).
    command.env("TMPDIR", profile.parent().unwrap_or(profile));
    Ok(command)
}

/// Starts the browser and waits until its page requests a question.
fn wait_for_page(
    command: Command,
    profile: &Path,
    answers: &Receiver<Vec<u8>>,
) -> Result<RunningProcess, BrowserError> {
    let running = children::start(command, None)?;
    let deadline = Deadline::after(START_TIMEOUT);
    while answers.recv_timeout(CHECK_INTERVAL).is_err() {
        if running.has_exited() {
            return Err(ended(profile));
        }
        if deadline.remaining().is_none() {
            return Err(BrowserError::NoPage);
        }
    }
    Ok(running)
}

/// The file with the error output of the browser.
fn error_file(profile: &Path) -> PathBuf {
    profile.join("stderr")
}

/// Returns the error that the browser has ended, with the last line of its error output.
fn ended(profile: &Path) -> BrowserError {
    let error_output = std::fs::read(error_file(profile)).unwrap_or_default();
    let mut lines = error_output
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty());
    let last = lines.next_back().unwrap_or(b"none");
    BrowserError::Ended(printable(last, MAX_ERROR_CHARS))
}

/// The files that the browser may load, and the channels for questions and answers.
struct PageServer {
    files: PathBuf,
    /// The part of the URL before the name of a file.
    folder_path: String,
    questions: Mutex<Receiver<Vec<u8>>>,
    answers: Sender<Vec<u8>>,
}

/// Serves the page on the returned port until this process ends.
fn serve_page(site: &Arc<PageServer>) -> io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port();
    let site = Arc::clone(site);
    let accept = move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let site = Arc::clone(&site);
            // If no thread can be started or the connection fails, the page gets no response.
            let _ = thread::Builder::new().spawn(move || site.respond(stream));
        }
    };
    thread::Builder::new().spawn(accept)?;
    Ok(port)
}

impl PageServer {
    /// Answers an HTTP request of the page: for a file, or for the next question.
    fn respond(&self, mut stream: TcpStream) -> io::Result<()> {
        let mut input = BufReader::new(stream.try_clone()?.take(MAX_MESSAGE_BYTES));
        let (mut request_line, mut length) = (String::new(), 0);
        input.read_line(&mut request_line)?;
        loop {
            let mut header = String::new();
            input.read_line(&mut header)?;
            let header = header.trim().to_ascii_lowercase();
            if header.is_empty() {
                break;
            }
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
        }
        let path = request_line.split(' ').nth(1).unwrap_or_default();
        let (status, body) = match path.strip_prefix(&self.folder_path) {
            Some(QUESTION_PATH) => {
                let mut answer = Vec::new();
                input.take(length).read_to_end(&mut answer)?;
                let _ = self.answers.send(answer);
                let questions = self
                    .questions
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner);
                let question = questions.recv_timeout(MAX_POLL_TIME);
                ("200 OK", question.unwrap_or_default())
            }
            Some(name) if FILES.contains(&name) => {
                ("200 OK", std::fs::read(self.files.join(name))?)
            }
            _ => ("404 Not Found", Vec::new()),
        };
        let kind = match path.rsplit_once('.') {
            Some((_, "html")) => "text/html",
            Some(_) => "text/javascript",
            None => "text/plain",
        };
        let length = body.len();
        write!(
            stream,
            "HTTP/1.1 {status}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
        )?;
        stream.write_all(&body)?;
        stream.flush()
    }
}
