//! Machines that get in the way.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::Value;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
use super::skipping::skipped;
use super::skipping::{emulated, not_installed};
use super::{alone, outcome, probe, row, there_is};

/// Every row ended in a known way, and none that has a Quality lacks what it follows from.
fn sane(report: &Value) {
    for row in report["timers"].as_array().expect("timers") {
        let status = row["status"].as_str().expect("a status");
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

/// The dynamic loader of glibc reads the counter itself: so no program that it loads can start,
/// ours neither; a static one can, and says what is refused. A timer whose host cannot start is
/// told how the host ended. (What a process does that may not read the counter any more is tested
/// in `timers/tests/native.rs` and `timers/tests/permission.rs`.)
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn the_tsc_is_forbidden() {
    let _alone = alone();
    use timermeter::hosts::connection::Connection;
    use timermeter::hosts::process::Command;
    let command = Command::new("timermeter agent", super::program(), vec!["agent".into()]);
    // In a thread of its own: what it gives up it cannot get back from a crash.
    let started = thread::spawn(move || {
        // SAFETY: a plain number and a plain number; from here on this thread does not read the
        // counter.
        let status = unsafe { libc::prctl(libc::PR_SET_TSC, libc::PR_TSC_SIGSEGV) };
        let child = (status == 0).then(|| {
            std::process::Command::new(super::program())
                .arg("list")
                .output()
        });
        // SAFETY: as above.
        unsafe { libc::prctl(libc::PR_SET_TSC, libc::PR_TSC_ENABLE) };
        child
    });
    let Some(output) = started.join().expect("it does not panic") else {
        skipped(
            "the kernel does not let the counter be forbidden",
            "it takes PR_SET_TSC, on x86-64",
        );
        return;
    };
    use std::os::unix::process::ExitStatusExt;
    let output = output.expect("it is started");
    let started = output.status.success();
    assert!(
        started || output.status.signal() == Some(libc::SIGSEGV),
        "{output:?}"
    );
    assert!(
        started || !cfg!(target_env = "musl"),
        "no loader stands between: {output:?}"
    );
    if started {
        let list = String::from_utf8_lossy(&output.stdout);
        let rdtsc = list
            .lines()
            .find(|line| line.starts_with("rdtsc "))
            .unwrap_or_default();
        assert!(
            rdtsc.contains("no: this process may not read the counter"),
            "{list}"
        );
    }
    // Afterwards everything is as it was.
    assert!(Connection::start(&command, None, std::time::Duration::from_secs(60)).is_ok());
}

/// A host that may not read the counter any more dies of it, and its timer says so.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn host_must_not_read_tsc() {
    let _alone = alone();
    let source =
        std::fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    if !there_is("python3", "python3")
        || source.is_ok_and(|source| !["tsc", "kvm-clock"].contains(&source.trim()))
    {
        return;
    }
    let agent = format!(
        "forbidden=python3 '{}'",
        super::folder().join("forbidden.py").display()
    );
    let (report, output) = probe(&[], &["--agent", &agent, "forbidden:clock"], &[]);
    let failed = row(&report, "forbidden:clock");
    assert_eq!(failed["status"], "failed", "{failed}");
    assert!(failed["reason"].to_string().contains("SIGSEGV"), "{failed}");
    assert!(output.status.code().is_some(), "{output:?}");
}

#[test]
fn one_cpu_only() {
    let _alone = alone();
    if !there_is("taskset", "util-linux") {
        return;
    }
    let cpu = timers::allowed_cpus().expect("some CPU")[0].to_string();
    let (report, output) = probe(
        &["taskset", "-c", &cpu],
        &["monotonic", "monotonic-coarse"],
        &[],
    );
    assert!(matches!(output.status.code(), Some(0 | 3)), "{output:?}");
    sane(&report);
    let clock = row(&report, "monotonic");
    if clock["status"] != "failed" {
        assert_eq!(outcome(clock, "monotonic"), "pass", "{clock}");
        assert_eq!(outcome(clock, "thread_safe"), "not tested", "{clock}");
    }
}

#[test]
fn all_cpus_are_busy() {
    let _alone = alone();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 * thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
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
        let (report, output) = probe(&[], &timers, &[]);
        over.store(true, Ordering::Relaxed);
        assert!(matches!(output.status.code(), Some(0 | 3)), "{output:?}");
        sane(&report);
        for row in report["timers"].as_array().expect("timers") {
            let reason = row["reason"].as_str().unwrap_or_default();
            let crowded = row["status"] == "failed" && reason.contains("too much interference");
            assert!(row["status"] != "failed" || crowded, "{row}");
            for verdict in ["monotonic", "thread_safe", "stable", "counts"] {
                assert!(
                    row["verdicts"].is_null() || outcome(row, verdict) != "fail",
                    "{verdict}: {row}"
                );
            }
        }
    });
}

