//! Tests reports of `monotonic` if a preloaded library wraps `clock_gettime` (`wrapper.c`). The
//! library quantises, offsets or slews the clock, steps it back, or ends the process.

use std::sync::RwLockReadGuard;

use assert_cmd::assert::{Assert, OutputAssertExt};
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;
use tempfile::TempDir;
use timers::parts::{Part, made_of};

use super::c_compiler::{LIBRARY, compile};
use super::program::{command, json, printed};
use super::skipping::emulated;
use super::{FOLDER, found, lock_machine, outcome, row};
use crate::stored::EPYC;

/// The library in a new folder, while no other test has the machine for itself. `None` if the test is
/// skipped.
fn build_wrapper() -> Option<(TempDir, String, RwLockReadGuard<'static, ()>)> {
    if emulated("a library that is built here cannot be preloaded") {
        return None;
    }
    let lock = lock_machine();
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("wrapper.so").display().to_string();
    let library = compile(format!("{FOLDER}/wrapper.c").as_ref(), library, LIBRARY)?;
    Some((folder, library, lock))
}

/// A fault of a clock of the C library: the clock, the fault and its size.
type ClockFault<'a> = [&'a str; 3];

/// Runs the program with such a fault. It must not panic.
#[track_caller]
fn run_wrapped(library: &str, [clock, fault, by]: ClockFault, line: &str) -> Assert {
    let mut command = command(line);
    command.envs([("LD_PRELOAD", library), ("CLOCK", clock)]);
    let ended = command.envs([("FAULT", fault), ("BY", by)]).assert();
    ended.stderr(contains("panicked").not())
}

/// Whether a clock is made of a function that reads the clock of this number in `wrapper.c`.
fn is_changed(id: &str, clock: &str) -> bool {
    let calls: &[&str] = match clock {
        "0" => &["CLOCK_REALTIME", "gettimeofday()", "time()"],
        "1" => &["CLOCK_MONOTONIC"],
        "4" => &["CLOCK_MONOTONIC_RAW"],
        "7" => &["CLOCK_BOOTTIME"],
        "99" => &["gettimeofday()"],
        _ => &[],
    };
    let changed =
        |part: &Part| matches!(part, Part::Call(call) if clock == "-1" || calls.contains(call));
    made_of(id).iter().any(changed)
}

/// The clock, the fault, its size, and which of the figures shows it.
const CLOCK_FAULTS: [(ClockFault, &str); 8] = [
    (["-1", "none", "0"], "rate_ppm"),
    (["1", "slew", "20"], "rate_ppm"),
    (["0", "slew", "-500"], "rate_ppm"),
    (["7", "slew", "500"], "rate_ppm"),
    (["-1", "slew", "10000"], "rate_ppm"),
    (["99", "slew", "50000"], "rate_ppm"),
    (["4", "offset", "1000000"], "offset_ns"),
    (["99", "offset", "-5000000000"], "offset_ns"),
];

#[test]
fn library_clock_differs_in_rate_or_offset() {
    let Some((_folder, library, _lock)) = build_wrapper() else {
        return;
    };
    for (fault, figure) in CLOCK_FAULTS {
        let [clock, _, by] = fault;
        let checked = json(&run_wrapped(&library, fault, "check -f json"));
        let clocks = checked["platform"]["library_clocks"].as_array();
        for found in clocks.unwrap() {
            let id = found["id"].as_str().unwrap();
            let is_faulty = is_changed(id, clock);
            for key in ["rate_ppm", "offset_ns"] {
                if id == "time" || is_faulty && key != figure {
                    continue;
                }
                let [low, high] = ["low", "high"].map(|end| found[key][end].as_f64().expect(key));
                let truth = if is_faulty { by.parse().unwrap() } else { 0.0 };
                assert!((low..=high).contains(&truth), "{fault:?}: {found}");
            }
        }
    }
}

