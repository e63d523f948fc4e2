//! Tests on restricted machines: a forbidden counter, one CPU, busy CPUs, and a library that
//! distorts the clocks (libfaketime).

use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::Value;

use super::skipping::{emulated, lacks, not_installed};
use super::{MACHINE, lock_machine, outcome, probe_quickly, row};

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

/// The timer of a host that is killed because it reads the forbidden counter has the signal as its
/// reason.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn host_killed_by_forbidden_tsc() {
    let _lock = lock_machine();
    let source =
        std::fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    if lacks("python3", "python3")
        || source.is_ok_and(|source| !["tsc", "kvm-clock"].contains(&source.trim()))
    {
        return;
    }
    let agent = format!(
        "forbidden=python3 '{}'",
        super::agent_folder().join("forbidden.py").display()
    );
    let (report, output) = probe_quickly(&[], &["--agent", &agent, "forbidden:clock"], &[]);
    let failed = row(&report, "forbidden:clock");
    assert_eq!(failed["status"], "failed", "{failed}");
    assert!(failed["reason"].to_string().contains("SIGSEGV"), "{failed}");
    assert!(output.status.code().is_some(), "{output:?}");
}

#[test]
fn probe_works_on_one_cpu() {
    let _lock = lock_machine();
    if lacks("taskset", "util-linux") {
        return;
    }
    let cpu = timers::allowed_cpus().expect("a CPU is allowed")[0].to_string();
    let (report, output) = probe_quickly(
        &["taskset", "-c", &cpu],
        &["monotonic", "monotonic-coarse"],
        &[],
    );
    assert!(matches!(output.status.code(), Some(0 | 3)), "{output:?}");
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
        let timers = [
            "monotonic",
            "rdtsc",
            "gettimeofday",
            "thread-cputime",
            "process-cputime",
        ];
        let (report, output) = probe_quickly(&[], &timers, &[]);
        is_done.store(true, Ordering::Relaxed);
        assert!(matches!(output.status.code(), Some(0 | 3)), "{output:?}");
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
    let folders = [
        "/usr/lib/x86_64-linux-gnu/faketime",
        "/usr/lib/aarch64-linux-gnu/faketime",
        "/usr/lib/faketime",
    ];
    let found = folders
        .iter()
        .map(|folder| format!("{folder}/libfaketime.so.1"));
    let library = found
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
fn detects_libc_clock_too_fast() {
    let _lock = lock_machine();
    let Some(library) = find_faketime() else {
        return;
    };
    let variables = [("LD_PRELOAD", library.as_str()), ("FAKETIME", "+0 x1.05")];
    let (report, _) = probe_quickly(&[], &["monotonic", "monotonic-syscall"], &variables);
    assert_consistent(&report);
    let distorted = row(&report, "monotonic");
    assert_eq!(outcome(distorted, "stable"), "fail", "{distorted}");
    assert!(
        distorted["quality"].is_null() || distorted["quality"]["value"] == 0.0,
        "{distorted}"
    );
    // The same clock read by a system call is not distorted.
    assert_eq!(
        outcome(row(&report, "monotonic-syscall"), "stable"),
        "pass",
        "{report}"
    );
}

#[test]
fn detects_libc_clock_stepping_back() {
    let _lock = lock_machine();
    let Some(library) = find_faketime() else {
        return;
    };
    let folder = std::env::temp_dir().join(format!("timermeter-steps-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the folder is created");
    let file = folder.join("offset");
    // The file is replaced by renaming, because libfaketime must not read an incomplete file.
    let write_offset = |seconds: u32| {
        let next = folder.join("next");
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
        let (report, _) = probe_quickly(&[], &["realtime"], &variables);
        is_done.store(true, Ordering::Relaxed);
        report
    });
    std::fs::remove_dir_all(&folder).expect("the folder is removed");
    assert_consistent(&report);
    let distorted = row(&report, "realtime");
    // The clock steps every 20 ms. Which verdict detects the steps depends on whether one falls
    // within a series of readings.
    let is_detected = ["monotonic", "stable"]
        .iter()
        .any(|verdict| outcome(distorted, verdict) == "fail");
    assert!(is_detected, "{distorted}");
    assert!(
        distorted["quality"].is_null() || distorted["quality"]["value"] == 0.0,
        "{distorted}"
    );
}
