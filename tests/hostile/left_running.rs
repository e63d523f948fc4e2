//! Whatever ends a verb, nothing that it started goes on.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;

use rustix::process::Signal;

use super::folder::Folder;
use super::run::Run;

/// As shells report a program that a signal ended.
fn ended_by(signal: Signal) -> Option<i32> {
    Some(128 + signal.as_raw())
}

const REPORT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/data/epyc-2026-11-21.json"
);

/// An agent in the language of the shell, as a file that can be run.
fn agent(folder: &Folder, body: &str) -> String {
    let path = folder.file("agent");
    fs::write(&path, format!("#!/bin/sh\n{body}\n")).expect("it can be written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    folder.arg("agent")
}

/// Whether the parent of the test wants it to go on after a hangup, as `nohup` does: what it starts
/// then does so too.
fn hangups_are_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").expect("there is a /proc");
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .expect("a mask of signals");
    u64::from_str_radix(mask.trim(), 16).expect("in hexadecimal") & 1 == 1
}

#[test]
fn measured_command_ends_with_runner() {
    let hangup = (!hangups_are_ignored()).then_some(Signal::HUP);
    for signal in [Signal::INT, Signal::TERM].into_iter().chain(hangup) {
        let run = Run::start(&[
            "measure",
            "--from",
            REPORT,
            "--clock",
            "monotonic",
            "--",
            "sleep",
            "3001",
        ]);
        run.until_it_runs("sleep 3001");
        run.signal(signal);
        let (status, output) = run.end();
        let reported = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(status.code(), ended_by(signal), "{signal:?}: {reported}");
        assert_eq!(reported, "timermeter: interrupted\n");
    }
}

/// This signal cannot be handled: what is left is ended from outside, with all of its group.
#[test]
fn even_when_that_is_killed() {
    let run = Run::start(&[
        "measure",
        "--from",
        REPORT,
        "--clock",
        "monotonic",
        "--",
        "sh",
        "-c",
        "sleep 3002; true",
    ]);
    run.until_it_runs("sleep 3002");
    run.signal(Signal::KILL);
    let (status, _) = run.end();
    assert_eq!(status.signal(), Some(Signal::KILL.as_raw()));
}

#[test]
fn verbs_that_probe_first_end_that() {
    for verb in [&["pick", "10us", "--error", "5%"][..], &["inspect", "*"]] {
        let run = Run::start(verb);
        run.until_it_runs("agent");
        run.signal(Signal::TERM);
        let (status, output) = run.end();
        assert_eq!(status.code(), ended_by(Signal::TERM), "{verb:?}");
        let reported = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            reported.ends_with("timermeter: interrupted\n"),
            "{reported}"
        );
    }
}

/// An agent that never answers, whose two descendants have sessions of their own, the second by way
/// of another fork.
fn fleeing(folder: &Folder, first: u32, second: u32) -> String {
    let body = format!(
        "setsid sleep {first} & setsid sh -c '(setsid sleep {second} &)'; read -r question; read -r more"
    );
    agent(folder, &body)
}

/// A session of its own takes a process out of its group, and a second fork out of its family.
#[test]
fn own_session_does_not_escape() {
    let folder = Folder::new();
    let flee = fleeing(&folder, 3003, 3004);
    let run = Run::start(&["list", "--agent", &flee]);
    run.until_it_runs("sleep 3004");
    run.signal(Signal::TERM);
    assert_eq!(run.end().0.code(), ended_by(Signal::TERM));

    let hello = r#"{"protocol":1,"runtime":{"name":"sh","version":"1"},"timers":[],"ops":[]}"#;
    let body = format!(
        "setsid sleep 3005 & (setsid sleep 3006 &); read -r question; echo '{hello}'; read -r more"
    );
    let flee = agent(&folder, &body);
    let run = Run::start(&["list", "--agent", &flee]);
    assert_eq!(run.end().0.code(), Some(0), "the end that comes by itself");
}

/// No group tells whose they are.
#[test]
fn no_process_survives_killed_runner() {
    let folder = Folder::new();
    let flee = fleeing(&folder, 3007, 3008);
    let run = Run::start(&["list", "--agent", &flee]);
    run.until_it_runs("sleep 3007");
    run.until_it_runs("sleep 3008");
    run.signal(Signal::KILL);
    assert_eq!(run.end().0.signal(), Some(Signal::KILL.as_raw()));
    let run = Run::start(&[
        "measure",
        "--from",
        REPORT,
        "--clock",
        "monotonic",
        "--",
        "setsid",
        "--wait",
        "sleep",
        "3009",
    ]);
    run.until_it_runs("sleep 3009");
    run.signal(Signal::KILL);
    assert_eq!(run.end().0.signal(), Some(Signal::KILL.as_raw()));
}