/// Each clock that a library changes is wrong by as much, because of the library, and all others are right.
#[test]
#[ignore = "takes some seconds"]
fn probe_blames_what_a_library_changes() {
    let Some((_folder, library, _lock)) = build_wrapper() else {
        return;
    };
    for (fault, _) in &CLOCK_FAULTS[2..] {
        let [clock, kind, by] = *fault;
        let (by, kind): (f64, _) = (by.parse().unwrap(), kind.replace("slew", "rate"));
        let report = json(&run_wrapped(&library, *fault, "probe --quick -f json"));
        let wrong = report["assessment"]["wrong"].as_array().unwrap();
        // CPU time that runs too fast runs ahead of wall time.
        let is_cpu = |one: &Value| one["clocks"].to_string().contains("cputime");
        let mut found = 0;
        for one in wrong
            .iter()
            .filter(|one| one["cause"].is_string() && !is_cpu(one))
        {
            let (defect, tolerance) = (&one["defect"], (0.02 * by.abs()).max(10.0));
            let off = defect["size"].as_f64().unwrap() - by;
            assert!(
                defect["kind"] == kind && off.abs() <= tolerance,
                "{fault:?}: {one}"
            );
            found += 1;
        }
        assert!(found > 0, "{fault:?}: {wrong:?}");
        for row in report["timers"].as_array().unwrap() {
            let (id, trust) = (row["id"].as_str().unwrap(), &row["trust"]);
            // In seconds, little can be seen of a clock that counts seconds, or of CPU time.
            if trust.is_null() || id == "time" || id.contains("cputime") {
                continue;
            }
            let is_blamed = trust["part"].to_string().contains("C library");
            let is_right = match is_changed(id, clock) {
                true => trust["answer"] == "no",
                false => !is_blamed,
            };
            assert!(is_right, "{fault:?} {id}: {trust}");
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
        let found = found(&checked["findings"], "code", "libc-clock");
        assert_eq!(found["severity"], severity, "{fault} {by}: {checked}");
        let values = found["values"].to_string();
        assert!(values.contains(reported), "{fault} {by}: {values}");
    }
}

/// Times of day, in seconds since 1970, that are before this program or have no year of four digits.
const IMPLAUSIBLE_DATES: [&str; 3] = ["-3600", "253402300800", "-9223372036854775808"];

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

/// Binding makes figures more precise; where a sandbox refuses it, they are measured all the same.
#[test]
fn refused_binding_is_reported() {
    let Some((_folder, library, _lock)) = build_wrapper() else {
        return;
    };
    let refused = ["1", "unbound", "0"];
    let run = |line| run_wrapped(&library, refused, line);
    let report = json(&run("probe --quick monotonic -f json"));
    found(&report["findings"], "code", "unbound");
    let row = row(&report, "monotonic").to_string();
    assert!(row.contains("chosen by the system"), "{row}");
    run("probe --quick --cpu 0").stderr(contains("sched_setaffinity: "));
}

/// The library ends each wait several times by a signal, as profilers do.
#[test]
fn signals_during_waits_are_reported() {
    let Some((_folder, library, _lock)) = build_wrapper() else {
        return;
    };
    let line = "wait 5ms --quick nanoslee? timerf? std-slee?";
    let ended = run_wrapped(&library, ["1", "alarm", "2000"], line).success();
    ended.stdout(contains("interrupted"));
}

#[test]
#[ignore = "takes some seconds"]
fn sound_durations_fail_no_verdict() {
    let Some((_folder, library, _lock)) = build_wrapper() else {
        return;
    };
    for (fault, by) in [("quantise", "100000"), ("offset", "86400000000000")] {
        let line = "probe --quick monotonic -f json";
        let report = json(&run_wrapped(&library, ["1", fault, by], line));
        let row = row(&report, "monotonic");
        for verdict in ["monotonic", "stable", "counts"] {
            assert_ne!(outcome(row, verdict), "fail", "{verdict}: {row}");
        }
        let step = row["resolution_ns"]["value"].as_f64();
        let is_right = step.is_some_and(|step| (step / 1e5 - 1.0).abs() < 0.01);
        assert!(is_right || fault == "offset", "{row}");
    }
}

/// Clocks of the C library that stand still, run slow or fast, jump back, or step by 0.1 s: each command
/// ends, although nothing may wait by them, and its first lines say what is wrong. With other faults than
/// the first, every third command, to save time.
#[test]
#[ignore = "takes minutes"]
fn commands_end_with_wrong_clocks() {
    const LINES: [&str; 8] = [
        "",
        "probe --quick",
        "probe quanta",
        "pick 1us",
        "pick --every 1ms",
        "check --counter",
        "watch 2s",
        "wait --quick",
    ];
    let Some((_folder, library, _lock)) = build_wrapper() else {
        return;
    };
    let faults = [
        (["slew", "-1000000"], "stands still"),
        (["slew", "-10000"], "is 1.00 % slow"),
        (["slew", "10000"], "is 1.00 % fast"),
        (["slew", "999000000"], "is 99900 % fast"),
        (["back", "300000000"], "runs backwards"),
        (["quantise", "100000000"], ""),
    ];
    for (number, (fault, words)) in faults.iter().enumerate() {
        for (other, clock) in ["1", "-1"].iter().enumerate() {
            let is_run = |at: &usize| number == 0 || (number + other + at).is_multiple_of(3);
            for line in (0..LINES.len()).filter(is_run).map(|at| LINES[at]) {
                let ended = run_wrapped(&library, [clock, fault[0], fault[1]], line);
                let ended = ended.code(predicate::in_iter([0, 3, 4]));
                let all = everything(&ended);
                let first: Vec<&str> = all.split_whitespace().take(40).collect();
                let is_named = first.join(" ").contains(words);
                assert!(is_named, "{clock} {fault:?}: {line}: {all}");
            }
        }
    }
}

/// What a run printed.
fn everything(ended: &Assert) -> String {
    let output = ended.get_output();
    let all = [&output.stderr[..], &output.stdout].concat();
    String::from_utf8_lossy(&all).into_owned()
}

/// A clock that stands still is named, and no loop waits for it.
#[test]
fn still_clock_is_named() {
    let Some((_folder, library, _lock)) = build_wrapper() else {
        return;
    };
    let still = ["1", "slew", "-1000000"];
    for line in ["check", "watch 1ms", "wait 1ms --quick nanosleep"] {
        let ended = run_wrapped(&library, still, line);
        let all = everything(&ended);
        let name = "CLOCK_MONOTONIC as the C library gives it stands still";
        assert!(all.contains(name), "{line}: {all}");
    }
    let refused = run_wrapped(&library, still, "probe quanta").code(3);
    refused.stdout(contains("by which it waits, stands still"));
}
