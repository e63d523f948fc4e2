//! Tests on restricted machines: one CPU, busy CPUs, and a library that distorts the clocks
//! (libfaketime).

use std::process::Command;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::Value;

use super::program::program;
use super::skipping::{emulated, lacks, not_installed};
use super::{MACHINE, lock_machine, outcome, probe, report, row};

/// Asserts that each row has a known status, that each row with a Quality has a cost and a
/// resolution, and that each failed row has a reason.
fn assert_consistent(report: &Value) {
    for row in report["timers"].as_array().expect("the report has timers") {
        let status = row["status"].as_str().expect("the row has a status");
        assert!(
            ["ok", "unresolved", "failed", "unavailable"].contains(&status),
            "{row}"
        );
        if row["quality"].is_object() {
            assert!(
                row["cost_ns"]["value"].is_number() && row["resolution_ns"]["value"].is_number(),
                "{row}"
            );
        } else {
            assert!(status != "ok" || row["reason"].is_null(), "{row}");
        }
        if status == "failed" {
            assert!(row["reason"].is_string(), "{row}");
        }
    }
}

#[test]
fn probe_works_on_one_cpu() {
    let _lock = lock_machine();
    if lacks("taskset", "util-linux") {
        return;
    }
    let cpu = timers::allowed_cpus().expect("a CPU is allowed")[0].to_string();
    let mut taskset = Command::new("taskset");
    taskset.args(["-c", &cpu, program(), "probe", "--quick"]);
    let timers = ["monotonic", "monotonic-coarse"];
    let report = report(taskset.args(["--format", "json"]).args(timers));
    assert_consistent(&report);
    let clock = row(&report, "monotonic");
    if clock["status"] != "failed" {
        assert_eq!(outcome(clock, "monotonic"), "pass", "{clock}");
        assert_eq!(outcome(clock, "thread_safe"), "not tested", "{clock}");
    }
}

#[test]
fn busy_machine_fails_no_verdict() {
    let _alone = MACHINE.write().unwrap_or_else(PoisonError::into_inner);
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 * thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let timers = "monotonic rdtsc gettimeofday thread-cputime process-cputime";
        let report = probe(&format!("--quick {timers}"), &[]);
        is_done.store(true, Ordering::Relaxed);
        assert_consistent(&report);
        for row in report["timers"].as_array().expect("the report has timers") {
            let reason = row["reason"].as_str().unwrap_or_default();
            let is_disturbed =
                row["status"] == "failed" && reason.contains("too much interference");
            assert!(row["status"] != "failed" || is_disturbed, "{row}");
            for verdict in ["monotonic", "thread_safe", "stable", "counts"] {
                assert!(
                    row["verdicts"].is_null() || outcome(row, verdict) != "fail",
                    "{verdict}: {row}"
                );
            }
        }
    });
}

/// Returns the path of the library that distorts clocks; `None` if the test is skipped.
fn find_faketime() -> Option<String> {
    if emulated("a library of this machine cannot be preloaded") {
        return None;
    }
    let library = ["x86_64-linux-gnu/", "aarch64-linux-gnu/", ""]
        .map(|folder| format!("/usr/lib/{folder}faketime/libfaketime.so.1"))
        .into_iter()
        .find(|path| std::path::Path::new(path).exists());
    if library.is_none() {
        not_installed(
            "there is no libfaketime",
            "install it, as in `apt install faketime`",
        );
    }
    library
}

#[test]
fn detects_libc_clock_stepping_back() {
    let _lock = lock_machine();
    let Some(library) = find_faketime() else {
        return;
    };
    let folder = tempfile::tempdir().expect("the folder is created");
    let file = folder.path().join("offset");
    // The file is replaced by renaming, because libfaketime must not read an incomplete file.
    let write_offset = |seconds: u32| {
        let next = folder.path().join("next");
        std::fs::write(&next, format!("+{seconds}s\n")).expect("the file is written");
        std::fs::rename(&next, &file).expect("the file is renamed");
    };
    write_offset(1000);
    let is_done = AtomicBool::new(false);
    let name = file.to_str().expect("the path is text").to_owned();
    let variables = [
        ("LD_PRELOAD", library.as_str()),
        ("FAKETIME_TIMESTAMP_FILE", name.as_str()),
        ("FAKETIME_NO_CACHE", "1"),
    ];
    let report = thread::scope(|scope| {
        scope.spawn(|| {
            let mut seconds = 1000;
            while !is_done.load(Ordering::Relaxed) && seconds > 0 {
                thread::sleep(std::time::Duration::from_millis(20));
                seconds -= 1;
                write_offset(seconds);
            }
        });
        let report = probe("--quick realtime", &variables);
        is_done.store(true, Ordering::Relaxed);
        report
    });
    assert_consistent(&report);
    let distorted = row(&report, "realtime");
    // The clock steps every 20 ms. Which verdict detects the steps depends on whether one falls
    // within a series of readings.
    let is_detected = ["monotonic", "stable"]
        .iter()
        .any(|verdict| outcome(distorted, verdict) == "fail");
    assert!(is_detected, "{distorted}");
    assert_without_quality(distorted);
}

/// A clock that is wrong has a Quality of 0, and a clock without a resolution has none.
#[track_caller]
pub(super) fn assert_without_quality(row: &Value) {
    let quality = &row["quality"];
    assert!(quality.is_null() || quality["value"] == 0.0, "{row}");
}
