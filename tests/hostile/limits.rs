//! A system that allows little.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

use super::folder::Folder;
use super::program::program;
use super::run::Run;
use super::skipping::{emulated, not_installed, skipped};

const REPORTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/reports");
const REPORT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/data/epyc-2026-11-21.json"
);

/// The program under `ulimit`.
fn limited(limits: &str, args: &[&str]) -> Output {
    let mut command = Command::new("bash");
    command
        .args(["-c", &format!("{limits}; exec \"$0\" \"$@\""), program()])
        .args(args);
    command.output().expect("it runs")
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
    // What may be allowed is allowed.
    let ended = limited("ulimit -S -n 40", &["probe", "--quick", "monotonic"]);
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
}

#[test]
fn works_with_small_stack() {
    if emulated("the stack that is limited is the emulator's own, too") {
        return;
    }
    for args in [
        &["table", REPORTS][..],
        &["inspect", "--from", REPORT, "monotonic"],
        &["pick", "--from", REPORT, "10us", "--error", "5%"],
        &["probe", "--quick", "monotonic", "realtime"],
    ] {
        let ended = limited("ulimit -s 64", args);
        assert_eq!(ended.status.code(), Some(0), "{args:?}: {ended:?}");
    }
}

/// Root may start as many threads as it likes, so another user has to.
#[test]
fn works_without_further_threads() {
    if emulated("the emulator needs a thread itself") {
        return;
    }
    let Ok(folder) = tempfile::tempdir_in("/tmp") else {
        return;
    };
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("it is ours");
    let (program, report) = (
        folder.path().join("timermeter"),
        folder.path().join("report.json"),
    );
    fs::copy(super::program::program(), &program).expect("there is room");
    fs::copy(REPORT, &report).expect("there is room");
    fs::set_permissions(&report, fs::Permissions::from_mode(0o644)).expect("it is ours");
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "65533", "--clear-groups", "bash", "-c"]);
    command
        .args(["ulimit -u 1; exec \"$0\" \"$@\""])
        .arg(&program)
        .arg("table")
        .args([&report, &report]);
    let Ok(ended) = command.output() else {
        return not_installed("there is no setpriv", "it is in util-linux");
    };
    let reported = String::from_utf8_lossy(&ended.stderr);
    if reported.contains("setpriv:") {
        return skipped("no other user may be had", "run it as root");
    }
    assert_eq!(ended.status.code(), Some(0), "{reported}");
    assert!(
        String::from_utf8_lossy(&ended.stdout).contains("monotonic"),
        "{ended:?}"
    );
}

#[test]
fn reports_missing_second_process() {
    if emulated("the emulator needs a thread itself") {
        return;
    }
    let Ok(folder) = tempfile::tempdir_in("/tmp") else {
        return;
    };
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("it is ours");
    let program = folder.path().join("timermeter");
    fs::copy(super::program::program(), &program).expect("there is room");
    let mut command = Command::new("setpriv");
    command.args([
        "--reuid",
        "65532",
        "--clear-groups",
        "bash",
        "-c",
        "ulimit -u 1; exec \"$0\" \"$@\"",
    ]);
    let Ok(ended) = command
        .arg(&program)
        .args(["probe", "--quick", "monotonic"])
        .output()
    else {
        return not_installed("there is no setpriv", "it is in util-linux");
    };
    let reported = String::from_utf8_lossy(&ended.stderr);
    if reported.contains("setpriv:") {
        return skipped("no other user may be had", "run it as root");
    }
    assert_eq!(ended.status.code(), Some(1), "{reported}");
    assert!(reported.contains("ulimit -u"), "{reported}");
}

/// The program where the kernel refuses `clock_gettime`, with these variables. `None` where no
/// filter can be had.
fn without_clock(variables: &[(&str, &str)], args: &[&str]) -> Option<Command> {
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/hostile/without_clock.py"
    );
    let of = |program: &str| {
        let mut command = Command::new("python3");
        command.args([script, "/usr/bin/env"]);
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
            "no seccomp filter can be had",
            "it takes python3, and a kernel with CONFIG_SECCOMP_FILTER",
        );
        return None;
    }
    let mut command = of(program());
    command.args(args);
    Some(command)
}

/// The vDSO still tells the time.
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
    let Some(command) = without_clock(&[], &[&probe[..], &output].concat()) else {
        return;
    };
    let (status, output) = Run::spawn(command).end();
    assert_eq!(status.code(), Some(3), "{output:?}");
    let report = fs::read_to_string(folder.file("report.json")).expect("it is written");
    assert!(
        report.contains("did not answer `hello` in time (1 s"),
        "{report}"
    );
}

/// Where the vDSO cannot tell it either, libc asks the kernel, as this library does.
#[test]
fn without_any_clock_it_says_so() {
    if emulated("a library that is built here cannot be preloaded") {
        return;
    }
    let folder = Folder::new();
    let refusal =
        "int clock_gettime(int clock, void *time) { (void)clock; (void)time; return -1; }";
    fs::write(folder.file("refusal.c"), refusal).expect("it can be written");
    let library = folder.arg("refusal.so");
    let made = Command::new("cc")
        .args(["-shared", "-fPIC", "-o", &library, &folder.arg("refusal.c")])
        .status();
    if !made.is_ok_and(|status| status.success()) {
        return not_installed(
            "there is no C compiler",
            "install one, as in `apt install gcc`",
        );
    }
    for args in [
        &["probe", "--quick", "monotonic"][..],
        &["list", "--agent", "x=sleep 3102"],
        &["measure", "--", "true"],
        &["pick", "10us", "--error", "5%"],
        &["inspect", "monotonic"],
        &["report", REPORT, "-o", &folder.arg("page.html")],
        &["publish", REPORTS, "-o", &folder.arg("site")],
        &["platform"],
        &["check"],
    ] {
        let Some(command) = without_clock(&[("LD_PRELOAD", &library)], args) else {
            return;
        };
        let (status, output) = Run::spawn(command).end();
        let reported = String::from_utf8_lossy(&output.stderr);
        assert_eq!(status.code(), Some(1), "{args:?}: {reported}");
        assert!(
            reported.contains("no clock (clock_gettime)"),
            "{args:?}: {reported}"
        );
    }
    let Some(mut command) = without_clock(&[("LD_PRELOAD", &library)], &["table", REPORT]) else {
        return;
    };
    assert!(command.output().is_ok_and(|output| output.status.success()));
}
