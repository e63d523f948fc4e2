//! `watch` on this machine: a stopped process pauses, output that nobody reads is no pause, and the
//! log is appended; the RTC of `check`. Events of all kinds, simulated: `judgement/watching/tests.rs`.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, PipeReader, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::Duration;

use predicates::str::contains;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::folder::Folder;
use super::{printed, run};
use crate::program::program;

/// A watch that writes to a pipe.
struct Watch {
    child: Child,
    lines: BufReader<PipeReader>,
}

impl Watch {
    /// Starts a watch, waits until it begins, and fills the pipe.
    fn start() -> Self {
        let (reader, writer) = std::io::pipe().unwrap();
        // Another open file, so that only the writes of the test do not wait.
        let mut filler = OpenOptions::new()
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(format!("/proc/self/fd/{}", writer.as_raw_fd()))
            .unwrap();
        let args = ["watch", "1h", "--pause", "100ms", "--format", "json"];
        let mut command = Command::new(program());
        let child = command.args(args).stdout(writer).spawn().unwrap();
        // The command holds its own end of the pipe.
        drop(command);
        let lines = BufReader::new(reader);
        let mut watch = Self { child, lines };
        let begin = watch.next_line();
        assert_eq!(begin["schema"], "timermeter.watch.v1", "{begin}");
        while filler.write(&[b'\n'; 512]).is_ok() {}
        watch
    }

    /// The next line as JSON; the test's own lines are empty.
    fn next_line(&mut self) -> Value {
        loop {
            let mut text = String::new();
            let length = self.lines.read_line(&mut text).unwrap();
            assert!(length > 0, "the watch has ended");
            if !text.trim().is_empty() {
                return serde_json::from_str(&text).unwrap();
            }
        }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Stops the process for 400 ms.
    fn stop(&self) {
        self.signal(Signal::STOP);
        sleep(Duration::from_millis(400));
        self.signal(Signal::CONT);
    }

    /// Ends the watch. Returns its events.
    fn end(mut self) -> Vec<Value> {
        self.signal(Signal::INT);
        let mut events = Vec::new();
        loop {
            let line = self.next_line();
            if line["line"] == "end" {
                break;
            }
            events.push(line);
        }
        assert_eq!(self.child.wait().unwrap().code(), Some(130));
        events
    }
}

/// While its output blocks for more than a second, the watch goes on sampling.
#[test]
fn stop_is_pause_and_unread_output_is_none() {
    let mut watch = Watch::start();
    watch.stop();
    sleep(Duration::from_millis(1_200));
    watch.lines.get_mut().read_exact(&mut [0; 4096]).unwrap();
    // The next samples show whether one was late.
    sleep(Duration::from_millis(500));
    let events = watch.end();
    // A busy machine may pause it as well, which has other causes.
    let pauses = |least: f64, end: &str| {
        let is_meant = |event: &&Value| {
            event["size"][end].as_f64() >= Some(least) && event["cause"] == "unknown"
        };
        events.iter().filter(is_meant).count()
    };
    assert!(pauses(0.4, "high") > 0, "it was stopped: {events:#?}");
    let blocked = pauses(0.9, "low");
    assert_eq!(blocked, 0, "it paused while it was blocked: {events:#?}");
}

#[test]
fn interrupted_watch_ends_though_unread() {
    let mut watch = Watch::start();
    watch.stop();
    watch.signal(Signal::INT);
    let status = watch.child.wait().unwrap();
    assert_eq!(status.signal(), Some(Signal::INT.as_raw()), "{status:?}");
}

const LOG: &str = "tests/fuzz/corpus/log";

/// A full disk or a power cut leaves the last line of the log unfinished.
#[test]
fn unfinished_line_spoils_no_later_record() {
    let folder = Folder::new();
    let log = folder.file("night.jsonl");
    let old = fs::read_to_string(format!("{LOG}/begin.json")).unwrap();
    for unfinished in [&old[..60], &old[..1], "\0\0\0"] {
        fs::write(&log, format!("{old}\n{unfinished}")).unwrap();
        let log = folder.arg("night.jsonl");
        run(&format!(
            "watch 100ms --period 50ms --pause 100s --save={log}"
        ))
        .success();
        let shown = run(&format!("watch --from {log}")).success();
        let shown = shown.stderr(contains("skipped 1 damaged lines"));
        let text = printed(&shown);
        assert!(!text.contains("2026-11-24"), "{text}");
        assert!(text.contains("ends: watched for"), "{text}");
    }
}

/// Lines with impossible figures are skipped.
#[test]
fn impossible_lines_are_skipped() {
    let folder = Folder::new();
    let log = folder.arg("night.jsonl");
    let lines = ["begin", "pause", "end"]
        .map(|name| fs::read_to_string(format!("{LOG}/{name}.json")).unwrap());
    for (from, to, status) in [
        (":0.02", ":-1e20", 1),
        ("1790000000.5", "1e20", 0),
        (r#""value":0.5"#, r#""value":5"#, 0),
        (":120.0", ":1e300", 0),
    ] {
        let text = lines.concat();
        assert!(text.contains(from), "{from}");
        fs::write(&log, text.replacen(from, to, 1)).unwrap();
        let ended = run(&format!("watch --from {log}")).code(status);
        ended.stderr(contains("1 damaged"));
    }
    for (words, status) in [("watch --from README.md", 1), ("watch", 2)] {
        run(words).code(status);
    }
}
