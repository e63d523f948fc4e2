//! Compares the steps that the prober finds in other languages with the steps of independent loops.
//! `tests/edges/` contains a loop per language, which prints readings. The prober has to find, to
//! 1 %, the smallest step that all differences of these readings share.

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

/// The smallest step that all differences between readings share, with distances of 1 to 32 reads.
/// It is a whole part of the smallest difference, refined as a mean over all differences that are
/// not long. Differences of neighbours are not sufficient: if reads take nearly constant time,
/// their cost looks like a step.
fn common_step(readings: &[i64]) -> Option<f64> {
    const LAGS: usize = 32;
    // If a read takes more steps, the differences are within a few steps of each other, and a step
    // that is some per cent longer explains them, too.
    const MOST_STEPS: u32 = 20;
    const KEPT: usize = 6_000;
    let apart = |lag: usize| {
        readings
            .windows(lag + 1)
            .map(move |span| (span[lag] - span[0]) as f64)
    };
    let moved: Vec<f64> = (1..=LAGS).flat_map(apart).filter(|by| *by > 0.0).collect();
    if takes_all_values(&moved) {
        return Some(1.0);
    }
    let least = moved.iter().copied().fold(f64::INFINITY, f64::min);
    let moved: Vec<f64> = moved
        .iter()
        .copied()
        .step_by(moved.len() / KEPT + 1)
        .collect();
    (1..=MOST_STEPS).find_map(|part| {
        let mut step = least / f64::from(part);
        let mut near = Vec::new();
        for reach in [10.0, 20.0, 40.0, 80.0] {
            near = moved
                .iter()
                .copied()
                .filter(|by| *by < (reach * step).max(2.0 * least))
                .collect();
            for _ in 0..5 {
                step = near.iter().sum::<f64>()
                    / near.iter().map(|by| (by / step).round()).sum::<f64>();
            }
        }
        let mut off: Vec<f64> = near
            .iter()
            .map(|by| ((by / step).round() * step - by).abs())
            .collect();
        off.sort_by(f64::total_cmp);
        // Rounding to whole units changes a difference by less than one unit.
        let most = if step > 3.0 {
            (0.1 * step).max(0.7)
        } else {
            0.05 * step
        };
        (near.len() > 20 && off[near.len() * 95 / 100] < most).then_some(step)
    })
}

/// Whether the differences take any number of units, as for a clock with a step of one unit. For a
/// longer step, rounded differences take one or two adjacent values, followed by a gap.
fn takes_all_values(moved: &[f64]) -> bool {
    const IN_A_ROW: u32 = 6;
    const OFTEN: u32 = 3;
    let mut seen: BTreeMap<i64, u32> = BTreeMap::new();
    moved
        .iter()
        .for_each(|by| *seen.entry(*by as i64).or_default() += 1);
    let often = seen
        .iter()
        .filter(|(_, count)| **count >= OFTEN)
        .map(|(by, _)| *by);
    let (mut last, mut row) = (i64::MIN, 0);
    for by in often {
        row = if by == last + 1 { row + 1 } else { 1 };
        last = by;
        if row == IN_A_ROW {
            return true;
        }
    }
    false
}

#[test]
fn common_step_finds_known_steps() {
    let of = |step: f64, unit: f64| {
        let at = |n: u32| ((f64::from(n * (n + 3) % 97 + n * 20) * step) / unit).floor();
        let mut readings: Vec<i64> = (0..3_000).map(|n| at(n) as i64).collect();
        readings.sort_unstable();
        common_step(&readings).map(|found| found * unit / step)
    };
    for (step, unit) in [(1.0, 1.0), (9.98, 1.0), (100.0, 1.0), (1_000.0, 1_000.0)] {
        let found = of(step, unit).expect("the readings have a step");
        assert!((found - 1.0).abs() < 0.01, "{step}: {found}");
    }
    assert_eq!(common_step(&[1, 1]), None);
    // Reads take 22 units, sometimes one more or less. The step is not 22.
    let (mut now, mut random) = (0, 1_u64);
    let steady: Vec<i64> = (0..3_000)
        .map(|_| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            now += 21 + (random >> 62) as i64;
            now
        })
        .collect();
    assert_eq!(common_step(&steady), Some(1.0));
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
        for (id, alone) in &alone {
            let Some(found) = found.get(id) else { continue };
            let converted = CONVERTED.iter().find(|(converted, _)| converted == id);
            let alone = converted.map_or(alone, |(_, step)| step);
            compared += 1;
            if (found / alone - 1.0).abs() >= 0.01 {
                apart.push(format!("{id}: {found} ns, and {alone} ns alone"));
            }
        }
    }
    println!("compared: {compared}");
    assert!(apart.is_empty(), "{apart:#?}");
    let is_installed = |(_, needs, _): &(&str, &str, &str)| tool::find(&[needs]).is_some();
    let none = !LOOPS.iter().any(is_installed);
    assert!(compared > 0 || none, "nothing was compared");
}

/// The steps that the independent loop shows, in nanoseconds.
fn by_loops(prefix: &str, line: &str) -> BTreeMap<String, f64> {
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
        let unit: f64 = unit.parse().expect("the unit is a number");
        let readings = words.map(|word| word.parse().expect("a reading is an integer"));
        let readings: Vec<i64> = readings.collect();
        Some((format!("{prefix}:{id}"), common_step(&readings)? * unit))
    };
    shown.lines().filter_map(of_a_line).collect()
}

/// The steps of the wanted clocks that `probe` resolves, in nanoseconds.
fn by_the_prober(runtime: &str, wanted: &BTreeMap<String, f64>) -> BTreeMap<String, f64> {
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
