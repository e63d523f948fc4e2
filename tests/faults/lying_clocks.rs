//! Clocks in virtual time with one fault each.

use serde_json::Value;

use super::skipping::skipped;
use super::{alone, folder, outcome, probe, probe_fully, row, there_is};

fn probed(fault: &str) -> Option<Value> {
    probed_without("", fault)
}

/// By a host that does not offer this question.
fn probed_without(question: &str, fault: &str) -> Option<Value> {
    let _alone = alone();
    if !there_is("python3", "python3") {
        return None;
    }
    let agent = format!(
        "faulty=python3 '{}' {question}",
        folder().join("clocks.py").display()
    );
    let id = format!("faulty:{fault}");
    // A quick probe does not look at a hundred thousand readings.
    let ask = if fault == "backstep" {
        probe_fully
    } else {
        probe
    };
    let (report, _) = ask(&[], &["--agent", &agent, &id], &[]);
    let row = row(&report, &id).clone();
    // What a machine that is busy all the time answers of any clock.
    if let Some(reason) = row["reason"]
        .as_str()
        .filter(|reason| reason.starts_with("too much interference"))
    {
        skipped(reason, "repeat it while less runs beside it");
        return None;
    }
    Some(row)
}

fn disqualified(fault: &str, verdict: &str, reported: &str) {
    let Some(row) = probed(fault) else { return };
    assert_eq!(outcome(&row, verdict), "fail", "{row}");
    let evidence = row["verdicts"][verdict]["evidence"]
        .as_str()
        .expect("a sentence");
    assert!(evidence.contains(reported), "{evidence}");
    // An unresolved one has no Quality; one that has figures has Quality 0.
    assert!(
        row["quality"].is_null() || row["quality"]["value"] == 0.0,
        "{}",
        row["quality"]
    );
    let code = format!("not-{}", verdict.replace('_', "-"));
    assert!(
        row["findings"].to_string().contains(&code),
        "{}",
        row["findings"]
    );
}

#[test]
fn a_sound_clock_passes() {
    let Some(row) = probed("sound") else { return };
    for verdict in ["monotonic", "stable", "counts", "declared"] {
        assert!(["pass", "fail"].contains(&outcome(&row, verdict)), "{row}");
    }
    assert_eq!(outcome(&row, "monotonic"), "pass", "{row}");
    assert_eq!(outcome(&row, "stable"), "pass", "{row}");
    assert_ne!(outcome(&row, "thread_safe"), "fail", "{row}");
    assert!(
        row["quality"]["value"]
            .as_f64()
            .is_some_and(|quality| quality > 0.0),
        "{row}"
    );
    // Its cost is 60 to 61 virtual nanoseconds. Whether it follows the frequency of the real core
    // is unknown while that frequency moves little: then the interval holds both answers.
    let cost = |figure: &str| {
        row["cost_ns"][figure]
            .as_f64()
            .unwrap_or_else(|| panic!("no {figure}: {row}"))
    };
    let (low, high) = (cost("low"), cost("high"));
    assert!(low <= 1.02 * 60.5 && 0.98 * 60.5 <= high, "{low} to {high}");
    assert!((low..=high).contains(&cost("value")), "{row}");
}

/// It is watched for long enough to know its rate.
#[test]
fn host_without_comparisons_reports_rate() {
    let Some(row) = probed_without("comparisons", "sound") else {
        return;
    };
    assert_eq!(outcome(&row, "stable"), "pass", "{row}");
    let stable = &row["verdicts"]["stable"];
    assert!(
        stable["offset_uncertainty_ppm"]
            .as_f64()
            .is_some_and(|uncertainty| uncertainty < 500.0),
        "{stable}"
    );
    let Some(row) = probed_without("comparisons", "drift") else {
        return;
    };
    assert_eq!(outcome(&row, "stable"), "fail", "{row}");
}

#[test]
fn detects_one_rare_backward_step() {
    disqualified("backstep", "monotonic", "stepped backwards");
}

#[test]
fn detects_clock_behind_on_cpu() {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        skipped("there is one CPU only", "run it on two");
        return;
    }
    let Some(row) = probed("behind") else { return };
    assert_eq!(row["quality"]["value"], 0.0, "{row}");
    assert_eq!(outcome(&row, "thread_safe"), "fail", "{row}");
    let offsets = row["verdicts"]["thread_safe"]["offsets"]
        .as_array()
        .expect("offsets");
    let last = offsets.last().expect("an offset for each CPU");
    let (ns, uncertainty) = (
        last["ns"].as_f64().expect("ns"),
        last["uncertainty_ns"].as_f64().expect("uncertainty"),
    );
    assert!(
        (ns + 500.0).abs() <= uncertainty && uncertainty < 400.0,
        "{last}"
    );
}

#[test]
fn a_clock_that_drifts() {
    disqualified("drift", "stable", "faster than its reference");
}

#[test]
fn a_clock_that_freezes() {
    disqualified("freeze", "stable", "fell behind");
}
