//! A run of the program, all of whose descendants can be found, whatever they do to get out of
//! sight.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use std::{fs, thread};

use rustix::process::{Pid, Signal, kill_process};

use super::program::program;

const STEP: Duration = Duration::from_millis(20);
/// For what a loaded machine takes long for.
const PATIENCE: Duration = Duration::from_secs(60);
/// What all descendants inherit.
const MARK: &str = "TIMERMETER_TEST_RUN";

static RUNS: AtomicU32 = AtomicU32::new(0);

pub struct Run {
    child: Child,
    mark: String,
}

/// What `look` finds, should it find something before the patience of the test ends.
pub fn waited_for<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
    (0..PATIENCE.as_millis() / STEP.as_millis()).find_map(|_| {
        look().or_else(|| {
            thread::sleep(STEP);
            None
        })
    })
}

impl Run {
    pub fn start(args: &[&str]) -> Self {
        let mut command = Command::new(program());
        command.args(args);
        Self::spawn(command)
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
            child: command.spawn().expect("it starts"),
            mark,
        }
    }

    /// The command lines of all that it started and that still run.
    pub fn alive(&self) -> Vec<String> {
        let mark = format!("{MARK}={}", self.mark);
        let marked = |process: &Path| {
            let environment = fs::read(process.join("environ")).unwrap_or_default();
            environment
                .split(|&byte| byte == 0)
                .any(|variable| variable == mark.as_bytes())
        };
        let processes = fs::read_dir("/proc").expect("there is a /proc").flatten();
        let line = |process: &Path| {
            let line = fs::read(process.join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).replace('\0', " ")
        };
        processes
            .map(|entry| entry.path())
            .filter(|process| marked(process))
            .filter(|process| !process.ends_with(self.child.id().to_string()))
            .map(|process| line(&process))
            .collect()
    }

    /// Waits for one whose command line holds `words`.
    #[track_caller]
    pub fn until_it_runs(&self, words: &str) {
        let found = waited_for(|| {
            self.alive()
                .iter()
                .any(|line| line.contains(words))
                .then_some(())
        });
        assert!(found.is_some(), "`{words}` never ran: {:?}", self.alive());
    }

    /// The most memory, in kilobytes, that the program took until it ended: the largest value that
    /// was seen.
    pub fn peak(&mut self) -> u64 {
        let mut most = 0;
        while self.child.try_wait().expect("it can be asked").is_none() {
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
        kill_process(Pid::from_child(&self.child), signal).expect("it is there");
    }

    /// Waits until the first of what it shows can be read.
    pub fn until_it_shows(&mut self) {
        let output = self.child.stdout.as_mut().expect("it is piped");
        output.read_exact(&mut [0]).expect("it shows something");
    }

    /// Its end, after which no process is left: both long before it, or what it started, would end
    /// by itself.
    #[track_caller]
    pub fn end(mut self) -> (ExitStatus, Output) {
        let ended = waited_for(|| self.child.try_wait().expect("it can be asked"));
        let left = waited_for(|| self.alive().is_empty().then_some(()));
        let alive = self.alive();
        let Some(status) = ended else {
            self.child.kill().expect("it is there");
            panic!("it goes on: {alive:?}");
        };
        assert!(left.is_some(), "left: {alive:?}");
        (
            status,
            self.child.wait_with_output().expect("its output is over"),
        )
    }
}
