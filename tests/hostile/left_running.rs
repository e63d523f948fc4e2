//! Tests that no process, and no file of one, remains when a verb ends, however it ends.

use std::fs;

use predicates::str::ends_with;
use rustix::process::Signal;

use super::folder::Folder;
use super::program::command;
use super::run::Run;
use super::skipping::lacks;

/// The exit status by which shells report a program that a signal terminated.
fn ended_by(signal: Signal) -> i32 {
    128 + signal.as_raw()
}

/// Whether this process ignores hangups, as under `nohup`. Its children then ignore them, too.
fn hangups_are_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap() & 1 == 1
}

#[test]
fn interrupted_verbs_end_their_probe() {
    let hangup = (!hangups_are_ignored()).then_some(Signal::HUP);
    for verb in ["pick 10us --error 5%", "probe"] {
        for signal in [Signal::INT, Signal::TERM].into_iter().chain(hangup) {
            let run = Run::start(verb);
            run.until_it_runs("agent");
            run.signal(signal);
            let ended = run.end().code(ended_by(signal));
            ended.stderr(ends_with("timermeter: interrupted\n"));
        }
    }
}

/// A process in a new session has left its group. An orphan has left its parent, too. Without a signal, and after one that
/// the program handles: `others::inherited_children_survive`.
#[test]
fn own_session_outlives_no_killed_program() {
    if lacks("setsid", "util-linux") {
        return;
    }
    let folder = Folder::new();
    let silent =
        "setsid sleep 3003 & setsid sh -c '(setsid sleep 3004 &)'; read -r question; read -r more";
    let list = format!("list --agent {}", folder.script("agent", silent));
    let run = Run::start(&list);
    run.until_it_runs("sleep 3003");
    run.until_it_runs("sleep 3004");
    run.signal(Signal::KILL);
    run.end_by(Signal::KILL);
}

#[test]
fn interrupted_compiler_leaves_no_files() {
    let (folder, programs) = (Folder::new(), Folder::new());
    programs.script("go", ": > \"$TMPDIR/cc1.s\"; exec sleep 3007");
    let mut list = command("list --runtime go");
    list.env("PATH", format!("{}:/usr/bin:/bin", programs.arg("")));
    list.env("TMPDIR", folder.file(""));
    let run = Run::spawn(list);
    run.until_it_runs("sleep 3007");
    run.signal(Signal::INT);
    run.end().code(ended_by(Signal::INT));
    assert!(folder.names().is_empty(), "left: {:?}", folder.names());
}
