//! Tests the program in a PID namespace that has the `/proc` of another PID namespace, so process
//! numbers in `/proc` belong to other processes.

use std::process::{Command, Stdio};

use serde_json::Value;

use super::folder::Folder;
use super::program::{program, words};
use super::run::HELLO;
use super::skipping::{emulated, skipped};

/// Commands that create the outer namespace, with its own `/proc`. A fault can end only processes
/// in it.
const OUTER_COMMANDS: [&str; 2] = [
    "unshare --pid --fork --mount-proc",
    "unshare --user --map-root-user --pid --fork --mount-proc",
];
/// The script of process 1 of the outer namespace. Its process 2 has the number that the program
/// has in the inner namespace, and many children, which have the numbers of bystanders there.
const OUTER: &str = r#"
sh -c 'for _ in $(seq 80); do sleep 3103 & done; wait' &
until [ "$(cat /proc/2/task/2/children 2>/dev/null | wc -w)" = 80 ]; do sleep 0.05; done
"$@""#;
/// The script of process 1 of the inner namespace. The program is process 2; the others are
/// bystanders.
const INNER: &str = r#"
"$@" &
run=$!
for _ in $(seq 40); do sleep 3100 & done
wait $run
code=$? alive=0
for process in /proc/[0-9]*; do
    case $(tr '\0' ' ' <"$process/cmdline") in "sleep 3100 ") alive=$((alive + 1)) ;; esac
done 2>/dev/null
echo "alive $alive code $code" >&2"#;

/// The command that creates the outer namespace; `None` if the test is skipped.
fn outer_namespace() -> Option<&'static str> {
    if emulated("namespaces are unavailable") {
        return None;
    }
    let works = |outer: &&str| {
        let mut command = Command::new("env");
        command
            .args(outer.split(' '))
            .args(["sh", "-c", "unshare --pid --fork true"]);
        let tried = command.stdin(Stdio::null()).output();
        tried.is_ok_and(|ended| ended.status.success())
    };
    let found = OUTER_COMMANDS.into_iter().find(works);
    if found.is_none() {
        skipped(
            "namespaces are unavailable",
            "install util-linux, and run as root or allow user namespaces",
        );
    }
    found
}

/// Runs the program in the inner namespace. Returns standard output, standard error and the exit
/// status, and checks that all bystanders are alive.
#[track_caller]
fn run_in_namespaces(outer: &str, inner: &str, line: &str) -> (String, String, i32) {
    let mut command = Command::new("timeout");
    command
        .args(["-k", "5", "240"])
        .args(outer.split(' '))
        .args(["sh", "-c", OUTER, "outer"])
        .args(inner.split(' '))
        .args(["sh", "-c", INNER, "inner", program()])
        .args(words(line));
    let output = command.stdin(Stdio::null()).output().unwrap();
    let [shown, reported] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    let last = reported.lines().last().unwrap_or_default();
    let code = last.strip_prefix("alive 40 code ");
    let code = code.unwrap_or_else(|| panic!("{:?}: {inner} {line}: {reported}", output.status));
    (shown, reported.clone(), code.parse().unwrap())
}

#[test]
fn foreign_pid_namespace_gives_report() {
    let Some(outer) = outer_namespace() else {
        return;
    };
    for inner in [
        "unshare --pid --fork",
        "bwrap --ro-bind / / --dev /dev --unshare-pid",
    ] {
        let tool = inner.split(' ').next().unwrap_or_default();
        if Command::new(tool).arg("--version").output().is_err() {
            skipped(format!("there is no {tool}"), "install it");
            continue;
        }
        let line = "probe monotoni? tim? --quick --format json";
        let (shown, reported, code) = run_in_namespaces(outer, inner, line);
        assert_eq!(code, 0, "{inner}: {reported}");
        assert!(
            reported.contains("/proc shows the processes of another PID namespace"),
            "{inner}: {reported}"
        );
        let report: Value = serde_json::from_str(&shown)
            .unwrap_or_else(|error| panic!("{inner}: {error}: {shown}: {reported}"));
        for row in report["timers"].as_array().unwrap() {
            assert!(
                row["status"] == "ok" || row["status"] == "unresolved",
                "{inner}: {row}"
            );
        }
    }
}

/// The program ends the process group of the agent. A child that leaves the group ends with the
/// namespace.
#[test]
fn agent_children_spare_bystanders() {
    let Some(outer) = outer_namespace() else {
        return;
    };
    let flee =
        format!("sleep 3101 & setsid sleep 3102 & read -r question; echo '{HELLO}'; read -r more");
    let flee = shell_words::join(["sh", "-c", &flee]);
    let line = shell_words::join(["list", "--agent", &flee]);
    let (_, reported, code) = run_in_namespaces(outer, "unshare --pid --fork", &line);
    assert_eq!(code, 0, "{reported}");
}

#[test]
fn time_namespace_is_noted() {
    let mut command = Command::new("env");
    let namespace = words("unshare --time --monotonic -100 --boottime 5000000 --fork");
    command.args(namespace).args([program(), "check"]);
    let shown = command.output().unwrap().stdout;
    if shown.is_empty() {
        return skipped("time namespaces are unavailable", "run this test as root");
    }
    let shown = String::from_utf8_lossy(&shown);
    let shifts = "CLOCK_MONOTONIC by -100 s and CLOCK_BOOTTIME by 5000000 s";
    assert!(shown.contains(shifts), "{shown}");
}

/// The leader of a process group is reaped. Before the guard ends the group, another process gets
/// its number and becomes the leader of a new group.
const REUSE: &str = r#"
cd "$1"; mkfifo lines
"$0" guard <lines & guard=$!
exec 3>lines
setsid sleep 3104 3>&- & leader=$!
echo "+$leader" >&3
until ls -l "/proc/$guard/fd" | grep -q pidfd; do sleep 0.05; done
kill -KILL "$leader"; wait "$leader"
echo "$((leader - 1))" >/proc/sys/kernel/ns_last_pid
setsid sleep 3105 3>&- & bystander=$!
until grep -q sleep "/proc/$bystander/cmdline"; do :; done
exec 3>&-; wait "$guard"
echo "$leader $bystander $(tr '\0' ' ' <"/proc/$bystander/cmdline")""#;

#[test]
fn guard_spares_reused_group_number() {
    let Some(outer) = outer_namespace() else {
        return;
    };
    let folder = Folder::new();
    let mut command = Command::new("env");
    command.args(outer.split(' '));
    command.args(["sh", "-c", REUSE, program(), &folder.arg("")]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut words = shown.split_whitespace();
    if words.next() != words.next() {
        return skipped("process numbers cannot be chosen", "run this test as root");
    }
    assert!(shown.ends_with(" sleep 3105 \n"), "{shown}: {output:?}");
}
