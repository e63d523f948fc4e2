//! A system that allows little.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

use super::run::PROGRAM;
use super::skipping::skipped;

const REPORTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/reports");
const REPORT: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/reports/amd-epyc-kvm-debian-12/2026-11-21/report.json");

/// The program under `ulimit`.
fn limited(limits: &str, args: &[&str]) -> Output {
    let mut command = Command::new("bash");
    command.args(["-c", &format!("{limits}; exec \"$0\" \"$@\""), PROGRAM]).args(args);
    command.output().expect("it runs")
}

#[test]
fn files_that_may_be_open_are_counted_before() {
    let ended = limited("ulimit -n 16", &["probe", "--quick", "monotonic"]);
    let told = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{told}");
    assert!(told.contains("16 files may be open") && told.contains("ulimit -n"), "{told}");
    // What may be allowed is allowed.
    let ended = limited("ulimit -S -n 40", &["probe", "--quick", "monotonic"]);
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
}

#[test]
fn a_small_stack_is_none_for_what_it_does() {
    for args in [
        &["table", REPORTS][..],
        &["inspect", "--from", REPORT, "monotonic"],
        &["pick", "--from", REPORT, "--duration", "10us", "--error", "5%"],
        &["probe", "--quick", "monotonic", "rdtsc"],
    ] {
        let ended = limited("ulimit -s 64", args);
        assert_eq!(ended.status.code(), Some(0), "{args:?}: {ended:?}");
    }
}

/// Root may start as many threads as it likes, so somebody else has to.
#[test]
fn without_a_thread_one_does_it_all() {
    let Ok(folder) = tempfile::tempdir_in("/tmp") else { return };
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("it is ours");
    let (program, report) = (folder.path().join("timermeter"), folder.path().join("report.json"));
    fs::copy(PROGRAM, &program).expect("there is room");
    fs::copy(REPORT, &report).expect("there is room");
    fs::set_permissions(&report, fs::Permissions::from_mode(0o644)).expect("it is ours");
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "65533", "--clear-groups", "bash", "-c"]);
    command.args(["ulimit -u 1; exec \"$0\" \"$@\""]).arg(&program).arg("table").args([&report, &report]);
    let Ok(ended) = command.output() else { return skipped("there is no setpriv", "it is in util-linux") };
    let told = String::from_utf8_lossy(&ended.stderr);
    if told.contains("setpriv:") {
        return skipped("nobody else may be had", "run it as root");
    }
    assert_eq!(ended.status.code(), Some(0), "{told}");
    assert!(String::from_utf8_lossy(&ended.stdout).contains("monotonic"), "{ended:?}");
}

#[test]
fn without_a_second_process_it_says_so() {
    let Ok(folder) = tempfile::tempdir_in("/tmp") else { return };
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("it is ours");
    let program = folder.path().join("timermeter");
    fs::copy(PROGRAM, &program).expect("there is room");
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "65532", "--clear-groups", "bash", "-c", "ulimit -u 1; exec \"$0\" \"$@\""]);
    let Ok(ended) = command.arg(&program).args(["probe", "--quick", "monotonic"]).output() else {
        return skipped("there is no setpriv", "it is in util-linux");
    };
    let told = String::from_utf8_lossy(&ended.stderr);
    if told.contains("setpriv:") {
        return skipped("nobody else may be had", "run it as root");
    }
    assert_eq!(ended.status.code(), Some(1), "{told}");
    assert!(told.contains("ulimit -u"), "{told}");
}
