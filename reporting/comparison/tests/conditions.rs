//! Tests the grammar of conditions and their evaluation.

use proptest::prelude::*;

use super::{compared, decide, met, open, report, sample, timer};
use crate::comparison::{ChangeCondition, Decision};
use crate::model::{Core, Interval, ProcessFigures, Report};

/// The timers for which a condition holds in the sample; `None` if it does not hold.
fn timers_of(condition: &str) -> Option<String> {
    match decide(condition, &sample()) {
        Decision::Holds(why) => Some(why),
        _ => None,
    }
}

#[test]
fn condition_holds_beyond_noise() {
    for (condition, timers) in [
        ("quality<-1", Some("b")),
        ("quality < -1 points", Some("b")),
        ("Quality<=-4.9", Some("b")),
        ("quality<-6", None),
        ("quality>0", None),
        ("cost>10%", Some("b")),
        ("cost>+24.9ns", Some("b")),
        ("cost>0.03us", None),
        ("cost[a*]>0%", None),
        ("cost[{a,b}]>0%", Some("b")),
        ("resolution>0ns", None),
        ("spread<0.01", None),
        ("lost>0", Some("c, gone")),
        ("lost>=3", None),
    ] {
        assert_eq!(timers_of(condition).as_deref(), timers, "{condition}");
    }
}

#[test]
fn open_if_change_may_be_hidden() {
    let compare = |new: f64| {
        compared(
            &report(vec![timer("a", 45.0, 20.0)]),
            &report(vec![timer("a", 45.0, new)]),
        )
        .unwrap()
    };
    let unchanged = compare(20.0);
    for (condition, decided) in [
        ("cost>50%", true),
        ("cost>1%", false),
        ("cost>0.2ns", false),
        ("cost<-0.2ns", false),
        // Any change that can be found meets this condition.
        ("cost>0%", true),
        ("resolution>0ns", true),
        // No change within the interval meets this condition.
        ("cost<5%", true),
        ("cost>5%", true),
        ("lateness>5%", false),
        ("cost[b]>5%", false),
        ("lost>0", true),
    ] {
        assert_eq!(
            open(condition, &unchanged).is_none(),
            decided,
            "{condition}"
        );
        assert!(!met(condition, &unchanged), "{condition}");
    }
    let condition: ChangeCondition = "cost[monotnic]>5%".parse().unwrap();
    assert_eq!(
        condition.unmatched(unchanged.timers.iter().map(String::as_str)),
        Some("monotnic")
    );
    let condition: ChangeCondition = "cost[a*]>5%".parse().unwrap();
    assert_eq!(
        condition.unmatched(unchanged.timers.iter().map(String::as_str)),
        None
    );
}

/// A change of the step holds if it is certain; a step that one side lacks decides nothing.
#[test]
fn longer_step_meets_condition() {
    let with = |step: Option<f64>| {
        let mut row = timer("a", 45.0, 20.0);
        row.resolution_ns = step.map(|ns| Interval::with_ends(ns, Some((0.98 * ns, 1.02 * ns))));
        report(vec![row])
    };
    let judged = |old: Option<f64>, new: Option<f64>| {
        decide(
            "resolution[a]>10%",
            &compared(&with(old), &with(new)).unwrap(),
        )
    };
    assert_eq!(
        judged(Some(10.0), Some(100_000.0)),
        Decision::Holds("a".into())
    );
    assert_eq!(judged(Some(10.0), Some(10.1)), Decision::Fails);
    assert_eq!(judged(Some(100_000.0), Some(10.0)), Decision::Fails);
    for (old, new) in [(Some(10.0), None), (None, Some(10.0))] {
        let Decision::Open(why) = judged(old, new) else {
            panic!("{old:?} {new:?} decides");
        };
        assert!(why.contains("both sides"), "{why}");
    }
}

/// The p99 of a clock is judged by how much its processes differ in it.
#[test]
fn p99_is_condition_of_clocks() {
    let with = |p99: f64, processes: &[f64]| {
        let mut row = timer("a", 45.0, 20.0);
        row.cost.as_mut().expect("a cost").p99_ns = Some(p99);
        let figures = processes.iter().map(|factor| ProcessFigures {
            core: Core::Alone,
            amortised_ns: 20.0,
            p99_ns: Some(p99 * factor),
            ..ProcessFigures::default()
        });
        row.processes = figures.collect();
        report(vec![row])
    };
    let judged = |condition: &str, old: &Report, new: &Report| {
        decide(condition, &compared(old, new).unwrap())
    };
    let alike = [1.0, 1.01, 0.98, 1.02, 1.03];
    let old = with(40.0, &alike);
    let (unchanged, slower) = (with(40.5, &alike), with(120.0, &alike));
    for (condition, new, decision) in [
        ("p99>100%", &slower, Decision::Holds("a".into())),
        ("p99[a]>20ns", &slower, Decision::Holds("a".into())),
        ("p99>100%", &unchanged, Decision::Fails),
        ("p99>0%", &unchanged, Decision::Fails),
        ("p99<-10%", &slower, Decision::Fails),
    ] {
        assert_eq!(judged(condition, &old, new), decision, "{condition}");
    }
    // Processes that differ as much as the change hide it.
    let scattered = [0.4, 1.0, 2.6, 0.7, 1.6];
    let hidden = judged(
        "p99>100%",
        &with(40.0, &scattered),
        &with(120.0, &scattered),
    );
    assert!(matches!(hidden, Decision::Open(_)), "{hidden:?}");
    for few in [&[][..], &[1.0]] {
        let Decision::Open(why) = judged("p99>100%", &old, &with(120.0, few)) else {
            panic!("{few:?} decides");
        };
        assert!(why.contains("both sides"), "{why}");
    }
}

proptest! {
    #[test]
    fn no_condition_panics(text in "(quality|cost|lost|[a-z]{0,4})(\\[[^<>]{0,6}\\]?)?[<>=]{0,3}\\PC{0,8}", any in any::<String>()) {
        let _ = text.parse::<ChangeCondition>();
        let _ = any.parse::<ChangeCondition>();
    }
}
