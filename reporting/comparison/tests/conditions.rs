//! Tests the grammar of conditions and their evaluation.

use proptest::prelude::*;

use super::{compared, decide, met, open, report, sample, timer};
use crate::comparison::{ChangeCondition, Decision};
use crate::model::Interval;

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
        ("cost>10%", Some("b")),
        ("Cost > +24.9 ns", Some("b")),
        ("cost>0.03us", None),
        ("cost<0%", None),
        ("cost[a*]>0%", None),
        ("cost[{a,b}]>0%", Some("b")),
        ("resolution>0ns", None),
        ("lost>0", Some("c, gone")),
        ("lost[g*]>0", Some("gone")),
        ("lost>2", None),
        ("source>0", None),
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
        ("cost>5%", true),
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
    assert_eq!(condition.unmatched(&["a"]), Some("monotnic"));
    let condition: ChangeCondition = "cost[a*]>5%".parse().unwrap();
    assert_eq!(condition.unmatched(&["a"]), None);
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

#[test]
fn rejects_conditions_on_what_is_not_judged() {
    for text in [
        "quality<-1",
        "spread<-0.05",
        "p99>50%",
        "lateness>5%",
        "cost",
        "cost>",
        "cost>ten%",
        "cost>10",
        "cost>5 points",
        "cost>=10%",
        "cost>-5%",
        "cost<5%",
        "cost<-100%",
        "cost>1e999%",
        "cost[a>5%",
        "cost[{a]>5%",
        "trust<-1",
        "trust>0",
        "trust<0%",
        "source<0",
        "source[tsc]>0",
        "lost<0",
        "lost>-1",
        "",
    ] {
        let why = text.parse::<ChangeCondition>().expect_err(text).to_string();
        assert!(
            why.starts_with(&format!("`{text}` "))
                && why.contains("'cost>10%'")
                && why.contains("'resolution>10%'"),
            "{why}"
        );
    }
}

proptest! {
    #[test]
    fn no_condition_panics(text in "(cost|trust|lost|[a-z]{0,4})(\\[[^<>]{0,6}\\]?)?[<>=]{0,3}\\PC{0,8}", any in any::<String>()) {
        let _ = text.parse::<ChangeCondition>();
        let _ = any.parse::<ChangeCondition>();
    }
}
