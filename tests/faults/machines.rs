//! Tests on restricted machines: one CPU, and busy CPUs.

use std::process::Command;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::Value;

use super::program::program;
use super::skipping::lacks;
use super::{MACHINE, lock_machine, outcome, probe, report, row};

/// Asserts that each row has a known status, that each row with a Quality has a cost and a
/// resolution, and that each failed row has a reason.
fn assert_consistent(report: &Value) {
    for row in report["timers"].as_array().unwrap() {
        let status = row["status"].as_str().unwrap();
        assert!(
            ["ok", "unresolved", "failed", "unavailable"].contains(&status),
            "{row}"
        );
        let has_figures =
            row["cost_ns"]["value"].is_number() && row["resolution_ns"]["value"].is_number();
        assert!(has_figures || row["quality"].is_null(), "{row}");
        assert!(row["reason"].is_string() || status != "failed", "{row}");
    }
}

#[test]
fn probe_works_on_one_cpu() {
    let _lock = lock_machine();
    if lacks("taskset", "util-linux") {
        return;
    }
    let cpu = timers::allowed_cpus().unwrap()[0].to_string();
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
        for row in report["timers"].as_array().unwrap() {
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
