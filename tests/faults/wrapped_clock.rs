//! Tests reports of `monotonic` if a preloaded library wraps `clock_gettime` (`wrapper.c`). The
//! library quantises, offsets or slews the clock, steps it back, or ends the process.

use std::process::Command;
use std::sync::RwLockReadGuard;

use assert_cmd::assert::{Assert, OutputAssertExt};
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;
use tempfile::TempDir;

use super::c_compiler::{LIBRARY, compile};
use super::machines::assert_without_quality;
use super::program::{command, json, printed};
use super::skipping::emulated;
use super::{FOLDER, lock_machine, outcome, probe, row};
use crate::stored::EPYC;

/// The library in a new folder, while no other test has the machine for itself. `None` if the test is
/// skipped.
pub(super) fn build_wrapper() -> Option<(TempDir, String, RwLockReadGuard<'static, ()>)> {
    if emulated("a library that is built here cannot be preloaded") {
        return None;
    }
    let lock = lock_machine();
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("wrapper.so").display().to_string();
    let library = compile(format!("{FOLDER}/wrapper.c").as_ref(), library, LIBRARY)?;
    Some((folder, library, lock))
}

/// The rows of `monotonic` and of its system call with this fault; `None` if the test is skipped.
fn probe_wrapped(fault: &str, by: &str) -> Option<[Value; 2]> {
    let (_folder, library, _lock) = build_wrapper()?;
    let report = probe(
        "--quick monotonic monotonic-syscall",
        &[("LD_PRELOAD", &library), ("FAULT", fault), ("BY", by)],
    );
    Some(["monotonic", "monotonic-syscall"].map(|id| row(&report, id).clone()))
}

/// A fault of a clock of the C library: the clock, the fault and its size.
pub(super) type ClockFault<'a> = [&'a str; 3];

/// The program with such a fault.
pub(super) fn wrapped(library: &str, [clock, fault, by]: ClockFault, line: &str) -> Command {
    let mut command = command(line);
    command.envs([("LD_PRELOAD", library), ("CLOCK", clock)]);
    command.envs([("FAULT", fault), ("BY", by)]);
    command
}

/// Runs the program with such a fault. It must not panic.
#[track_caller]
fn run_wrapped(library: &str, fault: ClockFault, line: &str) -> Assert {
    let ended = wrapped(library, fault, line).assert();
    ended.stderr(contains("panicked").not())
}

#[test]
fn library_clock_differs_in_rate_or_offset() {
    let Some((_folder, library, _lock)) = build_wrapper() else {
        return;
    };
    // The clock, the fault, its size, and which of the figures shows it.
    for (clock, fault, by, figure) in [
        ("-1", "none", "0", "rate_ppm"),
        ("1", "slew", "20", "rate_ppm"),
        ("0", "slew", "-500", "rate_ppm"),
        ("-1", "slew", "10000", "rate_ppm"),
        ("99", "slew", "50000", "rate_ppm"),
        ("4", "offset", "1000000", "offset_ns"),
        ("99", "offset", "-5000000000", "offset_ns"),
    ] {
        let checked = run_wrapped(&library, [clock, fault, by], "check -f json");
        let checked = json(&checked);
        let clocks = &checked["platform"]["library_clocks"];
        let ids: &[&str] = match clock {
            "-1" => &[
                "monotonic",
                "monotonic-coarse",
                "realtime",
                "tai",
                "gettimeofday",
            ],
            "0" => &["realtime", "gettimeofday"],
            "1" => &["monotonic"],
            "4" => &["monotonic-raw"],
            _ => &["gettimeofday"],
        };
        let size: f64 = by.parse().unwrap();
        for found in clocks.as_array().expect("clocks were compared") {
            let is_faulty = ids.iter().any(|id| found["id"] == *id);
            if clock == "-1" && !is_faulty || found["id"] == "time" {
                continue;
            }
            for key in ["rate_ppm", "offset_ns"] {
                let [low, high] = ["low", "high"].map(|end| found[key][end].as_f64().expect(key));
                if !is_faulty || key == figure {
                    let truth = if is_faulty { size } else { 0.0 };
                    assert!(
                        low <= truth && truth <= high,
                        "{clock} {fault} {by}: {found}"
                    );
                }
            }
        }
    }
}