/// The library that distorts clocks, where it is installed.
fn faketime() -> Option<String> {
    if emulated("a library of this machine cannot be preloaded") {
        return None;
    }
    let places = [
        "/usr/lib/x86_64-linux-gnu/faketime",
        "/usr/lib/aarch64-linux-gnu/faketime",
        "/usr/lib/faketime",
    ];
    let found = places
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
fn libc_runs_five_percent_fast() {
    let _alone = alone();
    let Some(library) = faketime() else { return };
    let variables = [("LD_PRELOAD", library.as_str()), ("FAKETIME", "+0 x1.05")];
    let (report, _) = probe(&[], &["monotonic", "monotonic-syscall"], &variables);
    sane(&report);
    let distorted = row(&report, "monotonic");
    assert_eq!(outcome(distorted, "stable"), "fail", "{distorted}");
    assert!(
        distorted["quality"].is_null() || distorted["quality"]["value"] == 0.0,
        "{distorted}"
    );
    // The kernel's own clock is not distorted, and not blamed.
    assert_eq!(
        outcome(row(&report, "monotonic-syscall"), "stable"),
        "pass",
        "{report}"
    );
}

#[test]
fn libc_is_shifted() {
    let _alone = alone();
    let Some(library) = faketime() else { return };
    let variables = [("LD_PRELOAD", library.as_str()), ("FAKETIME", "-3600s")];
    let (report, _) = probe(&[], &["realtime", "realtime-syscall"], &variables);
    sane(&report);
    // Durations are not touched by a shift: nothing is wrong but what the time is.
    assert_eq!(
        outcome(row(&report, "realtime"), "monotonic"),
        "pass",
        "{report}"
    );
}

#[test]
fn libc_steps_back() {
    let _alone = alone();
    let Some(library) = faketime() else { return };
    let folder = std::env::temp_dir().join(format!("timermeter-steps-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder of our own");
    let file = folder.join("offset");
    // Replaced as a whole: half a file would be no time at all.
    let offset = |seconds: u32| {
        let next = folder.join("next");
        std::fs::write(&next, format!("+{seconds}s\n")).expect("a file of our own");
        std::fs::rename(&next, &file).expect("in a folder of our own");
    };
    offset(1000);
    let over = AtomicBool::new(false);
    let name = file.to_str().expect("a name").to_owned();
    let variables = [
        ("LD_PRELOAD", library.as_str()),
        ("FAKETIME_TIMESTAMP_FILE", name.as_str()),
        ("FAKETIME_NO_CACHE", "1"),
    ];
    let report = thread::scope(|scope| {
        scope.spawn(|| {
            let mut ahead = 1000;
            while !over.load(Ordering::Relaxed) && ahead > 0 {
                thread::sleep(std::time::Duration::from_millis(20));
                ahead -= 1;
                offset(ahead);
            }
        });
        let (report, _) = probe(&[], &["realtime"], &variables);
        over.store(true, Ordering::Relaxed);
        report
    });
    std::fs::remove_dir_all(&folder).expect("it is ours");
    sane(&report);
    let distorted = row(&report, "realtime");
    // A step every 20 ms falls among successive readings or between them; one of the two sees it.
    let seen = ["monotonic", "stable"]
        .iter()
        .any(|verdict| outcome(distorted, verdict) == "fail");
    assert!(seen, "{distorted}");
    assert!(
        distorted["quality"].is_null() || distorted["quality"]["value"] == 0.0,
        "{distorted}"
    );
}
