//! Tests changed answers to the trust questions.

use super::{Comparison, compared, decide, markdown, open, report, table, timer};
use crate::comparison::{ChangeVerdict, Decision};
use crate::model::{Outcome, Question, Report, TimerRow, Verdicts};

/// Sets verdicts that pass except for the `failing` questions.
fn trusted(mut row: TimerRow, failing: &[&str]) -> TimerRow {
    let mut verdicts: Verdicts = serde_json::from_str(ALL_PASS).unwrap();
    for (name, outcome, evidence) in [
        (
            "monotonic",
            &mut verdicts.monotonic.outcome,
            &mut verdicts.monotonic.evidence,
        ),
        (
            "read path",
            &mut verdicts.read_path.outcome,
            &mut verdicts.read_path.evidence,
        ),
    ] {
        if failing.contains(&name) {
            (*outcome, *evidence) = (Outcome::Fail, format!("evidence on {name}"));
        }
    }
    row.verdicts = Some(verdicts);
    row
}

const ALL_PASS: &str = r#"{
    "monotonic":{"outcome":"pass","evidence":"","readings":9,"backward_steps":0,"moves":1},
    "thread_safe":{"outcome":"pass","evidence":"","handoffs":9,"backward_steps":0,"rounds":1,"pairs":1,
        "pairs_possible":1,"offsets":[]},
    "stable":{"outcome":"pass","evidence":"","jumps":0,"freezes":0},
    "counts":{"outcome":"pass","evidence":""},
    "declared":{"outcome":"pass","evidence":""},
    "read_path":{"outcome":"pass","evidence":""}}"#;

#[test]
fn compares_answers_about_trust() {
    let old = report(vec![
        trusted(timer("a", 45.0, 20.0), &["monotonic"]),
        trusted(timer("b", 40.0, 20.0), &[]),
    ]);
    let new = report(vec![
        trusted(timer("a", 45.0, 20.0), &[]),
        trusted(timer("b", 40.0, 20.0), &["monotonic", "read path"]),
    ]);
    let comparison = compared(&old, &new).unwrap();
    let found: Vec<(&str, Question, ChangeVerdict)> = comparison
        .answers
        .iter()
        .map(|answer| (answer.timer.as_str(), answer.question, answer.verdict))
        .collect();
    assert_eq!(
        found,
        [
            ("a", Question::Monotonic, ChangeVerdict::Better),
            ("b", Question::Monotonic, ChangeVerdict::Worse),
            ("b", Question::ReadPath, ChangeVerdict::Worse),
        ]
    );
    for text in [table(&comparison), markdown(&comparison)] {
        assert!(
            text.contains("pass → fail") && text.contains("evidence on read path"),
            "{text}"
        );
    }
    for (condition, decision) in [
        (
            "trust<0",
            Decision::Holds("b monotonic, b read path".into()),
        ),
        ("trust[a]<0", Decision::Fails),
    ] {
        assert_eq!(decide(condition, &comparison), decision, "{condition}");
    }
    let older = report(vec![timer("a", 45.0, 20.0)]);
    let unasked = compared(&older, &new).unwrap();
    assert!(
        open("trust<0", &unasked).is_some(),
        "the condition is open, because the old report did not ask"
    );
    assert!(
        compared(&older, &new).unwrap().answers.is_empty(),
        "a question that was not asked has no answer"
    );
}

#[test]
fn untested_answer_is_no_change() {
    let report_with = |outcome: Outcome| {
        let mut row = trusted(timer("a", 45.0, 20.0), &[]);
        if let Some(verdicts) = &mut row.verdicts {
            verdicts.stable.outcome = outcome;
        }
        report(vec![row])
    };
    let changed = |old, new| {
        compared(&report_with(old), &report_with(new))
            .unwrap()
            .answers
            .len()
    };
    assert_eq!(changed(Outcome::Pass, Outcome::NotTested), 0);
    assert_eq!(changed(Outcome::NotTested, Outcome::Pass), 0);
    assert_eq!(changed(Outcome::NotTested, Outcome::Fail), 1);
    assert_eq!(changed(Outcome::Fail, Outcome::NotTested), 1);
    let runs = |outcomes: [Outcome; 3]| outcomes.map(report_with);
    let (old, new) = (
        runs([Outcome::Pass; 3]),
        runs([Outcome::Fail, Outcome::Pass, Outcome::NotTested]),
    );
    let [before, after] = [&old, &new].map(|side| side.iter().collect::<Vec<&Report>>());
    let comparison = Comparison::between(&before, &after).unwrap();
    assert_eq!(
        comparison.answers.len(),
        1,
        "of equally frequent answers, the more severe one counts"
    );
}
