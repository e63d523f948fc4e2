//! Tests the agents of browsers: that they leave nothing behind, and programs that are not browsers.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use timermeter::agents::connection::Connection;
use timermeter::agents::process::AgentCommand;
use timermeter::agents::runtimes::prepare;
use timermeter::agents::surroundings::Surroundings;
use timermeter::agents::tool;
use timers::{Answer, Deadline};

use crate::skipping::skipped;

const PATIENCE: Duration = Duration::from_secs(120);
/// The time in which an agent has to exit and clean up.
const SHUTDOWN_TIME: Duration = Duration::from_secs(5);
const FIREFOX: &[&str] = &["firefox-esr", "firefox"];
const CHROMIUM: &[&str] = &["chromium", "chromium-browser"];

fn found(names: &[&str]) -> Option<PathBuf> {
    let found = tool::find(names);
    if found.is_none() {
        skipped(
            format!("there is no `{}`", names[0]),
            "install it, as in `apt install chromium firefox-esr`",
        );
    }
    found
}

/// Starts the agent of a browser in `folder`.
fn start(kind: &str, folder: &Path) -> Answer<Connection> {
    let runtime = timers::agents::runtime(kind).unwrap();
    let prepared = prepare(runtime, folder).unwrap();
    Connection::start(&prepared[0].command, None, PATIENCE)
}

/// The number of processes that have the folder in their command line.
fn at_work(folder: &Path) -> usize {
    let name = folder.to_str().unwrap().as_bytes();
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    lines
        .filter(|line| line.windows(name.len()).any(|part| part == name))
        .count()
}

fn until(what: &str, patience: Duration, mut is_so: impl FnMut() -> bool) {
    let deadline = Deadline::after(patience);
    while !is_so() {
        assert!(deadline.remaining().is_some(), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The number of profiles below a folder.
fn profiles(folder: &Path) -> usize {
    let below = fs::read_dir(folder).unwrap().flatten();
    let count = |entry: fs::DirEntry| {
        let is_profile = entry
            .file_name()
            .to_string_lossy()
            .starts_with(".timermeter-");
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        match is_folder && !is_profile {
            true => profiles(&entry.path()),
            false => usize::from(is_profile),
        }
    };
    below.map(count).sum()
}

/// The browser ends with its connection, and its profile is removed.
#[test]
#[ignore = "run by .ci/runtimes"]
fn leaves_no_process_or_profile() {
    for (kind, names) in [("chromium", CHROMIUM), ("firefox", FIREFOX)] {
        if found(names).is_none() {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let connection = start(kind, folder.path()).unwrap_or_else(|fault| panic!("{fault}"));
        assert!(at_work(folder.path()) > 0, "{kind}");
        drop(connection);
        until("a process remains", SHUTDOWN_TIME, || {
            at_work(folder.path()) == 0
        });
        assert_eq!(profiles(&folder.path().join(kind)), 0, "{kind}");
    }
}

/// If the browser is not a browser, or ends, the fault states the reason.
#[test]
fn failed_browser_is_reported() {
    for (script, words) in [
        (
            "exit 3",
            "exited with status 3 instead of answering `hello`",
        ),
        (
            r"printf 'no \033[2Jdisplay' >&2",
            "instead of answering `hello`; its last error output: no display",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let runtime = timers::agents::runtime("firefox").unwrap();
        let sources = runtime.agents[0].sources.iter();
        for source in sources {
            let name = Path::new(source.name).file_name().unwrap();
            fs::write(folder.path().join(name), source.text).unwrap();
        }
        let args = ["-c", script, "$profile", "$page"];
        let mut command = AgentCommand::new("browser", "sh", args.map(Into::into).into());
        command.surroundings = Some(Arc::new(Surroundings::new(runtime, folder.path())));
        let fault = Connection::start(&command, None, PATIENCE).err();
        let text = fault.expect("no browser").to_string();
        assert!(text.contains(words) && !text.contains('\u{1b}'), "{text}");
        assert_eq!(profiles(folder.path()), 0, "{script}");
    }
}
