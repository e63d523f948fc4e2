//! Runs the program and finds all of its descendants, also those that leave its session or lose
//! their parent, because they inherit an environment variable.

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use std::{fs, thread};

use assert_cmd::assert::{Assert, OutputAssertExt};
use predicates::prelude::*;
use predicates::str::contains;
use rustix::process::{Pid, Signal, kill_process};

use super::program::command;

/// The time between two attempts to observe an event.
const STEP: Duration = Duration::from_millis(20);
/// The time within which an awaited event has to happen, long enough for a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// The environment variable that all descendants inherit.
const MARK: &str = "TIMERMETER_TEST_RUN";

/// The introduction of an agent without timers.
pub const HELLO: &str =
    r#"{"protocol":1,"runtime":{"name":"sh","version":"1"},"timers":[],"ops":[]}"#;

static RUNS: AtomicU32 = AtomicU32::new(0);

/// A run of the program.
pub struct Run {
    child: Child,
    /// The command, for messages.
    asked: String,
    /// The value of the environment variable in this run.
    mark: String,
}

/// Calls `look` until it returns a value; `None` if it returns none within [`PATIENCE`].
pub fn waited_for<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
    (0..PATIENCE.as_millis() / STEP.as_millis()).find_map(|_| {
        look().or_else(|| {
            thread::sleep(STEP);
            None
        })
    })
}

impl Run {
    /// Starts the program with the words of this line.
    pub fn start(line: &str) -> Self {
        Self::spawn(command(line))
    }

    pub fn spawn(mut command: Command) -> Self {
        let mark = format!(
            "{}-{}",
            std::process::id(),
            RUNS.fetch_add(1, Ordering::Relaxed)
        );
        command
            .env(MARK, &mark)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Self {
            child: command.spawn().unwrap(),
            asked: format!("{command:?}"),
            mark,
        }
    }

    /// The folders in `/proc` of all descendants that still run.
    fn descendants(&self) -> impl Iterator<Item = PathBuf> {
        let mark = format!("{MARK}={}", self.mark);
        let own = self.child.id().to_string();
        let marked = move |process: &PathBuf| {
            let environment = fs::read(process.join("environ")).unwrap_or_default();
            environment
                .split(|&byte| byte == 0)
                .any(|variable| variable == mark.as_bytes())
        };
        let processes = fs::read_dir("/proc").unwrap().flatten();
        processes
            .map(|entry| entry.path())
            .filter(marked)
            .filter(move |process| !process.ends_with(&own))
    }

    /// The command lines of all descendants that still run.
    pub fn alive(&self) -> Vec<String> {
        let line = |process: PathBuf| {
            let line = fs::read(process.join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).replace('\0', " ")
        };
        self.descendants().map(line).collect()
    }

    /// Kills all descendants that still run.
    pub fn kill_descendants(&self) {
        for process in self.descendants() {
            let number = process
                .file_name()
                .and_then(|name| name.to_str()?.parse().ok());
            // The process may have ended meanwhile.
            let _ = number
                .and_then(Pid::from_raw)
                .map(|id| kill_process(id, Signal::KILL));
        }
    }

    /// Waits until a descendant runs with a command line that contains `words`.
    #[track_caller]
    pub fn until_it_runs(&self, words: &str) {
        let runs = || self.alive().iter().any(|line| line.contains(words));
        let found = waited_for(|| runs().then_some(()));
        assert!(found.is_some(), "`{words}` never ran: {:?}", self.alive());
    }

    /// Waits until the program ends. Returns the largest amount of memory that it used, in
    /// kilobytes, as far as samples show it.
    pub fn peak(&mut self) -> u64 {
        let mut most = 0;
        while self.child.try_wait().unwrap().is_none() {
            let status =
                fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
            let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let peak = peak
                .and_then(|peak| peak.split_whitespace().next())
                .and_then(|peak| peak.parse().ok());
            most = most.max(peak.unwrap_or(0));
            thread::sleep(STEP / 4);
        }
        most
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits until the program ends; its descendants may still run.
    #[track_caller]
    pub fn until_it_ends(&mut self) {
        let ended = waited_for(|| self.child.try_wait().unwrap());
        assert!(
            ended.is_some(),
            "the program does not end: {:?}",
            self.alive()
        );
    }

    /// Waits for the end of the program and of all descendants. Panics if the program panicked or a
    /// process remains after [`PATIENCE`].
    #[track_caller]
    pub fn end(mut self) -> Assert {
        let ended = waited_for(|| self.child.try_wait().unwrap());
        let left = waited_for(|| self.alive().is_empty().then_some(()));
        let alive = self.alive();
        if ended.is_none() {
            self.child.kill().unwrap();
            panic!("the program does not end: {alive:?}");
        }
        assert!(left.is_some(), "descendants remain: {alive:?}");
        let output = self.child.wait_with_output();
        let ended = output.unwrap().assert();
        let ended = ended.append_context("command", self.asked);
        ended.stderr(contains("panicked").not())
    }

    /// The same, of a run that this signal terminates.
    #[track_caller]
    pub fn end_by(self, signal: Signal) {
        let ended = self.end();
        let by = ended.get_output().status.signal();
        assert_eq!(by, Some(signal.as_raw()), "{ended}");
    }
}
