//! Tests small resource limits and refused system calls.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use assert_cmd::assert::{Assert, OutputAssertExt};
use predicates::prelude::*;
use predicates::str::contains;
use rustix::process::Signal;

use super::c_compiler::{LIBRARY, compile};
use super::folder::Folder;
use super::program::{command, found, json, program, words};
use super::run::{Run, waited_for};
use super::skipping::{emulated, lacks, skipped};
use crate::stored::EPYC;

/// A pattern: a busy machine may not reveal the resolution of a timer given by name, which is another
/// status.
const PROBE: &str = "probe --quick monotoni?";

/// Runs the program under `ulimit`.
fn limited(limits: &str, line: &str) -> Assert {
    let script = format!("ulimit {limits}; exec \"$0\" {line}");
    let mut bash = Command::new("bash");
    bash.args(["-c", &script, program()]).assert()
}

#[test]
fn checks_open_file_limit_first() {
    limited("-n 16", PROBE)
        .code(1)
        .stderr(contains("may open only 16 files").and(contains("ulimit -n")));
    // The program raises a soft limit.
    limited("-S -n 40", PROBE).success();
}

#[test]
fn works_with_small_stack() {
    if emulated("the stack limit includes the emulator") {
        return;
    }
    for line in ["table reports", PROBE] {
        limited("-s 64", line).success();
    }
}

/// The limit is on address space, of which a program needs more than of memory.
#[test]
fn works_with_128_megabytes() {
    if emulated("the emulator alone takes more than 128 MiB") {
        return;
    }
    for line in [
        "check",
        "measure pow --samples 2",
        "probe --quick monotonic thread-cputime",
    ] {
        let ended = limited("-v 131072", &format!("{line} -f json"));
        let ended = ended.code(predicate::in_iter([0, 3]));
        ended.stdout(contains("cannot start").not());
    }
}

/// If the memory limit is too small for any command, the program reports it before anything fails.
#[test]
fn reports_memory_limit() {
    if emulated("the memory limit includes the emulator") {
        return;
    }
    for limit in ["-d 10000", "-d 20000", "-v 48000"] {
        for line in ["list", PROBE] {
            let ended = limited(limit, line).code(1);
            ended.stderr(contains("not enough memory"));
        }
    }
}

/// Runs the program as another user with a limit of processes and threads, because the limit does
/// not apply to root. `None` if the test is skipped.
fn with_processes(processes: u32, line: &str) -> Option<Assert> {
    if emulated("the emulator needs a thread itself") {
        return None;
    }
    if lacks("setpriv", "util-linux") {
        return None;
    }
    let folder = tempfile::tempdir_in("/tmp").ok()?;
    let allow = |name: &str, mode| {
        let mode = fs::Permissions::from_mode(mode);
        fs::set_permissions(folder.path().join(name), mode).unwrap();
    };
    allow("", 0o755);
    for (name, original) in [("timermeter", program()), ("report.json", EPYC)] {
        fs::copy(original, folder.path().join(name)).unwrap();
    }
    allow("report.json", 0o644);
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "65533", "--clear-groups", "bash", "-c"]);
    command.arg(format!("ulimit -u {processes}; exec ./timermeter {line}"));
    let ended = command.current_dir(folder.path()).output().unwrap();
    if String::from_utf8_lossy(&ended.stderr).contains("setpriv:") {
        skipped("another user is unavailable", "run as root");
        return None;
    }
    Some(ended.assert())
}

/// Any number of threads and processes may start before the limit is reached.
#[test]
fn process_limit_suffices_or_is_reported() {
    for (processes, line, statuses) in [
        (1, "table report.json report.json", &[0][..]),
        (1, PROBE, &[1]),
        (3, PROBE, &[0, 1, 3]),
    ] {
        let Some(ended) = with_processes(processes, line) else {
            return;
        };
        let ended = ended.code(predicate::in_iter(statuses.to_vec()));
        ended.stderr(contains("panicked").not());
    }
}

