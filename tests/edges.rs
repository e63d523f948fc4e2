//! Compares the steps that the prober finds in other languages with the steps of independent loops.
//! `tests/edges/` contains a loop per language, which prints readings. The prober has to find, to
//! 1 %, the longest step of which all differences of these readings are multiples.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use assert_cmd::assert::OutputAssertExt;
use serde_json::Value;
use timermeter::agents::tool;

use crate::program::{command, json, printed};
use crate::skipping::skipped;

/// The runtime, the program that it needs, and the command that starts the
/// loop. `{}` is the folder of the loops, `{out}` a temporary folder.
const LOOPS: &[(&str, &str, &str)] = &[
    (
        "cpp",
        "g++",
        "g++ -std=c++17 -O2 -fopenmp {}/cpp.cpp -o {out}/cpp && {out}/cpp",
    ),
    (
        "go",
        "go",
        "GO111MODULE=off GOCACHE={out}/cache go run {}/go.go",
    ),
    ("ruby", "ruby", "ruby {}/ruby.rb"),
    ("php", "php", "php -n {}/php.php"),
    ("perl", "perl", "perl {}/perl.pl"),
    ("erlang", "escript", "escript {}/erlang.escript"),
    ("deno", "deno", "deno run --quiet {}/js.mjs"),
    ("bun", "bun", "bun run {}/js.mjs"),
    ("node", "node", "node {}/js.mjs"),
    ("python", "python3", "python3 {}/python.py"),
    ("java", "java", "java {}/Java.java"),
    (
        "dotnet",
        "mcs",
        "mcs -out:{out}/edges.exe {}/dotnet.cs && mono {out}/edges.exe",
    ),
];

/// Clocks for which readings do not show the step, with their steps in nanoseconds. CPython
/// converts nanoseconds since 1970, which lie between 2^60 and 2^61, to a double with 53 bits, and
/// divides afterwards, so readings are multiples of 2^-22 s.
const CONVERTED: &[(&str, f64)] = &[("python:time", 256.0)];

/// Whether differences between readings, at distances of 1 to 32 reads, are multiples of this step and of no longer one.
/// Differences of neighbours are not sufficient: if reads take nearly constant time, their cost looks like a step. `None`
/// if the clock hardly moved.
fn is_step(readings: &[i64], step: f64) -> Option<bool> {
    let apart = |lag: usize| {
        readings
            .windows(lag + 1)
            .map(move |span| span[lag] - span[0])
    };
    let moved = (1..=32).flat_map(apart).map(|by| by as f64);
    let moved: Vec<f64> = moved.filter(|by| *by > 0.0 && *by < 80.0 * step).collect();
    let fits = |step: f64| {
        // Rounding to whole units changes a difference by less than one unit.
        let most = if step > 3.0 {
            (0.1 * step).max(0.7)
        } else {
            0.05 * step
        };
        let is_multiple = |by: &&f64| ((**by / step).round() * step - **by).abs() < most;
        moved.iter().filter(is_multiple).count() > moved.len() * 95 / 100
    };
    let steps: f64 = moved.iter().map(|by| (by / step).round()).sum();
    let mean = moved.iter().sum::<f64>() / steps;
    let is_longest = ![2.0, 3.0, 5.0, 7.0].iter().any(|times| fits(times * step));
    (moved.len() > 20).then_some(fits(step) && is_longest && (mean / step - 1.0).abs() < 0.01)
}

#[test]
fn known_steps_are_told_from_others() {
    let readings = |step: f64| -> Vec<i64> {
        let at = |n: u32| (f64::from(n * (n + 3) % 97 + n * 20) * step).floor() as i64;
        let mut readings: Vec<i64> = (0..3_000).map(at).collect();
        readings.sort_unstable();
        readings
    };
    // Reads take 22 units, sometimes one more or less.
    let (mut now, mut random) = (0, 1_u64);
    let steady = (0..3_000).map(|_| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        now += 21 + (random >> 62) as i64;
        now
    });
    for (readings, step) in [
        (readings(1.0), 1.0),
        (readings(9.98), 9.98),
        (readings(100.0), 100.0),
        (steady.collect(), 1.0),
    ] {
        let judged = [1.0, 0.5, 1.02, 2.0, 3.0, 22.0].map(|times| is_step(&readings, times * step));
        assert_eq!(
            judged,
            [true, false, false, false, false, false].map(Some),
            "{step}"
        );
    }
    assert_eq!(is_step(&[1, 1], 1.0), None);
}

#[test]
#[ignore = "run by .ci/runtimes"]
fn steps_agree_with_independent_loops() {
    let (mut compared, mut apart) = (0, Vec::new());
    for (prefix, needs, line) in LOOPS {
        if tool::find(&[needs]).is_none() {
            skipped(format!("{prefix}: there is no `{needs}`"), "install it");
            continue;
        }
        let alone = by_loops(prefix, line);
        let found = by_the_prober(prefix, &alone);
        for (id, (readings, unit)) in &alone {
            let Some(found) = found.get(id) else { continue };
            let converted = CONVERTED.iter().find(|(converted, _)| converted == id);
            let is_right = match converted {
                Some((_, step)) => Some((found / step - 1.0).abs() < 0.01),
                None => is_step(readings, found / unit),
            };
            compared += u32::from(is_right.is_some());
            if is_right == Some(false) {
                apart.push(format!("{id}: {found} ns is not the step"));
            }
        }
    }
    println!("compared: {compared}");
    assert!(apart.is_empty(), "{apart:#?}");
    let is_any_installed = LOOPS
        .iter()
        .any(|(_, needs, _)| tool::find(&[needs]).is_some());
    assert!(compared > 0 || !is_any_installed, "nothing was compared");
}

/// The readings of clocks by an independent loop, with their unit in nanoseconds.
type Loops = BTreeMap<String, (Vec<i64>, f64)>;

fn by_loops(prefix: &str, line: &str) -> Loops {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/edges");
    let out = tempfile::tempdir().unwrap();
    let line = line
        .replace("{}", folder.to_str().unwrap())
        .replace("{out}", out.path().to_str().unwrap());
    let mut shell = Command::new("sh");
    let shown = printed(&shell.args(["-c", &line]).assert().success());
    let of_a_line = |line: &str| {
        let mut words = line.split_whitespace();
        let (id, unit) = (words.next()?, words.next()?);
        let readings = words.map(|word| word.parse().unwrap()).collect();
        Some((format!("{prefix}:{id}"), (readings, unit.parse().unwrap())))
    };
    shown.lines().filter_map(of_a_line).collect()
}

/// The steps of the wanted clocks that `probe` resolves, in nanoseconds.
fn by_the_prober(runtime: &str, wanted: &Loops) -> BTreeMap<String, f64> {
    if wanted.is_empty() {
        return BTreeMap::new();
    }
    let line = format!("probe --quick --budget 2s --quiet -f json --runtime {runtime}");
    let report = json(&command(&line).args(wanted.keys()).assert());
    let rows = report["timers"].as_array().unwrap();
    let step = |row: &Value| {
        let step = row["resolution_ns"]["value"].as_f64();
        let step = step.filter(|_| row["resolution"]["kind"] == "resolved");
        Some((row["id"].as_str()?.to_owned(), step?))
    };
    rows.iter().filter_map(step).collect()
}
