//! Ctrl-C: the program and all that it started end soon, and no file stays.

use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;
use std::{fs, thread};

use rustix::process::{Pid, Signal, kill_process};

use super::folder::Folder;
use super::patience;

const STEP: Duration = Duration::from_millis(20);

/// What `look` finds, should it find something before the patience of the test ends.
fn waited_for<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let steps = patience().as_millis() / STEP.as_millis();
    (0..steps).find_map(|_| {
        look().or_else(|| {
            thread::sleep(STEP);
            None
        })
    })
}

/// Processes that run `program` as `timermeter agent`.
fn agents_of(program: &Path) -> BTreeSet<PathBuf> {
    // An emulator stands in front of the two words.
    let is_agent = |process: &PathBuf| {
        let line = fs::read_to_string(process.join("cmdline")).unwrap_or_default();
        let words: Vec<&str> = line.split('\0').collect();
        words
            .windows(2)
            .any(|pair| Path::new(pair[0]) == program && pair[1] == "agent")
    };
    let processes = fs::read_dir("/proc").expect("there is a /proc").flatten();
    processes
        .map(|process| process.path())
        .filter(is_agent)
        .collect()
}

#[test]
#[cfg(target_os = "linux")]
fn nothing_is_left_behind() {
    let folder = Folder::new();
    // Under a name of its own, so that its agents are told from those of other tests.
    let (programs, name) = (Folder::new(), "interrupted");
    let program = programs.file(name);
    fs::hard_link(crate::program::BUILT, &program).expect("a link to the program");
    let words = crate::program::started(&program);
    let mut probe = Command::new(&words[0]);
    probe.args(&words[1..]).args([
        "probe",
        "--thorough",
        "--output",
        &folder.arg("report.json"),
    ]);
    let mut probe = probe
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    // One after the other, so that it is in the midst of its work when a few were seen.
    let mut seen = BTreeSet::new();
    waited_for(|| {
        seen.append(&mut agents_of(&program));
        (seen.len() > 2).then_some(())
    })
    .expect("it starts agents");
    assert_eq!(
        probe.try_wait().expect("it can be asked"),
        None,
        "it still measures"
    );
    kill_process(Pid::from_child(&probe), Signal::INT).expect("it is there");
    let ended: Option<ExitStatus> = waited_for(|| probe.try_wait().expect("it can be asked"));
    assert_eq!(
        ended.and_then(|status| status.code()),
        Some(130),
        "as shells report an interrupt"
    );
    let output = probe.wait_with_output().expect("its output is over");
    assert!(output.stdout.is_empty(), "{output:?}");
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "timermeter: interrupted\n"
    );
    let alone = waited_for(|| agents_of(&program).is_empty().then_some(()));
    assert!(alone.is_some(), "left: {:?}", agents_of(&program));
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
    // It waits for a report.
    let mut table = Command::new(super::program());
    let table = table
        .args(["table", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null());
    let mut table = table.spawn().expect("it starts");
    // Where the parent of the test ignores the signal, it does nothing until a handler is
    // installed.
    waited_for(|| catches_interrupts(table.id()).then_some(())).expect("it listens");
    kill_process(Pid::from_child(&table), Signal::INT).expect("it is there");
    let ended = waited_for(|| table.try_wait().expect("it can be asked"));
    if ended.is_none() {
        table.kill().expect("it is there");
    }
    assert_eq!(
        ended.and_then(|status| status.signal()),
        Some(Signal::INT.as_raw())
    );
}