/// Starts the program with these variables, while the kernel refuses these system calls. `None` if
/// the test is skipped.
fn refusing_with(calls: &str, variables: &[String], line: &str) -> Option<Run> {
    let of = |program: &str| {
        let mut command = Command::new("python3");
        command.args(["tests/hostile/refusing.py", calls, "/usr/bin/env"]);
        command.args(variables).arg(program);
        command
    };
    let tried = of("true").output();
    if !tried.is_ok_and(|tried| tried.status.success()) {
        skipped(
            "seccomp filters are unavailable",
            "install python3, use a kernel with CONFIG_SECCOMP_FILTER",
        );
        return None;
    }
    let mut command = of(program());
    command.args(words(line));
    Some(Run::spawn(command))
}

fn refusing(calls: &str, line: &str) -> Option<Run> {
    refusing_with(calls, &[], line)
}

/// The kernel refuses to sleep by `clock_nanosleep` and to report resource limits, which are then
/// unknown.
#[test]
fn works_where_calls_are_refused() {
    let measure = format!("measure chain --clock monotonic --from {EPYC}");
    for line in [PROBE, "watch 200ms", &measure] {
        let Some(run) = refusing("clock_nanosleep,prlimit64", line) else {
            return;
        };
        run.end().success();
    }
}

#[test]
fn refused_sleep_is_unavailable() {
    let line = "wait --quick --format json std-sleep hybrid";
    let Some(run) = refusing("clock_nanosleep", line) else {
        return;
    };
    let report = json(&run.end());
    let rows = report["waits"].as_array().unwrap();
    assert_eq!(rows.len(), 2, "{report}");
    for row in rows {
        assert_eq!(row["status"], "unavailable", "{row}");
        assert!(row["reason"].to_string().contains("not permitted"), "{row}");
    }
}

const NO_KILL: Option<&str> = Some("a sandbox that refuses kill(2)");
/// The refused calls, and why the process that is left cannot be ended; `None` if another call ends it.
const REFUSED_KILLS: [(&str, Option<&str>); 8] = [
    ("kill", None),
    ("kill=absent,tgkill=absent", None),
    ("pidfd_send_signal", None),
    ("pidfd_open=absent", None),
    ("kill,tgkill,pidfd_send_signal", NO_KILL),
    ("kill=absent,pidfd_send_signal=absent", NO_KILL),
    ("kill,pidfd_open", NO_KILL),
    (
        "kill=nothing,pidfd_send_signal=nothing",
        Some("does not react to SIGKILL"),
    ),
];

/// A verb ends although its child, which sleeps and reads no input, cannot be ended, and names this child.
#[test]
#[ignore = "long"]
fn verbs_end_where_kill_is_refused() {
    for (calls, left) in REFUSED_KILLS {
        let Some(mut run) = refusing(calls, "list --agent 'x=sleep 3112'") else {
            return;
        };
        // Not a process of this program, whose arguments end with these words.
        let sleeps = || run.alive().iter().any(|it| it.starts_with("sleep 3112"));
        let awaited = waited_for(|| sleeps().then_some(()));
        assert!(awaited.is_some(), "{calls}");
        run.signal(Signal::TERM);
        run.until_it_ends();
        let remains = run.alive();
        run.kill_descendants();
        let count = usize::from(left.is_some());
        assert_eq!(remains.len(), count, "{calls}: {remains:?}");
        let ended = run.end().code(128 + Signal::TERM.as_raw());
        let ended = ended.stderr(contains(left.unwrap_or_default()));
        let named = contains("which this program started, cannot be ended");
        ended.stderr(named.count(count));
    }
}

/// An agent that cannot be ended is reported, and the other timers are measured.
#[test]
fn unkillable_agent_spares_other_timers() {
    let line = "probe monotoni? x:* --quick -f json --timeout 3 --agent 'x=sleep 3114'";
    let Some(mut run) = refusing("kill,tgkill,pidfd_send_signal", line) else {
        return;
    };
    run.until_it_ends();
    run.kill_descendants();
    let report = json(&run.end().code(3));
    let [clock, agent] = [0, 1].map(|at| &report["timers"][at]);
    assert_ne!(clock["status"], "failed", "{clock}");
    let why = agent["reason"].to_string();
    assert!(why.contains("cannot be ended, because"), "{agent}");
}

