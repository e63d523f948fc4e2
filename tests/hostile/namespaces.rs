//! A PID namespace that sees the `/proc` of another one: its numbers mean other processes here.

use std::process::{Command, Stdio};

use serde_json::Value;

use super::folder::Folder;
use super::program::program;
use super::skipping::{emulated, skipped};

/// Where a fault may end processes: a namespace of its own, with a `/proc` of its own. All in it
/// ends with it.
const WALLED: [&[&str]; 2] = [
    &["unshare", "--pid", "--fork", "--mount-proc"],
    &[
        "unshare",
        "--user",
        "--map-root-user",
        "--pid",
        "--fork",
        "--mount-proc",
    ],
];
/// The first process of the wall. Its second has many children, so that the numbers of those are
/// numbers of bystanders below, and its own that of the program.
const WALL: &str = r#"
sh -c 'for _ in $(seq 80); do sleep 3103 & done; wait' &
until [ "$(cat /proc/2/task/2/children 2>/dev/null | wc -w)" = 80 ]; do sleep 0.05; done
"$@""#;
/// The first process of the namespace below: the program is its second, and next to it are
/// bystanders.
const BELOW: &str = r#"
"$@" &
run=$!
for _ in $(seq 40); do sleep 3100 & done
wait $run
code=$? alive=0
for process in /proc/[0-9]*; do
    case $(tr '\0' ' ' <"$process/cmdline") in "sleep 3100 ") alive=$((alive + 1)) ;; esac
done 2>/dev/null
echo "alive $alive code $code" >&2"#;

/// How to have a namespace in which nothing outside can be hit.
fn walled() -> Option<&'static [&'static str]> {
    if emulated("no namespace is made") {
        return None;
    }
    let works = |words: &&&[&str]| {
        let tried = Command::new(words[0])
            .args(&words[1..])
            .args(["sh", "-c", "unshare --pid --fork true"])
            .stdin(Stdio::null())
            .output();
        tried.is_ok_and(|ended| ended.status.success())
    };
    let found = WALLED.iter().find(works).copied();
    if found.is_none() {
        skipped(
            "neither root nor user namespaces are to be had",
            "it takes util-linux, and a kernel that lets users make namespaces",
        );
    }
    found
}

/// What a run below shows on standard output and on standard error, and what it ends with. All
/// bystanders are alive.
#[track_caller]
fn run_in_namespaces(wall: &[&str], below: &[&str], args: &[&str]) -> (String, String, i32) {
    let mut command = Command::new("timeout");
    command
        .args(["-k", "5", "240"])
        .args(wall)
        .args(["sh", "-c", WALL, "wall"])
        .args(below)
        .args(["sh", "-c", BELOW, "below"])
        .arg(program())
        .args(args);
    let output = command.stdin(Stdio::null()).output().expect("it starts");
    let [shown, reported] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    let last = reported.lines().last().unwrap_or_default();
    let code = last.strip_prefix("alive 40 code ");
    let code =
        code.unwrap_or_else(|| panic!("{:?}: {below:?} {args:?}: {reported}", output.status));
    (shown, reported.clone(), code.parse().expect("a number"))
}

#[test]
fn foreign_pid_namespace_gives_report() {
    let Some(wall) = walled() else { return };
    for below in [
        &["unshare", "--pid", "--fork"][..],
        &[
            "bwrap",
            "--ro-bind",
            "/",
            "/",
            "--dev",
            "/dev",
            "--unshare-pid",
        ],
    ] {
        if Command::new(below[0]).arg("--version").output().is_err() {
            skipped(format!("there is no {}", below[0]), "install it");
            continue;
        }
        let args = ["probe", "monotonic", "time", "--quick", "--format", "json"];
        let (shown, reported, code) = run_in_namespaces(wall, below, &args);
        assert_eq!(code, 0, "{below:?}: {reported}");
        assert!(
            reported.contains("/proc shows the processes of another PID namespace"),
            "{below:?}: {reported}"
        );
        let report: Value = serde_json::from_str(&shown)
            .unwrap_or_else(|error| panic!("{below:?}: {error}: {shown}: {reported}"));
        for row in report["timers"].as_array().expect("timers") {
            assert!(
                row["status"] == "ok" || row["status"] == "unresolved",
                "{below:?}: {row}"
            );
        }
    }
}

/// What has a group of its own is ended there, too; what leaves it ends with the namespace.
#[test]
fn agent_children_do_not_confuse() {
    let Some(wall) = walled() else { return };
    let below = ["unshare", "--pid", "--fork"];
    let hello = r#"{"protocol":1,"runtime":{"name":"sh","version":"1"},"timers":[],"ops":[]}"#;
    let flee =
        format!("sleep 3101 & setsid sleep 3102 & read -r question; echo '{hello}'; read -r more");
    let flee = shell_words::join(["sh", "-c", &flee]);
    let (_, reported, code) = run_in_namespaces(wall, &below, &["list", "--agent", &flee]);
    assert_eq!(code, 0, "{reported}");
}

/// The leader of a group is reaped, and another process gets its number and makes a group of it,
/// before the guard ends the group.
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
    let Some(wall) = walled() else { return };
    let folder = Folder::new();
    let mut command = Command::new(wall[0]);
    command.args(&wall[1..]);
    command.args(["sh", "-c", REUSE, program(), &folder.arg("")]);
    let output = command.stdin(Stdio::null()).output().expect("it starts");
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut words = shown.split_whitespace();
    if words.next() != words.next() {
        return skipped(
            "the next process number cannot be chosen",
            "run this test as root",
        );
    }
    assert!(shown.ends_with(" sleep 3105 \n"), "{shown}: {output:?}");
}
