//! Tests the findings about simulated sleep primitives: references that step back, and waits by
//! another clock than the one that times them.

use estimators::findings::{Facts, WAITS, apply};
use estimators::model::{Finding, WaitFigures};
use estimators::waits::figures;
use simulate::waits::{WaitCase, population};
use simulated::{Delays, WaitModel};
use timermeter::plan::Plan;

/// A primitive that sleeps 60 µs too long, more or less.
fn sleep() -> WaitModel {
    WaitModel {
        delays: Delays {
            median: 1e4,
            deviation: 0.5,
            tail: Some((0.02, 20.0)),
        },
        processes: 0.1,
        cpu: 8e3,
        ..WaitModel::blocking("sleep", 5e4)
    }
}

/// Probes a primitive; returns its figures and its findings.
fn found(model: &WaitModel, seed: u64) -> (WaitFigures, Vec<Finding>) {
    let model = model.clone();
    let trace = WaitCase { model, seed }.probe(&Plan::DEFAULT);
    let trace = trace.expect("its waits are possible");
    let figures = figures(&trace);
    let facts = Facts {
        waits: Some(&figures),
        earliest: figures.earliest(),
        wait_trace: Some(&trace),
        ..Facts::default()
    };
    let findings = apply(WAITS, &facts);
    (figures, findings)
}

/// The message of the finding with this code.
fn message(findings: &[Finding], code: &str) -> Option<String> {
    let mut findings = findings.iter();
    Some(findings.find(|finding| finding.code == code)?.message())
}

/// Codes that blame the clock or the primitive for what the tests simulate.
const CODES: [&str; 3] = ["clock-steps-back", "other-clock", "returns-early"];

#[test]
fn jumping_reference_is_blamed() {
    let rare = (3..=10).map(|seed| (seed, 244_000.0, 0.02));
    let often = [(1, 244_000.0, 0.2), (2, 3e6, 0.5)];
    for (seed, jump, share) in often.into_iter().chain(rare) {
        let model = WaitModel {
            clock_jumps: Some((jump, share)),
            ..sleep()
        };
        let (figures, findings) = found(&model, seed);
        let text = message(&findings, "clock-steps-back").expect("it steps back");
        assert!(text.contains("reference"), "{text}");
        assert_eq!(message(&findings, "returns-early"), None, "{findings:?}");
        for late in &figures.lateness {
            let (low, high) = late.p50_ns.and_then(|p50| p50.ends()).expect("an interval");
            assert!(
                (low..=high).contains(&60_000.0) && late.uncertainty_ns > 0.7 * jump,
                "{late:?}"
            );
        }
    }
}

#[test]
fn other_clock_is_named_with_its_rate() {
    for ppm in [-2_000.0, -40_000.0, 41_666.0, -500.0] {
        let mut held = 0;
        for seed in 1..=20 {
            let model = WaitModel { ppm, ..sleep() };
            let (figures, findings) = found(&model, seed);
            let share = figures.other_clock_ppm().expect("it has another rate");
            held += u32::from(share.low <= ppm && ppm <= share.high);
            let text = message(&findings, "other-clock").expect("it is named");
            assert!(
                text.contains("ppm (±") && text.contains('-') == (ppm < 0.0),
                "{text}"
            );
            for code in ["returns-early", "late-in-proportion"] {
                assert_eq!(message(&findings, code), None, "{ppm}");
            }
        }
        // 15 or fewer in one of 3000 cases, if intervals contain the rate in 95 %.
        assert!(held > 15, "{ppm}: {held} of 20");
    }
}

/// Poll is late in proportion, and waits that are rounded down, return early at random or have other
/// rates for some lengths are early; none of them waits by another clock.
#[test]
fn constant_deviation_is_no_other_clock() {
    let early = |share, by| WaitModel {
        early: Some((share, by)),
        ..sleep()
    };
    let rounded = WaitModel {
        rounding: Some(1e6),
        base: -9.5e5,
        ..sleep()
    };
    let slack = WaitModel {
        ppm: 1_000.0,
        ..sleep()
    };
    for (number, model) in [sleep(), early(1.0, 3e5), early(0.2, 3e5), rounded, slack]
        .iter()
        .enumerate()
    {
        let (figures, findings) = found(model, number as u64);
        assert_eq!(figures.other_clock_ppm(), None, "{model:?}");
        assert_eq!(
            message(&findings, "returns-early").is_some(),
            (1..4).contains(&number),
            "{model:?}"
        );
        let late = message(&findings, "late-in-proportion");
        assert_eq!(late.is_some(), model.ppm > 0.0, "{late:?}");
    }
}

/// None of the primitives of the population does what these findings say, unless it is declared.
#[test]
fn usual_primitives_are_not_blamed() {
    for seed in [651, 652] {
        let mut cases = population::waits(60, seed);
        cases.extend(population::coarse_references(15, seed));
        for case in cases {
            let (_, findings) = found(&case.model, case.seed);
            for code in CODES {
                let declared = match code {
                    "other-clock" => case.model.ppm > 5_000.0,
                    "returns-early" => case.model.early.is_some() || case.model.ppm < 0.0,
                    _ => false,
                };
                let text = message(&findings, code);
                assert!(text.is_none() || declared, "{text:?}: {case:?}");
            }
        }
    }
}