#[test]
fn check_compares_library_with_kernel() {
    let Some((_folder, library, _lock)) = build_wrapper() else {
        return;
    };
    for (fault, by, severity, reported) in [
        ("none", "0", "ok", ""),
        ("slew", "-50000", "problem", "monotonic 5.00 % slow"),
        (
            "offset",
            "86400000000000",
            "problem",
            "monotonic 86400 s ahead",
        ),
        ("fatal", "0", "problem", "SIGABRT"),
        // Before the zero of the clock.
        ("offset", "-100000000000000000", "problem", " s behind"),
    ] {
        let checked = json(&run_wrapped(&library, ["1", fault, by], "check -f json"));
        let mut findings = checked["findings"].as_array().unwrap().iter();
        let found = findings.find(|finding| finding["code"] == "libc-clock");
        let found = found.expect(fault);
        assert_eq!(found["severity"], severity, "{fault} {by}: {checked}");
        let values = found["values"].to_string();
        assert!(values.contains(reported), "{fault} {by}: {values}");
    }
}

/// Times of day, in seconds since 1970, that are before this program or have no year of four digits.
const IMPLAUSIBLE_DATES: [&str; 6] = [
    "-1000000000000",
    "-3600",
    "0",
    "253402300800",
    "1000000000000000",
    "-9223372036854775808",
];

#[test]
fn implausible_date_changes_nothing_else() {
    let Some((folder, library, _lock)) = build_wrapper() else {
        return;
    };
    let file = folder.path().join("timers.json").display().to_string();
    for by in IMPLAUSIBLE_DATES {
        let fault = ["0", "date", by];
        run_wrapped(&library, fault, "check -v");
        for line in [
            &format!("list -o {file}"),
            "watch 200ms",
            &format!("measure pow --samples 2 --from {EPYC} --clock monotonic"),
        ] {
            run_wrapped(&library, fault, line).success();
        }
    }
}

/// The clock is one day ahead, so the kernel would wait for a day.
#[test]
fn deadlines_by_clock_ahead_are_unavailable() {
    let Some((_folder, library, _lock)) = build_wrapper() else {
        return;
    };
    let day = ["1", "offset", "86400000000000"];
    let screen = printed(&run_wrapped(&library, day, "list").success());
    let screen = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = "clock-nanosleep-monotonic-absolute, std-condvar-wait-timeout: it may last 86400 s longer: ";
    assert!(screen.contains(expected), "{screen}");
    // A clock before its zero is not ahead.
    let fault = ["1", "offset", "-100000000000000000"];
    let listed = run_wrapped(&library, fault, "list").success();
    listed.stdout(contains(" s longer").not());
}

/// The library ends each wait several times by a signal, as profilers do.
#[test]
fn signals_during_waits_are_reported() {
    let Some((_folder, library, _lock)) = build_wrapper() else {
        return;
    };
    let line = "wait 5ms --quick nanosleep timerfd std-sleep";
    let ended = run_wrapped(&library, ["1", "alarm", "2000"], line).success();
    ended.stdout(contains("interrupted"));
}

/// Which verdict detects the steps depends on whether one falls within a series of readings.
#[test]
fn clock_that_steps_back_is_wrong() {
    let Some([row, call]) = probe_wrapped("back", "20000000") else {
        return;
    };
    let fails =
        |row: &Value| ["monotonic", "stable"].map(|verdict| outcome(row, verdict) == "fail");
    assert!(fails(&row).contains(&true), "{row}");
    assert_without_quality(&row);
    assert_eq!(fails(&call), [false; 2], "{call}");
}

#[test]
#[ignore = "takes some seconds"]
fn sound_durations_fail_no_verdict() {
    for (fault, by) in [("quantise", "100000"), ("offset", "86400000000000")] {
        let Some([row, _]) = probe_wrapped(fault, by) else {
            return;
        };
        for verdict in ["monotonic", "stable", "counts"] {
            assert_ne!(outcome(&row, verdict), "fail", "{verdict}: {row}");
        }
        let step = row["resolution_ns"]["value"].as_f64();
        let is_right = step.is_some_and(|step| (step / 1e5 - 1.0).abs() < 0.01);
        assert!(is_right || fault == "offset", "{row}");
    }
}

#[test]
#[ignore = "takes some seconds"]
fn slewed_clock_gets_its_rate() {
    for (ppm, fails) in [(300.0, false), (-300.0, false), (20_000.0, true)] {
        let Some([row, call]) = probe_wrapped("slew", &ppm.to_string()) else {
            return;
        };
        let stable = &row["verdicts"]["stable"];
        // A quick run does not always find the step; then jumps are not tested, but the rate is.
        assert_eq!(stable["outcome"] == "fail", fails, "{row}");
        let [offset, uncertainty] = ["offset_ppm", "offset_uncertainty_ppm"].map(|key| {
            stable[key]
                .as_f64()
                .unwrap_or_else(|| panic!("no {key}: {row}"))
        });
        assert!(
            (offset - ppm).abs() <= uncertainty.max(50.0),
            "{ppm}: {stable}"
        );
        assert_ne!(outcome(&call, "stable"), "fail", "{call}");
        if fails {
            assert_without_quality(&row);
        }
    }
}
