//! Tests the hosts of browsers: the timer precision settings of Firefox, cleanup at exit, and
//! programs that are not browsers.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use timermeter::hosts::tool;
use timers::Deadline;

use crate::program::program;
use crate::skipping::skipped;

const PATIENCE: Duration = Duration::from_secs(120);
/// The time in which a host has to exit and clean up.
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

/// Starts a browser host that answers each question after a minute.
fn start(kind: &str, browser: &Path, folder: &Path) -> Child {
    let host = &timers::agents::runtime(kind)
        .expect("the runtime is known")
        .hosts[0];
    for source in host.sources {
        let name = Path::new(source.name)
            .file_name()
            .expect("the source has a name");
        fs::write(folder.join(name), source.text).expect("the source is written");
    }
    fs::write(
        folder.join("agent.js"),
        "globalThis.answer = (line) => new Promise((done) => setTimeout(done, 60000, line));",
    )
    .expect("the agent is written");
    let mut command = std::process::Command::new(program());
    command.args(["browser", kind]).arg(browser).arg(folder);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.spawn().expect("the host starts")
}

/// The processes that have the folder in their command line.
fn processes_with(folder: &Path) -> Vec<u32> {
    let name = folder.to_str().expect("the path is text").as_bytes();
    let has_it = |line: Vec<u8>| line.windows(name.len()).any(|part| part == name);
    let ids = fs::read_dir("/proc")
        .expect("/proc is readable")
        .flatten()
        .filter_map(|entry| {
            let id = entry.file_name().to_str()?.parse().ok()?;
            fs::read(entry.path().join("cmdline"))
                .is_ok_and(has_it)
                .then_some(id)
        });
    ids.collect()
}

fn at_work(folder: &Path) -> usize {
    processes_with(folder).len()
}

/// Whether the browser has started: Firefox has locked its profile, Chromium runs the processes of
/// a page.
fn has_begun(kind: &str, folder: &Path) -> bool {
    match kind {
        "firefox" => holds(folder, ".parentlock"),
        _ => at_work(folder) > 6,
    }
}

fn holds(folder: &Path, name: &str) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_below = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    entries
        .into_iter()
        .any(|entry| entry.file_name() == name || is_below(&entry) && holds(&entry.path(), name))
}

fn until(what: &str, patience: Duration, mut is_so: impl FnMut() -> bool) {
    let deadline = Deadline::after(patience);
    while !is_so() {
        assert!(deadline.remaining().is_some(), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn ask(host: &mut Child, question: &str) {
    writeln!(host.stdin.as_mut().expect("stdin is a pipe"), "{question}")
        .expect("the host reads stdin");
}

fn profiles(folder: &Path) -> usize {
    let entries = fs::read_dir(folder)
        .expect("the folder is readable")
        .flatten();
    entries
        .filter(|entry| {
            entry
                .file_name()
                .to_string_lossy()
                .starts_with(".timermeter-")
        })
        .count()
}

const HELLO: &str = r#"{"op":"hello","protocol":1}"#;

/// If its pipe is closed while an answer is pending, the host stops the browser and removes the
/// profile within 5 s. If the host is killed, the browser ends, and the next host removes the
/// profile.
#[test]
#[ignore = "run by .ci/runtimes"]
fn leaves_no_process_or_profile() {
    for (kind, names) in [("chromium", CHROMIUM), ("firefox", FIREFOX)] {
        let Some(browser) = found(names) else {
            continue;
        };
        for is_killed in [false, true] {
            let folder = tempfile::tempdir().expect("the folder is created");
            let mut host = start(kind, &browser, folder.path());
            ask(&mut host, HELLO);
            until("the browser does not start", PATIENCE, || {
                has_begun(kind, folder.path())
            });
            if is_killed {
                host.kill().expect("the host runs");
            } else {
                drop(host.stdin.take());
            }
            until("a process remains", SHUTDOWN_TIME, || {
                host.try_wait().expect("wait succeeds").is_some() && at_work(folder.path()) == 0
            });
            if is_killed {
                let mut next = start(kind, Path::new("/bin/true"), folder.path());
                next.wait().expect("the next host exits");
            }
            assert_eq!(profiles(folder.path()), 0, "{kind}, killed: {is_killed}");
        }
    }
}

/// If the browser is not a browser, the host exits with an error message that states the reason.
#[test]
fn host_reports_failed_browser() {
    let fails_later =
        |how: &str| format!("[ \"$1\" = --version ] && exec echo 'Browser 1.0'; {how}");
    for (script, words) in [
        ("exit 3".to_owned(), "failed without an error message"),
        ("echo 'no display' >&2; exit 1".to_owned(), "no display"),
        (r"printf 'not \033[2Jtoday' >&2; exit 1".to_owned(), "today"),
        (
            fails_later("exit 3"),
            "the browser has ended; its last error output: none",
        ),
        (
            fails_later("echo 'no display' >&2"),
            "the browser has ended; its last error output: no display",
        ),
        (
            fails_later(r"printf 'not \033[2Jtoday' >&2"),
            "the browser has ended; its last error output: ",
        ),
    ] {
        let folder = tempfile::tempdir().expect("the folder is created");
        let browser = folder.path().join("browser");
        fs::write(&browser, format!("#!/bin/sh\n{script}\n")).expect("the script is written");
        fs::set_permissions(&browser, fs::Permissions::from_mode(0o755)).expect("chmod succeeds");
        let mut host = start("chromium", &browser, folder.path());
        // The input stays open, because the host exits at the end of its input.
        let mut input = host.stdin.take().expect("stdin is a pipe");
        writeln!(input, "hello").expect("the host reads stdin");
        let mut errors = String::new();
        let status = host.wait().expect("the host exits");
        for line in BufReader::new(host.stderr.take().expect("stderr is a pipe")).lines() {
            errors += &line.expect("the line is text");
        }
        assert!(
            !status.success() && errors.contains(words) && !errors.contains('\u{1b}'),
            "{script}: {errors}"
        );
        assert_eq!(profiles(folder.path()), 0, "{script}");
    }
}
