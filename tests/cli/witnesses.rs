//! What the verbs say of a machine on which two clocks disagree: no two of them contradict each
//! other. The runs are made up from a stored one.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::Value;
use timermeter::model::{Ntp, Outcome, Report};
use timermeter::recording::Recording;

use super::folder::Folder;
use super::{json, printed, timermeter};

const TRACE: &str = "reports/amd-epyc-zen-4-kvm-debian-12/2026-11-26/run.trace";
/// The timers of the runs: the counter, and clocks that the kernel corrects or does not.
const CLOCKS: [&str; 5] = [
    "rdtsc",
    "monotonic",
    "monotonic-syscall",
    "realtime",
    "monotonic-raw",
];

/// The faults of a machine.
#[derive(Clone, Debug)]
struct Faults {
    /// What the kernel reports; `None` if it reports nothing.
    ntp: Option<Ntp>,
    /// The share by which corrected clocks really run faster than CLOCK_MONOTONIC_RAW.
    share: f64,
}

fn faults() -> impl Strategy<Value = Faults> {
    let share = prop_oneof![Just(0.0), 0.001..0.09_f64, -0.09..-0.001_f64];
    (share, any::<[bool; 3]>(), 0..5_000_i64).prop_map(
        |(share, [reported, synchronised, slewing], error)| {
            let ppm = 1e6 * share;
            let trimmed = if slewing { 0.0 } else { ppm };
            let ntp = Ntp {
                synchronised,
                slewing: ppm != 0.0,
                rate_ppm: ppm,
                frequency_ppm: trimmed % 100.0,
                tick_us: 10_000 + (trimmed / 100.0) as i64,
                offset_ns: if slewing { 1_000_000 } else { 0 },
                estimated_error_us: error,
            };
            Faults {
                ntp: reported.then_some(ntp),
                share,
            }
        },
    )
}

/// The stored run with these faults: the comparisons of the uncorrected clock are those of a clock
/// that runs slower than its reference, whose rate a corrected clock gave.
fn recording(faults: &Faults) -> Recording {
    let mut run = Recording::read(Path::new(TRACE)).expect("the trace is stored");
    run.timers
        .retain(|one| CLOCKS.contains(&one.timer.id.as_str()));
    run.platform.ntp.clone_from(&faults.ntp);
    for observed in &mut run.timers {
        let Ok(stored) = &mut observed.outcome else {
            continue;
        };
        // The verdicts need few of the processes.
        stored.runs.truncate(6);
        if observed.timer.id != "monotonic-raw" {
            continue;
        }
        let evidence = &mut stored.evidence;
        let processes = evidence.process_comparisons.iter_mut().flatten();
        let all = [
            &mut evidence.sparse_comparisons,
            &mut evidence.close_comparisons,
            &mut evidence.series,
        ];
        let readings = all.into_iter().flatten().chain(processes);
        for [_, clock, _] in readings {
            *clock = (*clock as f64 / (1.0 + faults.share)) as i64;
        }
    }
    run
}

/// The clocks that a sentence or a verdict calls wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    None,
    Corrected,
    Uncorrected,
    Unknown,
}

/// What `check` says.
fn by_check(report: &str) -> (Wrong, bool) {
    let checked = json(&timermeter(&[
        "check", "--from", report, "--format", "json",
    ]));
    let findings = checked["findings"].as_array().expect("a list");
    let ntp = findings
        .iter()
        .find(|finding| finding["code"] == "ntp")
        .expect("it is judged");
    let wrong = match (ntp["severity"].as_str(), ntp["values"]["reason"].as_str()) {
        (Some("problem"), Some("counter")) => Wrong::Uncorrected,
        (Some("problem"), Some("slewing")) => Wrong::Corrected,
        (Some("problem"), None) => Wrong::Unknown,
        _ => Wrong::None,
    };
    (wrong, ntp["severity"] == "unknown")
}

/// What the verdicts of `probe` say.
fn by_probe(report: &Report) -> Wrong {
    let outcome = |id: &str| {
        let row = report
            .timers
            .iter()
            .find(|row| row.id == id)
            .expect("it was measured");
        row.verdicts.as_ref().expect("it was judged").stable.outcome
    };
    let corrected = ["monotonic", "monotonic-syscall", "realtime"].map(outcome);
    assert!(
        corrected.iter().all(|one| *one == corrected[0]),
        "{corrected:?}"
    );
    match (corrected[0], outcome("monotonic-raw")) {
        (Outcome::Pass, Outcome::Pass) => Wrong::None,
        (Outcome::Pass, Outcome::Fail) => Wrong::Uncorrected,
        (Outcome::Fail, Outcome::Pass) => Wrong::Corrected,
        (Outcome::NotTested, Outcome::NotTested) => Wrong::Unknown,
        other => panic!("{other:?}"),
    }
}

/// What the program recommends without a command.
fn recommended(report: &str) -> Value {
    let answer = timermeter(&["--from", report, "--format", "json"]).success();
    json(&answer)["to_time"]["id"].clone()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    #[ignore = "analyses many runs"]
    fn verbs_agree_on_clocks_that_disagree(faults in faults()) {
        let folder = Folder::new();
        let (trace, file) = (folder.arg("run.trace"), folder.arg("report.json"));
        fs::write(&trace, recording(&faults).pack().unwrap()).unwrap();
        let analysed = timermeter(&["analyse", &trace, "--output", &file]);
        let text = fs::read_to_string(&file).unwrap_or_else(|_| panic!("{}", printed(&analysed)));
        let report: Report = serde_json::from_str(&text).unwrap();
        let (checked, is_silent) = by_check(&file);
        let probed = by_probe(&report);
        prop_assert!(is_silent || checked == probed, "check {checked:?}, probe {probed:?}");
        let recommended = recommended(&file);
        let wrong = match probed {
            Wrong::Corrected => "monotonic",
            Wrong::Uncorrected => "monotonic-raw",
            Wrong::None | Wrong::Unknown => "",
        };
        prop_assert!(recommended != wrong, "{recommended}");
    }
}
