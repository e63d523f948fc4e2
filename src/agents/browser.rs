//! Serves the page in which the agent of a browser runs: passes questions to the page and answers
//! back, in place of the pipes of other agents.
//!
//! The browser has its own profile in the folder of its agent, and loads a page from this process
//! only. The page fetches each question from this process and posts the answer.

use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{fs, thread};

use reporting::scratch::ScratchFolder;
use timers::os::handoff::{self, Receiver, Sender};

use super::lines::{LineSender, Lines};
use super::surroundings::fill;

/// The argument that stands for the URL of the page.
pub(super) const PAGE: &str = "$page";
/// Stands for the folder of the profile.
const PROFILE: &str = "$profile";
/// The files that the browser may load; the first is the page.
const FILES: [&str; 3] = ["plain.html", "agent.js", "serve.js"];
/// The settings of Firefox, which it reads from its profile.
const SETTINGS: &str = "user.js";
/// The path from which the page fetches questions.
const QUESTION_PATH: &str = "next";
/// Maximum time that a page waits for a question before it requests one again, because browsers
/// abort requests after minutes.
const MAX_POLL_TIME: Duration = Duration::from_secs(30);

/// The page of a browser. Dropping the value closes it and removes the profile.
pub(super) struct Page {
    profile: ScratchFolder,
    address: SocketAddr,
    server: Arc<Server>,
}

impl Page {
    /// Opens a page with the files in `folder`. Also returns what sends questions to it, and its
    /// answers.
    pub(super) fn open(
        folder: &Path,
        max_bytes: u64,
    ) -> io::Result<(Self, Sender<Vec<u8>>, Lines)> {
        let profile = ScratchFolder::within(folder, 0o700)?;
        fs::copy(folder.join(SETTINGS), profile.path().join(SETTINGS))?;
        let (input, questions) = handoff::channel()?;
        let (answers, output) = Lines::channel(max_bytes)?;
        // The name of the profile is random, so no other program knows the path of the page.
        let name = profile.path().file_name().unwrap_or_default();
        let server = Arc::new(Server {
            files: folder.into(),
            folder_path: format!("/{}/", name.to_string_lossy()),
            relay: Mutex::new((questions, answers)),
            is_closed: AtomicBool::new(false),
        });
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let page = Self {
            profile,
            address,
            server: Arc::clone(&server),
        };
        thread::Builder::new().spawn(move || server.serve(&listener))?;
        Ok((page, input, output))
    }

    /// The command that loads the page.
    pub(super) fn command(&self, program: &OsStr, args: &[OsString]) -> Command {
        let url = format!(
            "http://{}{}{}",
            self.address, self.server.folder_path, FILES[0]
        );
        let values = [
            (PAGE, url.as_ref()),
            (PROFILE, self.profile.path().as_os_str()),
        ];
        let fill_in = |arg: &OsString| fill(&arg.to_string_lossy(), values);
        let mut browser = Command::new(program);
        browser
            .args(args.iter().map(fill_in))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        browser
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.server.is_closed.store(true, Ordering::SeqCst);
        // The thread that waits for connections then ends.
        let _ = TcpStream::connect(self.address);
    }
}

/// Answers the requests of the page.
struct Server {
    files: PathBuf,
    /// The part of the URL before the name of a file.
    folder_path: String,
    /// The questions for the page, and the way of its answers.
    relay: Mutex<(Receiver<Vec<u8>>, LineSender)>,
    is_closed: AtomicBool,
}

impl Server {
    /// Accepts connections until the page is closed.
    fn serve(self: Arc<Self>, listener: &TcpListener) {
        for stream in listener.incoming().map_while(Result::ok) {
            if self.is_closed.load(Ordering::SeqCst) {
                return;
            }
            let server = Arc::clone(&self);
            // If no thread can be started or the connection fails, the page gets no response.
            let _ = thread::Builder::new().spawn(move || server.respond(stream));
        }
    }

    /// Answers an HTTP request of the page: for a file, or for the next question.
    fn respond(&self, mut stream: TcpStream) -> io::Result<()> {
        let mut input = BufReader::new(stream.try_clone()?);
        let lines = input.by_ref().lines().map_while(Result::ok);
        let mut head = lines.take_while(|line| !line.is_empty());
        let request = head.next().unwrap_or_default();
        let length = head.filter_map(|header| {
            let header = header.to_ascii_lowercase();
            header.strip_prefix("content-length:")?.trim().parse().ok()
        });
        let length = length.last().unwrap_or(0);
        let path = request.split(' ').nth(1).unwrap_or_default();
        let (status, body) = match path.strip_prefix(&self.folder_path) {
            Some(QUESTION_PATH) => ("200 OK", self.exchange(&mut input.take(length))?),
            Some(name) if FILES.contains(&name) => ("200 OK", fs::read(self.files.join(name))?),
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

    /// Passes an answer of the page on, if it has one, and waits for the next question, which is
    /// empty if there is none yet.
    fn exchange(&self, posted: &mut dyn Read) -> io::Result<Vec<u8>> {
        let relay = self.relay.lock().unwrap_or_else(PoisonError::into_inner);
        let (questions, answers) = &*relay;
        let mut answer = Vec::new();
        let limit = answers.max_bytes().saturating_add(1);
        posted.take(limit).read_to_end(&mut answer)?;
        if !answer.is_empty() {
            answers.send(answer);
        }
        Ok(questions.receive(MAX_POLL_TIME).unwrap_or_default())
    }
}
