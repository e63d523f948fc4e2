//! Tests the grammar of conditions and their evaluation.

use proptest::prelude::*;

use super::{compared, decide};
use crate::comparison::Decision::{self, Fails, Holds, Open};
use crate::comparison::sentence::amount;
use crate::comparison::{Change, ChangeCondition, ChangeVerdict, Comparison};
use estimators::model::Estimate;

fn assert_decided(comparison: &Comparison, cases: &[(&str, Decision, &str)]) {
    for (condition, decision, words) in cases {
        let (decided, why) = decide(condition, comparison);
        assert!(
            decided == *decision && why.contains(words) && !why.contains("inf"),
            "{condition}: {decided:?}, {why}"
        );
    }
}

#[test]
fn change_beyond_limit_meets_condition() {
    assert_decided(
        &compared("", "v 1.3, s 0.8, step 20, without s3"),
        &[
            (
                "cost>10%",
                Holds,
                "a read costs more than 10 % more: v2 +30 % [30, 30], v0 ",
            ),
            ("cost > 29.5 %", Holds, "more: v"),
            (
                "cost>31%",
                Fails,
                "no read costs more than 31 % more (most: v2 +30 % [30, 30])",
            ),
            (
                "cost[v{0,1}]>5ns",
                Holds,
                "a read of v{0,1} costs more than 5 ns more: v0 +30 % [30, 30], v1 ",
            ),
            ("cost>0.05us", Fails, "(most: v"),
            ("cost[s*]>10%", Fails, "(most: s"),
            ("cost>0%", Holds, "a read costs more: v"),
            ("cost[w*]>10%", Open, "more: no timer has"),
            (
                "resolution>10%",
                Holds,
                "a step is more than 10 % longer: v0 10.00 ns → 20.00 ns",
            ),
            ("resolution>50ns", Fails, "(most: v0 "),
            (
                "resolution[i*]>0%",
                Fails,
                "no step of i* is longer (most: i",
            ),
            ("lost>0", Holds, "a loss of timers: s3 ("),
            ("lost>1", Fails, "no loss of more than 1 timers"),
            ("lost[v*]>0", Fails, "of v*"),
            ("trust<0", Fails, "no clock lost trust"),
            ("trust[v*]<0", Fails, "no clock of v* lost trust"),
            ("source>0", Fails, "no slower clock source"),
        ],
    );
}

#[test]
fn open_if_change_may_be_hidden() {
    for disturbed in ["hertz 3.6e9", "hertz 3e9, steal 0.2"] {
        assert_decided(
            &compared("hertz 3e9, steal 0.0", disturbed),
            &[
                (
                    "cost>10%",
                    Open,
                    "open whether a read costs more than 10 % more: i0 within 2",
                ),
                ("cost[v0]>10%", Open, "more: v0 within 2"),
                ("cost[v0]>2ns", Open, "more: v0 within "),
                ("cost>30%", Fails, "(most: "),
                ("cost>0%", Fails, "(most: "),
            ],
        );
    }
    // What is not judged to have changed meets no condition.
    let little = compared("", "v 1.045");
    assert_decided(&little, &[("cost>4%", Open, "more: v3 within 4.")]);
    let few = compared("", "processes 2");
    assert_decided(&few, &[("cost>100%", Open, "more: i0 ")]);
}

#[test]
fn amounts_are_percents_or_factors() {
    for (value, half, written) in [
        (23.04, 1.96, "+23 % [21, 25]"),
        (-4.16, 1.0, "-4.2 % [-5.2, -3.2]"),
        (174.0, 4.0, "2.74 times [2.70, 2.78]"),
    ] {
        let change = Change {
            percent: Estimate::around(value, half),
            limit_percent: 0.0,
            verdict: ChangeVerdict::Worse,
        };
        assert_eq!(amount(&change), written);
    }
}

#[test]
fn refuses_conditions_on_what_is_not_judged() {
    for text in [
        "quality<-1",
        "spread<-0.05",
        "p99>50%",
        "",
        "cost",
        "cost>",
        "cost>ten%",
        "cost>10",
        "cost>=10%",
        "cost>-5%",
        "cost<5%",
        "cost>1e999%",
        "cost[a>5%",
        "trust<-1",
        "trust>0",
        "source<0",
        "lost>-1",
    ] {
        assert!(text.parse::<ChangeCondition>().is_err(), "{text}");
    }
}

proptest! {
    #[test]
    fn no_condition_panics(text in "(cost|trust|lost)?(\\[[^<>]{0,6}\\]?)?[<>=]{0,3}\\PC{0,8}") {
        _ = text.parse::<ChangeCondition>();
    }
}
