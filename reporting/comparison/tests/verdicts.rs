//! Tests which differences count as changes.

use proptest::prelude::*;

use super::{ComparedFigure, markdown};
use super::{Comparison, compared, met, open, report, sample, table, timer, verdict_of};
use crate::comparison::{COST, ChangeVerdict, Fate, RESOLUTION};
use crate::model::{Cost, Finding, Following, Interval, Report, Severity, Values};

#[test]
fn distinguishes_noise_from_change() {
    let comparison = sample();
    let verdict = |timer: &str, quantity| {
        let found = comparison
            .figures
            .iter()
            .find(|c| c.timer == timer && c.quantity == quantity);
        found.unwrap_or_else(|| panic!("no {timer}")).verdict
    };
    assert_eq!(verdict("a", COST), ChangeVerdict::Noise);
    assert_eq!(verdict("b", "quality"), ChangeVerdict::Unjudged);
    assert_eq!(verdict("b", COST), ChangeVerdict::Worse);
    assert_eq!(verdict("b", RESOLUTION), ChangeVerdict::Noise);
    assert_eq!(verdict("b", "spread"), ChangeVerdict::Unjudged);
    let fates: Vec<(&str, Fate)> = comparison
        .one_sided
        .iter()
        .map(|one| (one.timer.as_str(), one.fate))
        .collect();
    assert_eq!(
        fates,
        [
            ("c", Fate::Lost),
            ("new", Fate::Added),
            ("gone", Fate::Gone)
        ]
    );
    let table = table(&comparison);
    assert!(table.starts_with("b: 50 % slower ["), "{table}");
    assert!(table.contains("; all else unchanged (a within "), "{table}");
    assert!(
        table.contains("; lost: c, gone\n")
            && table.contains("same platform")
            && table.contains("lost figures            c (the process crashed)"),
        "{table}"
    );
    assert!(table.contains("+50.0 % [+"), "{table}");
    assert!(
        !table.contains("20.00 ns"),
        "differences within noise are omitted: {table}"
    );
}

/// A single process has no interval: neither report allows a conclusion, and no condition holds.
#[test]
fn single_process_claims_nothing() {
    let many = timer("a", 45.0, 20.0);
    let mut one = timer("a", 20.0, 90.0);
    one.cost_ns = Some(Interval::unbounded(90.0));
    one.findings.push(Finding {
        code: "single-process".into(),
        severity: Severity::Note,
        values: Values::new(),
    });
    for (old, new) in [(&many, &one), (&one, &many)] {
        let comparison = compared(&report(vec![old.clone()]), &report(vec![new.clone()])).unwrap();
        assert_eq!(verdict_of(&comparison, COST), ChangeVerdict::Unjudged);
        for condition in ["cost>0%", "cost<0%"] {
            assert!(!met(condition, &comparison), "{condition}");
            let why = open(condition, &comparison).unwrap_or_default();
            assert!(why.starts_with("a without intervals"), "{condition}: {why}");
        }
        assert!(
            comparison.sentences[0].contains("unknown, because a report used a single process")
        );
    }
}

#[test]
fn cost_of_almost_nothing_has_finite_figures() {
    for cost in [1e-200, 5e-324] {
        let side = report(vec![timer("a", 20.0, cost)]);
        let comparison = compared(&side, &side).unwrap();
        assert_eq!(comparison.count(ChangeVerdict::Worse), 0);
        let table = table(&comparison);
        assert!(!table.contains("NaN") && !table.contains("inf"), "{table}");
    }
}

/// Two CPUs declare slightly different rates.
#[test]
fn ignores_differences_too_small_to_matter() {
    let narrow = |ns: f64| {
        let mut row = timer("a", 45.0, 20.0);
        row.resolution_ns = Some(Interval::with_ends(ns, Some((ns * 0.9999, ns * 1.0001))));
        row
    };
    let compare = |old: f64, new: f64| {
        compared(&report(vec![narrow(old)]), &report(vec![narrow(new)])).unwrap()
    };
    for (new, verdict) in [
        (10.02, ChangeVerdict::Noise),
        (9.98, ChangeVerdict::Noise),
        (10.2, ChangeVerdict::Worse),
    ] {
        let comparison = compare(10.0, new);
        assert_eq!(verdict_of(&comparison, RESOLUTION), verdict, "{new}");
        assert_eq!(
            met("resolution>0ns", &comparison),
            verdict == ChangeVerdict::Worse,
            "{new}"
        );
    }
    let comparison = compare(10.0, 10.02);
    for text in [table(&comparison), markdown(&comparison)] {
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            words.contains("0 got worse, 0 got better, and 2 differ by no more than noise"),
            "{text}"
        );
        assert!(!text.contains("10.02"), "{text}");
    }
}

