//! The host of a browser: it stands between the runner and a page, and is a process of its own, so
//! that the browser ends with it. A line of words comes in, the page answers it, the answer goes
//! out.
//!
//! A browser has a profile of its own, in the folder of its host. It loads pages from this process
//! only.

mod chromium;
mod firefox;
mod pages;

use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

pub use self::pages::Page;
use super::children;
use super::lines::{self, Line, printable};
use crate::scratch::{self, ScratchFolder};

/// No request is longer.
const LONGEST_REQUEST: u64 = 1 << 20;
/// No message of a browser is longer.
const LONGEST_MESSAGE: u64 = 256 << 20;
/// How long the request in hand may take once the input has ended.
const SHUTDOWN_TIME: Duration = Duration::from_secs(1);
/// What it takes to start a browser, on a machine that does much else.
const START: Duration = Duration::from_secs(60);
/// As much of what a browser complained of is answer.
const COMPLAINT: usize = 200;

/// A browser, by the protocol that drives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum BrowserKind {
    /// Chromium and what is made of it, by the DevTools protocol over a pipe.
    Chromium,
    /// Firefox, by Marionette.
    Firefox,
}

/// What is to be started.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The kind of browser.
    pub kind: BrowserKind,
    /// Where in it the clocks are read.
    pub page: Page,
    /// The browser.
    pub program: PathBuf,
    /// Where `words.js` is, and where the profile will be.
    pub folder: PathBuf,
    /// Settings of Firefox, each a name and a value in JSON.
    pub settings: Vec<(String, String)>,
}

/// A browser that shows a page which answers.
trait Browser {
    /// Its version, and what there is to be said of it.
    fn version(&self) -> String;

    /// What the page answers to a line.
    fn ask(&mut self, line: &str) -> Result<String, String>;
}

/// Serves until the input ends; then whatever is still at work is ended.
///
/// # Errors
/// Says why the browser cannot be used or went away.
pub fn serve(
    wanted: &Wanted,
    mut input: Box<dyn BufRead + Send>,
    output: &mut dyn Write,
) -> Result<(), String> {
    let profile = ScratchFolder::within(&wanted.folder, 0o700)
        .map_err(|error| format!("no folder for its profile: {error}; set TMPDIR"))?;
    let (lines, requests) = mpsc::channel();
    let (ended, is_over) = mpsc::channel::<()>();
    let listen = move || {
        while let Ok(Line::Whole(line)) = lines::read(&mut *input, LONGEST_REQUEST) {
            if lines.send(line).is_err() {
                return;
            }
        }
        drop(lines);
        if is_over.recv_timeout(SHUTDOWN_TIME) == Err(RecvTimeoutError::Timeout) {
            children::interrupt();
            scratch::abandon();
            children::finish();
            std::process::exit(0);
        }
    };
    thread::Builder::new()
        .spawn(listen)
        .map_err(|error| format!("no thread to listen: {error}"))?;
    let server = pages::serve(&wanted.folder)?;
    let url = format!("http://127.0.0.1:{server}/{}", wanted.page.name());
    let mut browser: Box<dyn Browser> = match wanted.kind {
        BrowserKind::Chromium => Box::new(chromium::start(&wanted.program, profile.path(), &url)?),
        BrowserKind::Firefox => Box::new(firefox::start(
            &wanted.program,
            profile.path(),
            &url,
            &wanted.settings,
        )?),
    };
    while let Ok(line) = requests.recv() {
        let line = String::from_utf8_lossy(&line);
        let answer = browser.ask(line.trim())?;
        let answer = if line.trim() == "hello" {
            named(&answer, &browser.version())
        } else {
            answer
        };
        let answer = answer.replace('\n', " ") + "\n";
        if output
            .write_all(answer.as_bytes())
            .and_then(|()| output.flush())
            .is_err()
        {
            break;
        }
    }
    drop(browser);
    drop(profile);
    drop(ended);
    Ok(())
}

/// An introduction with the version that the browser itself tells: pages are answer a part of it.
fn named(answer: &str, version: &str) -> String {
    let mut words: Vec<&str> = answer.split('\t').collect();
    if let Some(answer) = words.get_mut(1) {
        *answer = version;
    }
    words.join("\t")
}

/// A command whose temporary files and settings are all in the profile, and whose complaints are
/// too.
fn command(program: &OsStr, profile: &Path) -> Result<Command, String> {
    let complaints =
        File::create(complaints(profile)).map_err(|error| format!("its profile: {error}"))?;
    let mut command = Command::new(program);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(complaints);
    for name in [
        "HOME",
        "XDG_CONFIG_HOME",
        "XDG_CACHE_HOME",
        "XDG_RUNTIME_DIR",
    ] {
        command.env(name, profile);
    }
    // Browsers make sockets there, whose paths have to be short (`unix(7)`).
    command.env("TMPDIR", profile.parent().unwrap_or(profile));
    Ok(command)
}

fn complaints(profile: &Path) -> PathBuf {
    profile.join("complaints")
}

/// Why it went away, as far as it said so.
fn last_error_output(profile: &Path) -> String {
    let said = std::fs::read(complaints(profile)).unwrap_or_default();
    let mut lines = said
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty());
    let fatal = lines
        .clone()
        .rfind(|line| line.windows(5).any(|word| word == b"FATAL"));
    let last = fatal.or_else(|| lines.next_back());
    let words = last.map_or_else(
        || "without a word".into(),
        |line| printable(line, COMPLAINT),
    );
    format!("the browser went away: {words}")
}
