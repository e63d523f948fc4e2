//! Tests small resource limits and refused system calls.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

use rustix::process::Signal;

use super::c_compiler::{LIBRARY, compile};
use super::folder::Folder;
use super::program::program;
use super::run::{Run, waited_for};
use super::skipping::{emulated, not_installed, skipped};
use crate::stored::EPYC;

const REPORTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/reports");

/// Runs the program under `ulimit`.
fn limited(limits: &str, args: &[&str]) -> Output {
    let mut command = Command::new("bash");
    command
        .args(["-c", &format!("{limits}; exec \"$0\" \"$@\""), program()])
        .args(args);
    command.output().expect("bash starts")
}

#[test]
fn checks_open_file_limit_first() {
    let ended = limited("ulimit -n 16", &["probe", "--quick", "monotonic"]);
    let reported = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{reported}");
    assert!(
        reported.contains("may open only 16 files") && reported.contains("ulimit -n"),
        "{reported}"
    );
    // The program raises a soft limit.
    let ended = limited("ulimit -S -n 40", &["probe", "--quick", "monotonic"]);
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
}

#[test]
fn works_with_small_stack() {
    if emulated("the stack limit includes the emulator") {
        return;
    }
    for args in [&["table", REPORTS][..], &["probe", "--quick", "monotonic"]] {
        let ended = limited("ulimit -s 64", args);
        assert_eq!(ended.status.code(), Some(0), "{args:?}: {ended:?}");
    }
}

/// If the memory limit is too small for any command, the program reports it before anything fails.
#[test]
fn reports_memory_limit() {
    if emulated("the memory limit includes the emulator") {
        return;
    }
    for limit in ["-d 10000", "-d 20000", "-v 48000"] {
        for args in [&["list"][..], &["probe", "--quick", "monotonic"]] {
            let ended = limited(&format!("ulimit {limit}"), args);
            let reported = String::from_utf8_lossy(&ended.stderr);
            assert_eq!(
                ended.status.code(),
                Some(1),
                "{limit}: {args:?}: {reported}"
            );
            assert!(
                reported.contains("not enough memory"),
                "{limit}: {args:?}: {reported}"
            );
        }
    }
}

/// Runs the program as another user with a limit of processes and threads, because the limit does
/// not apply to root. `None` if the test is skipped.
fn with_processes(user: &str, processes: u32, args: &[&str]) -> Option<Output> {
    if emulated("the emulator needs a thread itself") {
        return None;
    }
    let folder = tempfile::tempdir_in("/tmp").ok()?;
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("chmod succeeds");
    let (program, report) = (
        folder.path().join("timermeter"),
        folder.path().join("report.json"),
    );
    fs::copy(super::program::program(), &program).expect("the file is copied");
    fs::copy(EPYC, &report).expect("the file is copied");
    fs::set_permissions(&report, fs::Permissions::from_mode(0o644)).expect("chmod succeeds");
    let mut command = Command::new("setpriv");
    command.args(["--reuid", user, "--clear-groups", "bash", "-c"]);
    command
        .arg(format!("ulimit -u {processes}; exec \"$0\" \"$@\""))
        .arg(&program)
        .args(args)
        .current_dir(folder.path());
    let Ok(ended) = command.output() else {
        not_installed("there is no setpriv", "install util-linux");
        return None;
    };
    if String::from_utf8_lossy(&ended.stderr).contains("setpriv:") {
        skipped("another user is unavailable", "run as root");
        return None;
    }
    Some(ended)
}

/// Any number of threads and processes may start before the limit is reached.
#[test]
fn process_limit_suffices_or_is_reported() {
    const TABLE: [&str; 3] = ["table", "report.json", "report.json"];
    const PROBE: [&str; 3] = ["probe", "--quick", "monotonic"];
    for (processes, args, status) in [(1, TABLE, Some(0)), (1, PROBE, Some(1)), (3, PROBE, None)] {
        let Some(ended) = with_processes("65533", processes, &args) else {
            return;
        };
        let (code, reported) = (ended.status.code(), String::from_utf8_lossy(&ended.stderr));
        assert!(matches!(code, Some(0 | 1 | 3)), "{args:?}: {ended:?}");
        if status.is_some() {
            assert_eq!(code, status, "{args:?}: {ended:?}");
        }
        assert!(!reported.contains("panicked"), "{args:?}: {reported}");
    }
}

