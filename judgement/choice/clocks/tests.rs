//! Tests which clock of a stored report is picked, and the reasons against the others.

use super::*;
use crate::assessment::assess;
use estimators::model::{Counted, Estimate, Nanos, Outcome, Verdicts};

fn report() -> Report {
    let text = include_str!("../../../tests/data/xeon-2026-11-21.json");
    serde_json::from_str(text).unwrap()
}

/// The choice from a report as it would be read.
fn choose(report: &Report, requirement: &Requirement) -> Result<ClockChoice, ChoiceError> {
    let mut report = report.clone();
    assess(&mut report);
    super::choose(&report, requirement)
}

fn requirement() -> Requirement {
    Requirement::new(Nanos(1e4), 0.01)
}

fn row<'a>(report: &'a mut Report, id: &str) -> &'a mut TimerRow {
    report.timers.iter_mut().find(|row| row.id == id).unwrap()
}

fn picked(choice: &ClockChoice) -> &RankedTimer<ClockRecipe> {
    choice.picked.as_ref().unwrap()
}

/// The id of the clock that is picked.
#[track_caller]
fn best(report: &Report) -> String {
    picked(&choose(report, &requirement()).unwrap()).id.clone()
}

fn reason<'a>(choice: &'a ClockChoice, id: &str) -> &'a str {
    &choice
        .others
        .iter()
        .find(|other| other.id == id)
        .unwrap()
        .reason
}

type Change = fn(&mut Verdicts);

/// A change of the verdicts on the best clock, and why it is not picked then. A thread may be moved to another CPU between
/// its two readings, so not even a requirement for one thread is met by a clock that differs between them. An experiment
/// overrules what is declared.
const UNSOUND: [(Change, &str); 5] = [
    (
        |it| it.monotonic.outcome = Outcome::Fail,
        "CLOCK_MONOTONIC as the C library gives it steps backwards",
    ),
    (
        |it| it.stable.outcome = Outcome::Fail,
        "CLOCK_MONOTONIC as the C library gives it runs at a wrong rate",
    ),
    (
        |it| it.thread_safe.outcome = Outcome::Fail,
        "CLOCK_MONOTONIC as the C library gives it differs between CPUs",
    ),
    // Handoffs take longer than a small offset, so no reading steps backwards, but the two directions prove it.
    (
        |it| {
            let last = it.thread_safe.offsets.last_mut().unwrap();
            (last.ns, last.uncertainty_ns) = (-60.0, 40.0);
        },
        "it differs between CPUs by up to 60.00 ns",
    ),
    (
        |it| it.counts.found = Some(Counted::SomethingElse),
        "it counts something else, not wall time",
    ),
];

#[test]
fn unsound_clocks_are_never_picked() {
    for (change, words) in UNSOUND {
        let mut report = report();
        let best = best(&report);
        change(row(&mut report, &best).verdicts.as_mut().unwrap());
        let choice = choose(&report, &requirement()).unwrap();
        let why = reason(&choice, &best);
        assert!(picked(&choice).id != best && why.contains(words), "{why}");
    }
}

/// Two runs of a machine differ in every cost, and now one clock is cheaper, now another.
#[test]
fn noise_does_not_change_pick() {
    let ids = ["monotonic", "instant", "monotonic-raw", "rdtsc-lfence"];
    for duration_ns in [10.0, 250.0, 1e3, 3e3, 1e4, 1e5] {
        let requirement = Requirement::new(Nanos(duration_ns), 0.01);
        for cheapest in ids {
            let mut report = report();
            for id in ids {
                let row = row(&mut report, id);
                let factor = if id == cheapest { 0.7 } else { 1.2 };
                let median = factor * row.cost_ns.unwrap().value;
                let ends = (0.9 * median, 1.1 * median);
                row.cost_ns = Some(Estimate::with_ends(median, Some(ends)));
                row.cost.as_mut().unwrap().p99_ns = Some(1.5 * median);
            }
            let choice = choose(&report, &requirement).unwrap();
            assert_eq!(picked(&choice).id, "monotonic", "{cheapest} {duration_ns}");
        }
    }
}

/// A settable clock may step by any amount.
#[test]
fn settable_clocks_are_never_picked() {
    let choice = choose(&report(), &requirement()).unwrap();
    for id in ["realtime", "system-time"] {
        assert!(reason(&choice, id).contains("can jump"));
    }
}

#[test]
fn portable_clocks_win_near_ties() {
    let mut report = report();
    report
        .timers
        .retain(|row| ["monotonic", "monotonic-raw"].contains(&row.id.as_str()));
    let cost = |report: &mut Report, id: &str, [low, median, high]: [f64; 3]| {
        row(report, id).cost_ns = Some(Estimate::with_ends(median, Some((low, high))));
    };
    cost(&mut report, "monotonic", [24.0, 25.0, 26.0]);
    cost(&mut report, "monotonic-raw", [24.5, 25.5, 26.5]);
    let choice = choose(&report, &requirement()).unwrap();
    assert_eq!(picked(&choice).id, "monotonic");
    let why = reason(&choice, "monotonic-raw");
    assert!(why.ends_with("; not every platform has it"), "{why}");
    // The less safe clock is kept if the safer one needs far more calls.
    row(&mut report, "monotonic").resolution_ns = Some(Estimate::unbounded(1e6));
    assert_eq!(best(&report), "monotonic-raw");
}