/// A report whose core ran at `ghz` GHz, and whose reads take `cycles` cycles.
fn at_frequency(ghz: f64, cycles: f64, follows: Option<Following>) -> Report {
    let mut row = timer("a", 45.0 * ghz.powf(-0.1), cycles / ghz);
    row.cost = row.cost.map(|cost| Cost { follows, ..cost });
    let mut report = report(vec![row]);
    (report.frequency.effective_hz, report.frequency.cycles_hz) = (
        Some(Interval::unbounded(ghz * 1e9)),
        Some(Interval::unbounded(ghz * 1e9)),
    );
    report
}

fn cost_of(comparison: &Comparison) -> &ComparedFigure {
    comparison
        .figures
        .iter()
        .find(|compared| compared.quantity == COST)
        .expect("both reports have a cost")
}

/// A core that runs twice as fast halves the cost although no clock changed, unless all reports say
/// that a device determines the cost.
#[test]
fn compares_cycles_unless_device_determines_cost() {
    for (follows, percent) in [
        (Some(Following::Core), 0.0),
        (Some(Following::Device), -50.0),
        (Some(Following::Unknown), 0.0),
        (None, 0.0),
    ] {
        let compared = compared(
            &at_frequency(2.0, 60.0, follows),
            &at_frequency(4.0, 60.0, follows),
        )
        .unwrap();
        let cost = cost_of(&compared);
        assert!(
            (cost.change.percent.unwrap().value - percent).abs() < 1e-9,
            "{follows:?}: {cost:?}"
        );
        assert!((cost.change.old.value - 30.0).abs() < 1e-9, "{cost:?}");
        if percent == 0.0 {
            let changed =
                compared.count(ChangeVerdict::Better) + compared.count(ChangeVerdict::Worse);
            assert_eq!(changed, 0, "{follows:?}: {:?}", compared.figures);
            assert!(
                compared.sentences[0].starts_with("costs unchanged (a within "),
                "{:?}",
                compared.sentences
            );
        }
    }
    let compare = |cycles| {
        compared(
            &at_frequency(2.0, 60.0, None),
            &at_frequency(4.0, cycles, None),
        )
        .unwrap()
    };
    assert_eq!(cost_of(&compare(30.0)).verdict, ChangeVerdict::Better);
    assert!((cost_of(&compare(30.0)).change.percent.unwrap().value + 50.0).abs() < 1e-9);
    assert_eq!(cost_of(&compare(90.0)).verdict, ChangeVerdict::Worse);
}

/// Reports of runs with `cost` and `other` cycles, one every two minutes from `first` on.
fn runs(first: u32, cost: f64, other: f64) -> Vec<Report> {
    let of_run = |(number, by): (u32, f64)| {
        let mut report = at_frequency(3.0, cost * (1.0 + by), None);
        let mut row = report.timers[0].clone();
        row.id = "b".into();
        row.cost_ns = row.cost_ns.map(|_| {
            let ns = other * (1.0 - by) / 3.0;
            Interval::with_ends(ns, Some((ns * 0.99, ns * 1.01)))
        });
        report.timers.push(row);
        report.created = format!("2026-11-20T12:{:02}:00Z", first + 2 * number);
        report
    };
    (0..)
        .zip([-0.002, 0.001, 0.0, 0.002, -0.001])
        .map(of_run)
        .collect()
}

fn compare_runs(old: &[Report], new: &[Report]) -> Comparison {
    let [old, new] = [old, new].map(|side| side.iter().collect::<Vec<&Report>>());
    Comparison::between(&old, &new).unwrap()
}

#[test]
fn several_runs_detect_smaller_changes() {
    let (old, new) = (runs(0, 60.0, 150.0), runs(1, 61.0, 150.0));
    let single = compared(&old[0], &new[0]).unwrap();
    assert_eq!(cost_of(&single).verdict, ChangeVerdict::Noise);
    let several = compare_runs(&old, &new);
    for figure in &several.figures {
        let ends = figure.change.difference.ends();
        assert!(
            ends.is_none_or(|(low, high)| low <= high && low.is_finite()),
            "{figure:?}"
        );
    }
    let cost = cost_of(&several);
    assert_eq!(cost.verdict, ChangeVerdict::Worse, "{cost:?}");
    let text = table(&several);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.starts_with("a: 1.7 % slower [") && text.contains("5 old and 5 new runs"),
        "{text}"
    );
}

proptest! {
    #[test]
    fn report_equals_itself(quality in 1.0f64..99.0, cost in 0.0f64..1e9) {
        let report = report(vec![timer("a", quality, cost)]);
        let comparison = compared(&report, &report).unwrap();
        prop_assert!(comparison.platform.is_empty() && comparison.one_sided.is_empty());
        prop_assert_eq!(comparison.count(ChangeVerdict::Better) + comparison.count(ChangeVerdict::Worse), 0);
    }
}