/// A command that runs the program with these variables, while the kernel refuses these system
/// calls. `None` if the test is skipped.
fn refusing(calls: &str, variables: &[(&str, &str)], args: &[&str]) -> Option<Command> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hostile/refusing.py");
    let of = |program: &str| {
        let mut command = Command::new("python3");
        command.args([script, calls, "/usr/bin/env"]);
        command
            .args(
                variables
                    .iter()
                    .map(|(name, value)| format!("{name}={value}")),
            )
            .arg(program);
        command
    };
    if !of("true")
        .output()
        .is_ok_and(|output| output.status.success())
    {
        skipped(
            "seccomp filters are unavailable",
            "install python3, use a kernel with CONFIG_SECCOMP_FILTER",
        );
        return None;
    }
    let mut command = of(program());
    command.args(args);
    Some(command)
}

/// The kernel refuses to sleep by `clock_nanosleep` and to report resource limits, which are then
/// unknown.
#[test]
fn works_where_calls_are_refused() {
    for args in [
        &["probe", "--quick", "monotonic"][..],
        &["watch", "200ms"],
        &["measure", "chain", "--clock", "monotonic", "--from", EPYC],
    ] {
        let Some(command) = refusing("clock_nanosleep,prlimit64", &[], args) else {
            return;
        };
        let (status, output) = Run::spawn(command).end();
        assert_eq!(status.code(), Some(0), "{args:?}: {output:?}");
    }
}

#[test]
fn refused_sleep_is_unavailable() {
    let timers = ["std-sleep", "hybrid", "spin-sleep"];
    let args = [&["wait", "--quick", "--format", "json"], &timers[..]].concat();
    let Some(command) = refusing("clock_nanosleep", &[], &args) else {
        return;
    };
    let (_, output) = Run::spawn(command).end();
    let report: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("the output is a report");
    let rows = report["waits"]
        .as_array()
        .expect("the report has sleep primitives");
    assert_eq!(rows.len(), timers.len(), "{report}");
    for row in rows {
        assert_eq!(row["status"], "unavailable", "{row}");
        assert!(row["reason"].to_string().contains("not permitted"), "{row}");
    }
}

/// The refused calls, and why the process that is left cannot be ended; `None` if another call ends it.
const REFUSED_KILLS: [(&str, Option<&str>); 8] = [
    ("kill", None),
    ("kill=absent,tgkill=absent", None),
    ("pidfd_send_signal", None),
    ("pidfd_open=absent", None),
    (
        "kill,tgkill,pidfd_send_signal",
        Some("a sandbox that refuses kill(2)"),
    ),
    (
        "kill=absent,pidfd_send_signal=absent",
        Some("a sandbox that refuses kill(2)"),
    ),
    ("kill,pidfd_open", Some("a sandbox that refuses kill(2)")),
    (
        "kill=nothing,pidfd_send_signal=nothing",
        Some("does not react to SIGKILL"),
    ),
];

/// Starts verbs whose child sleeps and reads no input, lets `act` act while it sleeps, and checks that
/// the verb ends with this status and names the child that it cannot end.
fn ends_without_kill(verbs: &[&[&str]], sleep: &str, status: i32, act: fn(&Run)) {
    for (calls, left) in REFUSED_KILLS {
        for verb in verbs {
            let Some(command) = refusing(calls, &[], verb) else {
                return;
            };
            let mut run = Run::spawn(command);
            // Not a process of this program, whose arguments end with these words.
            let runs = || {
                run.alive()
                    .iter()
                    .any(|line| line.starts_with(sleep))
                    .then_some(())
            };
            assert!(waited_for(runs).is_some(), "{calls} {verb:?}");
            act(&run);
            run.until_it_ends();
            let remains = run.alive();
            run.kill_descendants();
            let (ended, output) = run.end();
            let reported = String::from_utf8_lossy(&output.stderr);
            assert_eq!(ended.code(), Some(status), "{calls} {verb:?}: {reported}");
            assert_eq!(
                remains.len(),
                usize::from(left.is_some()),
                "{calls} {verb:?}: {remains:?}"
            );
            let names = reported.contains("which this program started, cannot be ended");
            assert_eq!(names, left.is_some(), "{calls} {verb:?}: {reported}");
            assert!(
                reported.contains(left.unwrap_or("")),
                "{calls} {verb:?}: {reported}"
            );
        }
    }
}

