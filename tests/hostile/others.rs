//! Tests that the program never signals a process that it did not start, and does not hang on a
//! process that it may not signal.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::process::Command;

use predicates::str::contains;
use rustix::process::{Pid, Signal, getuid, kill_process};
use serde_json::Value;

use super::folder::Folder;
use super::program::{BUILT, json, program};
use super::run::{HELLO, Run, waited_for};
use super::skipping::{emulated, lacks, not_installed, skipped};

/// Kills the process with the id in a file.
fn kill(folder: &Folder, file: &str) {
    let number = fs::read_to_string(folder.file(file)).expect("the process writes its id");
    let process = number.trim().parse().ok().and_then(Pid::from_raw);
    kill_process(process.expect("the id is positive"), Signal::KILL).expect("the process runs");
}

/// Runs the program in place of a shell that has started a process. When the agent signals it, that
/// process creates an orphan.
fn run_with_bystanders(folder: &Folder, agent: &str) -> Run {
    let script = r#"
cd "$1"; mkfifo go gone
sh -c 'read -r go <go; (sleep 3201 & echo $! >orphan); echo >gone; echo $$ >bystander; exec sleep 3202' &
exec "$0" list --agent "sh $1/agent""#;
    fs::write(folder.file("agent"), agent).expect("the file is written");
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
            waited_for(|| folder.file("ready").exists().then_some(())).expect("the agent starts");
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
    let folder = Folder::new();
    let script = r#""$0" probe monotonic --quick -f json > >(cat >"$1")"#;
    let mut command = Command::new("bash");
    command.args(["-c", script, program(), &folder.arg("report")]);
    if Command::new("bash").arg("--version").output().is_err() {
        return not_installed("there is no bash", "install it");
    }
    Run::spawn(command).end().success();
    let report = fs::read(folder.file("report")).expect("the report is readable");
    serde_json::from_slice::<Value>(&report).expect("a report");
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

/// The user id of the program, which may not signal processes of root.
const NOBODY: &str = "65534";

/// A set-user-ID copy of `setpriv`, by which any user becomes root. `None` if the test is skipped.
fn setuid_root(folder: &Folder) -> Option<String> {
    const REMEDY: &str = "run as root on a file system with set-user-ID";
    if emulated("set-user-ID has no effect") {
        return None;
    }
    if !getuid().is_root() {
        skipped("only root can make programs that run as root", REMEDY);
        return None;
    }
    let copy = folder.arg("setpriv");
    if fs::copy("/usr/bin/setpriv", &copy).is_err() {
        not_installed("there is no setpriv", "install util-linux");
        return None;
    }
    chown(&copy, Some(0), Some(0)).expect("root can change the owner");
    fs::set_permissions(&copy, Permissions::from_mode(0o4755)).expect("chmod succeeds");
    fs::set_permissions(folder.file(""), Permissions::from_mode(0o777)).expect("chmod succeeds");
    let tried = as_nobody(&copy).args(["--reuid", "0", "id", "-u"]).output();
    if tried.is_ok_and(|tried| tried.stdout == b"0\n") {
        return Some(copy);
    }
    skipped("set-user-ID has no effect", REMEDY);
    None
}

fn as_nobody(program: &str) -> Command {
    let mut command = Command::new("setpriv");
    command
        .args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"])
        .arg(program);
    command
}

/// The first agent runs as root. The second agent has a descendant that runs as root.
#[test]
fn unkillable_agent_does_not_hang() {
    let folder = Folder::new();
    let Some(setuid) = setuid_root(&folder) else {
        return;
    };
    let copy = folder.arg("timermeter");
    fs::copy(BUILT, &copy).expect("the file is copied");
    let script = folder.arg("agent");
    let body = "echo $$ >\"$0.id\"; while read -r question; do :; done; exec sleep 3206";
    fs::write(&script, body).expect("the file is written");
    let agent = shell_words::join([&setuid, "--reuid", "0", "sh", &script]);
    let wrapped = shell_words::join(["sh", "-c", &format!("{agent}; true")]);
    for (agent, said, signal) in [
        (&agent, "cannot be ended", None),
        (&wrapped, "did not answer", Some(Signal::INT)),
    ] {
        let mut command = as_nobody(&copy);
        command.args(["probe", "monotonic", "--quick", "--format", "json"]);
        let timeout = if signal.is_some() { "600" } else { "3" };
        command.args(["--timeout", timeout, "--agent", agent]);
        let mut run = Run::spawn(command);
        // The agent writes its id after it has become root. Before, it can be ended.
        let started = waited_for(|| folder.file("agent.id").exists().then_some(()));
        assert!(started.is_some(), "{:?}", run.alive());
        if let Some(signal) = signal {
            run.signal(signal);
        }
        run.until_it_ends();
        // The agent runs `sleep` at the end of its input.
        run.until_it_runs("sleep 3206");
        kill(&folder, "agent.id");
        fs::remove_file(folder.file("agent.id")).expect("the file is removed");
        let reason = "which this program started, cannot be ended";
        let ended = run.end().stderr(contains(reason));
        if signal.is_some() {
            ended.code(130);
            continue;
        }
        let ended = ended.code(3).stdout(contains(said));
        let timers = json(&ended)["timers"].to_string();
        assert!(timers.contains(r#""status":"ok""#), "{timers}");
    }
}
