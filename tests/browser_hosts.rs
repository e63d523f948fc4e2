//! Tests the agents of browsers: the timer precision settings of Firefox, cleanup at exit, and
//! programs that are not browsers.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use timermeter::agents::tool;
use timers::Deadline;

use crate::program::command;
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

/// Starts a browser agent that answers each question after a minute.
fn start(kind: &str, browser: &Path, folder: &Path) -> Child {
    let sources = timers::agents::runtime(kind).unwrap().agents[0].sources;
    for source in sources {
        let name = Path::new(source.name).file_name().unwrap();
        fs::write(folder.join(name), source.text).unwrap();
    }
    let agent =
        "globalThis.answer = (line) => new Promise((done) => setTimeout(done, 60000, line));";
    fs::write(folder.join("agent.js"), agent).unwrap();
    let mut command = command(&format!("browser {kind}"));
    let command = command.arg(browser).arg(folder).stdin(Stdio::piped());
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
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

/// Whether the browser has started: Firefox has locked its profile, Chromium runs the processes of
/// a page.
fn has_begun(kind: &str, folder: &Path) -> bool {
    match kind {
        "firefox" => profiles(folder).any(|profile| profile.join(".parentlock").exists()),
        _ => at_work(folder) > 6,
    }
}

fn until(what: &str, patience: Duration, mut is_so: impl FnMut() -> bool) {
    let deadline = Deadline::after(patience);
    while !is_so() {
        assert!(deadline.remaining().is_some(), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn profiles(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).unwrap().flatten();
    let of_ours = |name: &OsString| name.to_string_lossy().starts_with(".timermeter-");
    entries
        .filter(move |entry| of_ours(&entry.file_name()))
        .map(|entry| entry.path())
}

/// If its pipe is closed while an answer is pending, the agent stops the browser and removes the
/// profile within 5 s. If the agent is killed, the browser ends, and the next agent removes the
/// profile.
#[test]
#[ignore = "run by .ci/runtimes"]
fn leaves_no_process_or_profile() {
    for (kind, names) in [("chromium", CHROMIUM), ("firefox", FIREFOX)] {
        let Some(browser) = found(names) else {
            continue;
        };
        for is_killed in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let mut agent = start(kind, &browser, folder.path());
            let mut input = agent.stdin.take().unwrap();
            writeln!(input, r#"{{"op":"hello","protocol":1}}"#).unwrap();
            until("the browser does not start", PATIENCE, || {
                has_begun(kind, folder.path())
            });
            if is_killed {
                agent.kill().unwrap();
            }
            drop(input);
            until("a process remains", SHUTDOWN_TIME, || {
                agent.try_wait().unwrap().is_some() && at_work(folder.path()) == 0
            });
            if is_killed {
                let mut next = start(kind, Path::new("/bin/true"), folder.path());
                next.wait().unwrap();
            }
            let left: Vec<_> = profiles(folder.path()).collect();
            assert!(left.is_empty(), "{kind}, killed: {is_killed}: {left:?}");
        }
    }
}

/// If the browser is not a browser, or ends, the agent exits with an error message that states the reason.
#[test]
fn host_reports_failed_browser() {
    const FAILS_LATER: &str = r#"[ "$1" = --version ] && exec echo 'Browser 1.0'; "#;
    for (begin, script, words) in [
        ("", "exit 3", "failed without an error message"),
        ("", r"printf 'not \033[2Jtoday' >&2; exit 1", "today"),
        (
            FAILS_LATER,
            "exit 3",
            "the browser has ended; its last error output: none",
        ),
        (
            FAILS_LATER,
            r"printf 'no \033[2Jdisplay' >&2",
            "the browser has ended; its last error output: no display",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let browser = folder.path().join("browser");
        fs::write(&browser, format!("#!/bin/sh\n{begin}{script}\n")).unwrap();
        fs::set_permissions(&browser, fs::Permissions::from_mode(0o755)).unwrap();
        let mut agent = start("chromium", &browser, folder.path());
        // The input stays open, because the agent exits at the end of its input.
        let mut input = agent.stdin.take().unwrap();
        writeln!(input, "hello").unwrap();
        let ended = agent.wait_with_output().unwrap();
        let errors = String::from_utf8(ended.stderr).unwrap();
        assert!(
            !ended.status.success() && errors.contains(words) && !errors.contains('\u{1b}'),
            "{script}: {errors}"
        );
        assert_eq!(profiles(folder.path()).next(), None, "{script}");
    }
}