#[test]
#[ignore = "long"]
fn verbs_end_where_kill_is_refused() {
    let measure = [
        "measure",
        "--from",
        EPYC,
        "--clock",
        "monotonic",
        "--budget",
        "1",
    ];
    let sleep = [&measure[..], &["--", "sleep", "3111"]].concat();
    ends_without_kill(&[&sleep], "sleep 3111", 1, |_| {});
    let list = ["list", "--agent", "x=sleep 3112"];
    let verbs = [
        &[&measure[..5], &["--", "sleep", "3112"]].concat()[..],
        &list,
    ];
    ends_without_kill(&verbs, "sleep 3112", 128 + Signal::TERM.as_raw(), |run| {
        run.signal(Signal::TERM);
    });
}

/// Children that end with their input need no signal.
#[test]
fn agents_end_where_kill_is_refused() {
    for (calls, _) in REFUSED_KILLS {
        for args in [&["check"][..], &["probe", "--quick", "monotonic"]] {
            let Some(command) = refusing(calls, &[], args) else {
                return;
            };
            let (status, output) = Run::spawn(command).end();
            assert!(
                matches!(status.code(), Some(0 | 3)),
                "{calls} {args:?}: {output:?}"
            );
            let reported = String::from_utf8_lossy(&output.stderr);
            assert!(
                !reported.contains("cannot be ended"),
                "{calls} {args:?}: {reported}"
            );
        }
    }
}

#[test]
fn refused_wait_for_children_is_reported() {
    for calls in ["waitid", "waitid=absent"] {
        for (args, status) in [
            (&["probe", "--quick", "monotonic"][..], 1),
            (&["check"], 1),
            (&["table", EPYC], 0),
        ] {
            let Some(command) = refusing(calls, &[], args) else {
                return;
            };
            let (ended, output) = Run::spawn(command).end();
            assert_eq!(ended.code(), Some(status), "{calls} {args:?}: {output:?}");
            let reported = String::from_utf8_lossy(&output.stderr);
            assert_eq!(
                reported.contains("the kernel refuses waitid"),
                status == 1,
                "{reported}"
            );
        }
    }
}

/// Compiles a library that can be preloaded. `None` without a compiler.
fn library(folder: &Folder, name: &str, code: &str) -> Option<String> {
    if emulated("a library that is built here cannot be preloaded") {
        return None;
    }
    let source = format!("{name}.c");
    fs::write(folder.file(&source), code).expect("the file is written");
    let library = folder.arg(&format!("{name}.so"));
    compile(folder.file(&source).as_ref(), library, LIBRARY)
}

/// The vDSO reads the counter, so nothing can be measured, and a child process would be killed,
/// too.
#[test]
fn reports_forbidden_counter() {
    let source =
        fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    if source.is_ok_and(|source| !timers::clock_sources::reads_counter(source.trim())) {
        return skipped(
            "the clock source is not a counter",
            "make tsc the clock source",
        );
    }
    let folder = Folder::new();
    let Some(library) = library(&folder, "forbidden", include_str!("forbidden_counter.c")) else {
        return;
    };
    for args in [
        &["check"][..],
        &["measure", "--", "true"],
        &["probe", "--quick", "monotonic"],
        &["watch", "1s"],
    ] {
        let ended = Command::new(program())
            .args(args)
            .env("LD_PRELOAD", &library)
            .output()
            .expect("the program starts");
        if ended.status.code() == Some(99) {
            return skipped(
                "the kernel cannot forbid reading the counter",
                "PR_SET_TSC is needed, on x86-64",
            );
        }
        let reported = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(
            ended.status.code(),
            Some(1),
            "{args:?}: {:?}: {reported}",
            ended.status
        );
        assert!(
            reported.contains("prctl(PR_SET_TSC, PR_TSC_SIGSEGV) is in force"),
            "{args:?}: {reported}"
        );
    }
}

