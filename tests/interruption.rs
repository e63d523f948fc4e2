//! Ctrl-C ends all children. A program of its own, as it cannot be taken back.

#![cfg(unix)]

use std::time::Duration;
use std::{fs, thread};

use timermeter::hosts::children::{interrupt, interrupted};
use timermeter::hosts::connection::Connection;
use timermeter::hosts::process::Command;
use timers::Fault;

#[test]
fn interruption_ends_children_and_wait() {
    let folder = tempfile::tempdir().expect("a folder");
    let pid = folder.path().join("pid");
    let script = "trap '' INT TERM; echo $$ > \"$0\"; echo > \"$0.ready\"; sleep 1000; sleep 1000";
    let args = vec!["-c".into(), script.into(), pid.clone().into_os_string()];
    let command = Command::new("test", "sh", args);
    let ready = folder.path().join("pid.ready");
    let user = thread::spawn(move || {
        while !ready.exists() {
            thread::sleep(Duration::from_millis(5));
        }
        interrupt();
    });
    let patience = Duration::from_secs(600);
    assert_eq!(
        Connection::start(&command, None, patience).err(),
        Some(Fault::Interrupted)
    );
    user.join().expect("it only interrupts");
    assert!(interrupted());
    let group = fs::read_to_string(&pid).expect("it told its process id");
    let shell = format!("/proc/{}", group.trim());
    assert!(
        !fs::exists(&shell).expect("there is a /proc"),
        "it was ended and waited for"
    );
    // Nothing is started any more.
    fs::remove_file(&pid).expect("it is there");
    assert_eq!(
        Connection::start(&command, None, patience).err(),
        Some(Fault::Interrupted)
    );
    assert!(!pid.exists());
}
