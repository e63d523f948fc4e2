//! Tests that the program never signals a process that it did not start, and loses none of its own.

use std::fs;
use std::process::Command;

use predicates::str::contains;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::folder::Folder;
use super::program::program;
use super::run::{HELLO, Run, waited_for};
use super::skipping::{lacks, not_installed};

/// Kills the process with the id in a file.
fn kill(folder: &Folder, file: &str) {
    let number = fs::read_to_string(folder.file(file)).unwrap();
    let process = number.trim().parse().ok().and_then(Pid::from_raw);
    kill_process(process.unwrap(), Signal::KILL).unwrap();
}

/// Runs the program in place of a shell that has started a process. When the agent signals it, that
/// process creates an orphan.
fn run_with_bystanders(folder: &Folder, agent: &str) -> Run {
    let script = r#"
cd "$1"; mkfifo go gone
sh -c 'read -r go <go; (sleep 3201 & echo $! >orphan); echo >gone; echo $$ >bystander; exec sleep 3202' &
exec "$0" list --agent "sh $1/agent""#;
    fs::write(folder.file("agent"), agent).unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", script, program(), &folder.arg("")]);
    Run::spawn(shell)
}

/// The program ends both descendants of its agent: the one in a new session, and the orphan.
#[test]
fn inherited_children_survive() {
    if lacks("setsid", "util-linux") {
        return;
    }
    let own = "setsid sleep 3203 & (setsid sleep 3204 &); echo >go; read -r gone <gone";
    for (rest, signal) in [
        (
            format!("read -r question; echo '{HELLO}'; read -r more"),
            None,
        ),
        ("touch ready; exec sleep 3205".into(), Some(Signal::TERM)),
    ] {
        let folder = Folder::new();
        let mut run = run_with_bystanders(&folder, &format!("{own}\n{rest}\n"));
        if let Some(signal) = signal {
            waited_for(|| folder.file("ready").exists().then_some(())).unwrap();
            run.signal(signal);
        }
        run.until_it_ends();
        let mut alive = run.alive();
        alive.sort();
        kill(&folder, "bystander");
        kill(&folder, "orphan");
        run.end()
            .code(signal.map_or(0, |signal| 128 + signal.as_raw()));
        assert_eq!(alive, ["sleep 3201 ", "sleep 3202 "], "{signal:?}");
    }
}

/// In bash, the process that reads the output becomes a child of the program.
#[test]
fn reader_of_output_survives() {
    if lacks("bash", "bash") {
        return;
    }
    let folder = Folder::new();
    let script = r#""$0" probe 'monotoni?' --quick -f json > >(cat >"$1")"#;
    let mut command = Command::new("bash");
    command.args(["-c", script, program(), &folder.arg("report")]);
    Run::spawn(command).end().success();
    let report = fs::read(folder.file("report")).unwrap();
    serde_json::from_slice::<Value>(&report).unwrap();
}

/// If a process inherits an ignored SIGCHLD, its children vanish before it can ask for their
/// status.
#[test]
fn ignored_sigchld_loses_no_child() {
    let mut command = Command::new("env");
    command.args(["--ignore-signal=CHLD", program(), "list"]);
    command.args(["--agent", "sh -c 'exit 7'"]);
    let ended = Run::spawn(command).end();
    if ended.get_output().stderr.starts_with(b"env:") {
        return not_installed("env cannot ignore signals", "install GNU coreutils");
    }
    ended.stdout(contains("exited with status 7"));
}