/// The kernel refuses `clock_gettime`, but the vDSO still works.
#[test]
fn deadline_passes_without_clock() {
    let folder = Folder::new();
    let probe = [
        "probe",
        "--quick",
        "--quiet",
        "--timeout",
        "1",
        "--agent",
        "x=sleep 3101",
        "x:*",
    ];
    let output = ["--output", &folder.arg("report.json")];
    let Some(command) = refusing("clock_gettime", &[], &[&probe[..], &output].concat()) else {
        return;
    };
    let (status, output) = Run::spawn(command).end();
    assert_eq!(status.code(), Some(3), "{output:?}");
    let report = fs::read_to_string(folder.file("report.json")).expect("the report is readable");
    assert!(
        report.contains("did not answer `hello` in time (1 s"),
        "{report}"
    );
}

/// The kernel refuses the system call, ends a process that makes it, or does not execute it.
#[test]
fn clock_of_vdso_only_is_reported() {
    let json = |calls: &str, args: &[&str]| {
        let command = refusing(calls, &[], &[args, &["--format", "json"]].concat())?;
        let (status, output) = Run::spawn(command).end();
        assert!(
            matches!(status.code(), Some(0 | 3)),
            "{calls} {args:?}: {output:?}"
        );
        Some(serde_json::from_slice::<serde_json::Value>(&output.stdout).expect("JSON"))
    };
    for (calls, why) in [
        ("clock_gettime", "Operation not permitted"),
        ("clock_gettime=kill", "SIGSYS"),
        ("clock_gettime=nothing", "tv_nsec = -1"),
    ] {
        let Some(checked) = json(calls, &["check"]) else {
            return;
        };
        let findings = checked["findings"].as_array().expect("a list");
        let mut found = findings
            .iter()
            .filter(|finding| finding["code"] == "libc-clock");
        let found = found.next().expect("the clocks are judged");
        assert_eq!(found["severity"], "note", "{calls}: {found}");
        assert!(
            found["values"]["clocks"].to_string().contains("monotonic"),
            "{calls}: {found}"
        );
        let listed = json(calls, &["list", "monotonic", "monotonic-syscall"]).expect("as before");
        assert_eq!(listed[0]["available"], true, "{calls}: {listed}");
        assert!(
            listed[1]["reason"].to_string().contains(why),
            "{calls}: {listed}"
        );
    }
}

/// The preloaded library makes `clock_gettime` fail, and the kernel refuses the system call.
#[test]
fn reports_missing_clock() {
    let folder = Folder::new();
    let refusal =
        "int clock_gettime(int clock, void *time) { (void)clock; (void)time; return -1; }";
    let Some(library) = library(&folder, "refusal", refusal) else {
        return;
    };
    for args in [
        &["probe", "--quick", "monotonic"][..],
        &["list", "--agent", "x=sleep 3102"],
        &["probe", "--from", EPYC, "-o", &folder.arg("page.html")],
    ] {
        let Some(command) = refusing("clock_gettime", &[("LD_PRELOAD", &library)], args) else {
            return;
        };
        let (status, output) = Run::spawn(command).end();
        let reported = String::from_utf8_lossy(&output.stderr);
        assert_eq!(status.code(), Some(1), "{args:?}: {reported}");
        assert!(
            reported.contains("refuses clock_gettime to this process"),
            "{args:?}: {reported}"
        );
    }
    let Some(mut command) = refusing(
        "clock_gettime",
        &[("LD_PRELOAD", &library)],
        &["table", EPYC],
    ) else {
        return;
    };
    assert!(command.output().is_ok_and(|output| output.status.success()));
}
