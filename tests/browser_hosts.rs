//! The hosts of browsers: the dial of Firefox, what is left behind, and browsers that are none.

use std::cell::RefCell;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::rc::Rc;
use std::time::Duration;

use tempfile::TempDir;
use timermeter::analysis::edges;
use timermeter::prober::connection::Connection;
use timermeter::prober::hosted::subject;
use timermeter::prober::process::Command;
use timermeter::prober::runtimes::{self, Ready};
use timermeter::prober::tool;
use timers::Deadline;
use timers::agents::runtime;

use crate::program::{BUILT, program};
use crate::skipping::skipped;

const PATIENCE: Duration = Duration::from_secs(120);
const FIREFOX: &[&str] = &["firefox-esr", "firefox"];
const CHROMIUM: &[&str] = &["chromium", "chromium-browser"];
const GRID: &str = "privacy.resistFingerprinting.reduceTimerPrecision.microseconds";
const JITTER: &str = "privacy.resistFingerprinting.reduceTimerPrecision.jitter";

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

/// The first host of a browser, which is started by the program under test.
fn host(name: &str) -> Option<(TempDir, Ready)> {
    let folder = tempfile::tempdir().expect("a folder");
    let mut hosts = runtimes::prepare(runtime(name).expect("it is in the list"), folder.path()).ok()?;
    let mut ready = hosts.swap_remove(0);
    ready.command.program = BUILT.into();
    Some((folder, ready))
}

/// Readings over some hundred steps, in microseconds, each answer a run of its own.
fn readings(settings: &[&str], runs: usize) -> Vec<Vec<i64>> {
    let (_folder, ready) = host("firefox").expect("it was found");
    let mut command: Command = ready.command;
    command.args.extend(settings.iter().flat_map(|setting| ["--setting", setting]).map(Into::into));
    if let timermeter::prober::words::Dialect::Words { arguments, .. } = &mut command.dialect {
        *arguments = command.args.len();
    }
    let connection = Connection::start(&command, None, PATIENCE).unwrap_or_else(|fault| panic!("{fault}"));
    let connection = Rc::new(RefCell::new(connection));
    let mut now = subject(&connection, "performance.now");
    (0..runs).map(|_| now.readings(300_000).expect("readings")).collect()
}

/// The dial comes back, and so does whether edges are moved.
#[test]
#[ignore = "a step of its own: .ci/runtimes"]
fn the_dial_of_firefox_comes_back() {
    if found(FIREFOX).is_none() {
        return;
    }
    for (microseconds, jitter, runs) in
        [(20, true, 2), (100, true, 4), (100, false, 4), (1_000, true, 30), (100_000, false, 40)]
    {
        let settings = [format!("{GRID}={microseconds}"), format!("{JITTER}={jitter}")];
        let told = readings(&settings.each_ref().map(String::as_str), runs);
        let steps =
            told.iter().flat_map(|run| run.windows(2)).map(|pair| pair[1] - pair[0]).filter(|step| *step > 0);
        let step = steps.min().expect("it moves");
        assert_eq!(step, microseconds * 1_000, "{microseconds} µs");
        let off = told.iter().flatten().filter(|at| *at % step != told[0][0] % step).count();
        assert_eq!(off, 0, "{microseconds} µs: all lie on the grid");
        let stretches: Vec<Vec<u32>> = told.iter().flat_map(|run| edges::stretches(run)).collect();
        // At 20 µs edges come anywhere in few places only, and from 1 ms on there are few edges.
        if microseconds == 100 {
            assert_eq!(edges::are_moved(&stretches), Some(jitter), "{microseconds} µs: {stretches:?}");
        }
    }
}

fn start(browser: &Path, folder: &Path) -> Child {
    fs::write(
        folder.join("words.js"),
        "globalThis.answer = (line) => new Promise((done) => setTimeout(done, 60000, line));",
    )
    .expect("written");
    let mut command = std::process::Command::new(program());
    command.args(["browser", "chromium", "plain"]).arg(browser).arg(folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("it starts")
}

/// Processes that have the folder in their command line.
fn at_work(folder: &Path) -> usize {
    let name = folder.to_str().expect("text").as_bytes();
    let lines = fs::read_dir("/proc")
        .expect("Linux")
        .flatten()
        .filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| line.windows(name.len()).any(|part| part == name)).count()
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Deadline::after(PATIENCE);
    while !is_so() {
        assert!(deadline.remaining().is_some(), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn profiles(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(".timermeter-")).count()
}

/// At the end of its pipe, amid an answer that does not come; and when it is killed, after which the next one cleans up.
#[test]
#[ignore = "a step of its own: .ci/runtimes"]
fn neither_a_process_nor_a_profile_is_left() {
    let Some(browser) = found(CHROMIUM) else { return };
    for is_killed in [false, true] {
        let folder = tempfile::tempdir().expect("a folder");
        let mut host = start(&browser, folder.path());
        writeln!(host.stdin.as_mut().expect("a pipe"), "readings 0 1").expect("it listens");
        until("a browser runs", || at_work(folder.path()) > 3);
        if is_killed {
            host.kill().expect("it runs");
        } else {
            drop(host.stdin.take());
        }
        host.wait().expect("it ends");
        until("all processes end", || at_work(folder.path()) == 0);
        if is_killed {
            let mut next = start(Path::new("/bin/true"), folder.path());
            next.wait().expect("it ends");
        }
        assert_eq!(profiles(folder.path()), 0, "killed: {is_killed}");
    }
}

/// What stands in for a browser and is none ends its host, with a line that says why.
#[test]
fn a_browser_that_is_none_is_a_host_that_fails() {
    for (script, words) in [
        ("exit 3", "went away"),
        ("echo 'no display' >&2; exit 1", "no display"),
        ("printf 'nonsense\\0' >&4", "went away"),
        (
            "printf '{\"id\":1,\"error\":{\"message\":\"not \\\\u001b[2Jtoday\"}}\\0' >&4; cat <&3 >/dev/null",
            "refuses",
        ),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let browser = folder.path().join("browser");
        fs::write(&browser, format!("#!/bin/sh\n{script}\n")).expect("written");
        fs::set_permissions(&browser, fs::Permissions::from_mode(0o755)).expect("it is ours");
        let mut host = start(&browser, folder.path());
        writeln!(host.stdin.as_mut().expect("a pipe"), "hello").expect("it listens");
        let mut said = String::new();
        let status = host.wait().expect("it ends");
        for line in BufReader::new(host.stderr.take().expect("a pipe")).lines() {
            said += &line.expect("text");
        }
        assert!(!status.success() && said.contains(words) && !said.contains('\u{1b}'), "{script}: {said}");
        assert_eq!(profiles(folder.path()), 0, "{script}");
    }
}