#[test]
fn forbidden_policy_is_refused_with_remedy() {
    let line = "wait nanosleep --policy=fifo:80";
    let Some(run) = refusing("sched_setscheduler", line) else {
        return;
    };
    let words = contains("fifo:80").and(contains("CAP_SYS_NICE"));
    run.end().code(2).stdout("").stderr(words);
}

/// Children that end with their input need no signal.
#[test]
fn agents_end_where_kill_is_refused() {
    for ((calls, _), line) in REFUSED_KILLS.iter().zip(["check", PROBE].iter().cycle()) {
        let Some(run) = refusing(calls, line) else {
            return;
        };
        let ended = run.end().code(predicate::in_iter([0, 3]));
        ended.stderr(contains("cannot be ended").not());
    }
}

#[test]
fn refused_wait_for_children_is_reported() {
    for calls in ["waitid", "waitid=absent"] {
        for (line, status) in [(PROBE, 1), ("check", 1), (&format!("table {EPYC}"), 0)] {
            let Some(run) = refusing(calls, line) else {
                return;
            };
            let reported = contains("the kernel refuses waitid");
            run.end()
                .code(status)
                .stderr(reported.count(status as usize));
        }
    }
}

/// Compiles a library that can be preloaded. `None` without a compiler.
fn library(folder: &Folder, name: &str, code: &str) -> Option<String> {
    if emulated("a library that is built here cannot be preloaded") {
        return None;
    }
    let source = format!("{name}.c");
    fs::write(folder.file(&source), code).unwrap();
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
    for line in ["check", "measure pow", PROBE, "watch 1s"] {
        let ended = command(line).env("LD_PRELOAD", &library).assert();
        if ended.get_output().status.code() == Some(99) {
            return skipped(
                "the kernel cannot forbid reading the counter",
                "PR_SET_TSC is needed, on x86-64",
            );
        }
        let reason = "prctl(PR_SET_TSC, PR_TSC_SIGSEGV) is in force";
        ended.code(1).stderr(contains(reason));
    }
}

/// The kernel refuses `clock_gettime`, but the vDSO still works.
#[test]
fn deadline_passes_without_clock() {
    let line = "probe --quick --timeout 1 -f json --agent 'x=sleep 3101' x:*";
    let Some(run) = refusing("clock_gettime", line) else {
        return;
    };
    let late = contains("did not answer `hello` in time (1 s");
    run.end().code(3).stdout(late);
}

/// The kernel refuses the system call, ends a process that makes it, or does not execute it.
#[test]
fn clock_of_vdso_only_is_reported() {
    let answer = |calls: &str, line: &str| {
        let run = refusing(calls, &format!("{line} --format json"))?;
        Some(json(&run.end().code(predicate::in_iter([0, 3]))))
    };
    for (calls, why) in [
        ("clock_gettime", "Operation not permitted"),
        ("clock_gettime=kill", "SIGSYS"),
        ("clock_gettime=nothing", "tv_nsec = -1"),
    ] {
        let Some(checked) = answer(calls, "check") else {
            return;
        };
        let found = found(&checked["findings"], "code", "libc-clock");
        assert_eq!(found["severity"], "note", "{calls}: {found}");
        assert!(
            found["values"]["clocks"].to_string().contains("monotonic"),
            "{calls}: {found}"
        );
        let listed = answer(calls, "list monotonic monotonic-syscall").unwrap();
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
    let preload = [format!("LD_PRELOAD={library}")];
    let page = format!("probe --from {EPYC} -o {}", folder.arg("page.html"));
    for line in [PROBE, "list --agent 'x=sleep 3102'", &page] {
        let Some(run) = refusing_with("clock_gettime", &preload, line) else {
            return;
        };
        let reason = "refuses clock_gettime to this process";
        run.end().code(1).stderr(contains(reason));
    }
    let table = refusing_with("clock_gettime", &preload, &format!("table {EPYC}"));
    table.unwrap().end().success();
}
