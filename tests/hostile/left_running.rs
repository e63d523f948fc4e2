//! Tests that no process remains when a verb ends, however it ends.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;

use rustix::process::Signal;

use super::folder::Folder;
use super::run::Run;
use super::skipping::lacks;
use crate::stored::EPYC;

/// The exit status by which shells report a program that a signal terminated.
fn ended_by(signal: Signal) -> Option<i32> {
    Some(128 + signal.as_raw())
}

/// Writes an agent as an executable shell script, and returns its path.
fn agent(folder: &Folder, body: &str) -> String {
    let path = folder.file("agent");
    fs::write(&path, format!("#!/bin/sh\n{body}\n")).expect("the file is written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("chmod succeeds");
    folder.arg("agent")
}

/// Whether this process ignores hangups, as under `nohup`. Its children then ignore them, too.
fn hangups_are_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").expect("/proc is readable");
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .expect("the status has SigIgn");
    u64::from_str_radix(mask.trim(), 16).expect("the mask is hexadecimal") & 1 == 1
}

#[test]
fn measured_command_ends_with_runner() {
    let hangup = (!hangups_are_ignored()).then_some(Signal::HUP);
    for signal in [Signal::INT, Signal::TERM].into_iter().chain(hangup) {
        let run = Run::start(&[
            "measure",
            "--from",
            EPYC,
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

/// The runner cannot handle SIGKILL. Another process ends the process group of the command.
#[test]
fn command_ends_with_killed_runner() {
    let run = Run::start(&[
        "measure",
        "--from",
        EPYC,
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
fn interrupted_verbs_end_their_probe() {
    for verb in [&["pick", "10us", "--error", "5%"][..], &["probe"]] {
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

/// An agent that never answers. Its two descendants have separate sessions; the second is an
/// orphan.
fn escaping_agent(folder: &Folder, first: u32, second: u32) -> String {
    let body = format!(
        "setsid sleep {first} & setsid sh -c '(setsid sleep {second} &)'; read -r question; read -r more"
    );
    agent(folder, &body)
}

/// A process in a new session has left its group. An orphan has left its parent, too.
#[test]
fn own_session_does_not_escape() {
    if lacks("setsid", "util-linux") {
        return;
    }
    let folder = Folder::new();
    let flee = escaping_agent(&folder, 3003, 3004);
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
    assert_eq!(
        run.end().0.code(),
        Some(0),
        "the verb ends without a signal"
    );
}

/// The descendants are not in the process group of the runner.
#[test]
fn no_process_survives_killed_runner() {
    if lacks("setsid", "util-linux") {
        return;
    }
    let folder = Folder::new();
    let flee = escaping_agent(&folder, 3007, 3008);
    let run = Run::start(&["list", "--agent", &flee]);
    run.until_it_runs("sleep 3007");
    run.until_it_runs("sleep 3008");
    run.signal(Signal::KILL);
    assert_eq!(run.end().0.signal(), Some(Signal::KILL.as_raw()));
    let run = Run::start(&[
        "measure",
        "--from",
        EPYC,
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
