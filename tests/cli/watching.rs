//! `watch` on this machine: it detects that its process was stopped, and it appends its log.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use predicates::str::contains;
use serde_json::Value;

use super::folder::Folder;
use super::timermeter;
use crate::program::program;

/// Starts a watch and waits for its first line. Returns the process and its output.
fn start_watch(more: &[&str]) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut command = Command::new(program());
    command
        .args(["watch", "1h", "--format", "json"])
        .args(more)
        .stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let begin = next_line(&mut lines);
    assert_eq!(
        (begin["line"].as_str(), begin["schema"].as_str()),
        (Some("begin"), Some("timermeter.watch.v1"))
    );
    (child, lines)
}

/// The next line as JSON.
fn next_line(lines: &mut impl BufRead) -> Value {
    let mut text = String::new();
    lines.read_line(&mut text).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Sends a signal to a process.
fn send_signal(child: &Child, which: &str) {
    let status = Command::new("kill")
        .args([which, &child.id().to_string()])
        .status()
        .unwrap();
    assert!(status.success());
}

#[test]
fn watch_reports_stops_and_interruption() {
    let (mut child, mut lines) = start_watch(&[]);
    send_signal(&child, "-STOP");
    std::thread::sleep(std::time::Duration::from_millis(400));
    send_signal(&child, "-CONT");
    // On a busy machine there may be other pauses before.
    let event = loop {
        let event = next_line(&mut lines);
        assert_eq!(event["line"], "event", "{event}");
        if event["cause"] == "process" {
            break event;
        }
    };
    assert_eq!(
        (event["kind"].as_str(), event["unit"].as_str()),
        (Some("pause"), Some("s")),
        "{event}"
    );
    assert!(
        event["size"]["high"].as_f64() >= Some(0.4),
        "it was stopped for 400 ms or more: {event}"
    );
    assert!(
        event["size"]["low"].as_f64() <= event["size"]["high"].as_f64(),
        "{event}"
    );
    send_signal(&child, "-INT");
    let mut end = next_line(&mut lines);
    while end["line"] == "event" {
        end = next_line(&mut lines);
    }
    assert!(
        end["line"] == "end" && end["events"].as_u64() >= Some(1),
        "{end}"
    );
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn appends_history_that_check_reads() {
    let folder = Folder::new();
    let run = |args: &[&str]| {
        let mut command = assert_cmd::Command::new(program());
        command
            .args(args)
            .env("TIMERMETER_HOME", folder.file("home"))
            .assert()
    };
    for _ in 0..2 {
        // --pause 100s hides the pauses of a busy machine.
        run(&[
            "watch", "300ms", "--period", "50ms", "--pause", "100s", "--save",
        ])
        .success()
        .stdout(contains("begins: clock source"))
        .stdout(contains("ends: watched for"));
    }
    let kept = fs::read_to_string(folder.file("home/watched.jsonl")).unwrap();
    assert_eq!(
        kept.lines()
            .filter(|line| line.contains("\"line\":\"begin\""))
            .count(),
        2,
        "{kept}"
    );
    let mut check = assert_cmd::Command::new(program());
    let output = check
        .args(["check", "--format", "json"])
        .env("TIMERMETER_HOME", folder.file("home"))
        .output()
        .unwrap();
    let checked: Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = checked["findings"].as_array().unwrap();
    assert!(
        findings.iter().any(|finding| finding["code"] == "watched"),
        "{findings:?}"
    );
}

/// A full disk or a power cut leaves the last line of the log unfinished.
#[test]
fn unfinished_line_spoils_no_later_record() {
    let folder = Folder::new();
    fs::create_dir(folder.file("home")).unwrap();
    let log = folder.file("home/watched.jsonl");
    let old = r#"{"schema":"timermeter.watch.v1","line":"begin","date":"2001-01-01T00:00:00Z","period_s":0.1,"shortest_pause_s":0.02,"cpu":null,"clock_source":null,"counter":null,"unread":[]}"#;
    let findings = |text: &str| {
        fs::write(&log, text).unwrap();
        let run = |args: &[&str]| {
            let mut command = Command::new(program());
            let command = command
                .args(args)
                .env("TIMERMETER_HOME", folder.file("home"));
            command.output().unwrap()
        };
        let watch = [
            "watch", "100ms", "--period", "50ms", "--pause", "100s", "--save",
        ];
        assert!(run(&watch).status.success());
        let checked: Value =
            serde_json::from_slice(&run(&["check", "--format", "json"]).stdout).unwrap();
        let of = |code| {
            let all = checked["findings"].as_array().unwrap();
            all.iter().find(|finding| finding["code"] == code).cloned()
        };
        (of("watched").expect("a watch was saved"), of("watch-log"))
    };
    let (_, damage) = findings(&format!("{old}\n"));
    assert_eq!(damage, None);
    for unfinished in [&old[..60], &old[..1], "\0\0\0"] {
        let (watched, damage) = findings(&format!("{old}\n{unfinished}"));
        assert_ne!(
            watched["values"]["date"], "2001-01-01T00:00:00Z",
            "{unfinished:?}"
        );
        let values = &damage.expect("the damaged line is named")["values"];
        assert_eq!(values["first"]["value"], 2.0, "{values}");
        assert_eq!(values["log"], log.to_str().unwrap(), "{values}");
    }
}

#[test]
fn killed_watch_is_named() {
    let folder = Folder::new();
    let log = folder.arg("night.jsonl");
    let begin = r#"{"schema":"timermeter.watch.v1","line":"begin","date":"2001-01-01T00:00:00Z","period_s":0.1,"shortest_pause_s":0.02,"cpu":null,"clock_source":null,"counter":null,"unread":[]}"#;
    fs::write(&log, begin).unwrap();
    timermeter(&["watch", "--from", &log])
        .success()
        .stdout(contains("2001-01-01T00:00:00Z  begins"))
        .stderr(contains("the last watch has no end"));
}

#[test]
fn refuses_impossible_watch_at_start() {
    timermeter(&["watch", "1s", "--period", "2s"])
        .code(2)
        .stderr(contains("--period is longer"));
    timermeter(&["watch", "1s", "--save=/dev/null/none"])
        .code(1)
        .stderr(contains("/dev/null/none"));
    timermeter(&["watch"]).code(2);
}
