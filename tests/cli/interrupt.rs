//! Interrupts (Ctrl-C): the program and all processes that it started end, and no files are left.

use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::Duration;
use std::{fs, thread};

use rustix::process::{Pid, Signal, kill_process};

use super::folder::Folder;
use super::run_timeout;
use crate::program::command;

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
fn interrupted_compiler_leaves_no_files() {
    let (folder, programs) = (Folder::new(), Folder::new());
    let compiler = programs.file("go");
    let script = "#!/bin/sh\n: > \"$TMPDIR/cc1.s\"; : > \"$STARTED\"; sleep 1000\n";
    fs::write(&compiler, script).expect("it can be written");
    fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let mut list = command("list --runtime go")
        .env("PATH", format!("{}:/usr/bin:/bin", programs.arg("")))
        .env("STARTED", programs.file("started"))
        .env("TMPDIR", folder.file(""))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    wait_for(|| programs.file("started").exists().then_some(())).expect("it compiles");
    kill_process(Pid::from_child(&list), Signal::INT).expect("it is there");
    let ended = wait_for(|| list.try_wait().expect("it can be asked"));
    assert_eq!(ended.and_then(|status| status.code()), Some(130));
    assert!(folder.names().is_empty(), "left: {:?}", folder.names());
}
