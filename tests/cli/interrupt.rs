//! Interrupts (Ctrl-C): the program and all processes that it started end, and no files are left.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;
use std::{fs, thread};

use rustix::process::{Pid, Signal, kill_process};

use super::folder::Folder;
use super::run_timeout;

const POLL_PERIOD: Duration = Duration::from_millis(20);

/// Calls `poll` until it returns a value, and returns that value; `None` after [`run_timeout`].
fn wait_for<T>(mut poll: impl FnMut() -> Option<T>) -> Option<T> {
    let steps = run_timeout().as_millis() / POLL_PERIOD.as_millis();
    (0..steps).find_map(|_| {
        poll().or_else(|| {
            thread::sleep(POLL_PERIOD);
            None
        })
    })
}

#[test]
#[cfg(target_os = "linux")]
fn interrupted_compiler_leaves_no_files() {
    let (folder, programs) = (Folder::new(), Folder::new());
    let compiler = programs.file("go");
    let script = "#!/bin/sh\n: > \"$TMPDIR/cc1.s\"; : > \"$STARTED\"; sleep 1000\n";
    fs::write(&compiler, script).expect("it can be written");
    fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let mut list = Command::new(super::program())
        .args(["list", "--runtime", "go"])
        .env("PATH", format!("{}:/usr/bin:/bin", programs.arg("")))
        .env("STARTED", programs.file("started"))
        .env("TMPDIR", folder.file(""))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    wait_for(|| programs.file("started").exists().then_some(())).expect("it compiles");
    kill_process(Pid::from_child(&list), Signal::INT).expect("it is there");
    let ended: Option<ExitStatus> = wait_for(|| list.try_wait().expect("it can be asked"));
    assert_eq!(ended.and_then(|status| status.code()), Some(130));
    assert!(folder.names().is_empty(), "left: {:?}", folder.names());
}

/// Whether a process has a handler for SIGINT (proc_pid_status(5)).
#[cfg(target_os = "linux")]
fn catches_interrupts(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & (1 << (Signal::INT.as_raw() - 1)) != 0)
}

#[test]
#[cfg(target_os = "linux")]
fn command_without_children_ends_immediately() {
    // The command waits for a report on standard input.
    let mut table = Command::new(super::program());
    let table = table
        .args(["table", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null());
    let mut table = table.spawn().expect("it starts");
    // If the parent of the test ignores the signal, the program ignores it too until it has
    // installed a handler.
    wait_for(|| catches_interrupts(table.id()).then_some(())).expect("it listens");
    kill_process(Pid::from_child(&table), Signal::INT).expect("it is there");
    let ended = wait_for(|| table.try_wait().expect("it can be asked"));
    if ended.is_none() {
        table.kill().expect("it is there");
    }
    assert_eq!(
        ended.and_then(|status| status.signal()),
        Some(Signal::INT.as_raw())
    );
}
