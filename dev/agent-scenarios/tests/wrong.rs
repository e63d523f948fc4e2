//! Agents that are wrong in ways that one question a timer does not show.

#![cfg(unix)]

use std::time::Duration;

use agent_scenarios::{Finding, Verdict, check};
use timermeter::hosts::process::Command;

fn checked(script: &str) -> Vec<Finding> {
    let command = Command::new("sh", "sh", vec!["-c".into(), script.into()]);
    check(&command, Duration::from_secs(10))
}

fn failed(findings: &[Finding], question: &str) -> bool {
    let finding = findings.iter().find(|finding| finding.question == question);
    let finding = finding.unwrap_or_else(|| panic!("{question} is not asked: {findings:?}"));
    matches!(finding.verdict, Verdict::Fail { .. })
}

#[test]
fn three_readings_whatever_is_asked() {
    let findings = checked(
        r#"read -r x
        echo '{"protocol":1,"runtime":{"name":"sh","version":"1"},"timers":[{"id":"a","label":"A","reference":true}],"ops":["intervals","batches","readings"]}'
        while read -r x; do echo '{"values":[1,2,3]}'; done"#,
    );
    assert!(
        !failed(&findings, "hello") && !failed(&findings, "readings of a"),
        "{findings:?}"
    );
    assert!(
        failed(&findings, "count 0") && failed(&findings, "two requests at once"),
        "{findings:?}"
    );
    assert!(
        failed(&findings, "JSON that is no object") && !failed(&findings, "end of input"),
        "{findings:?}"
    );
}

#[test]
fn waits_by_missing_clock() {
    let findings = checked(
        r#"hello='{"protocol":1,"runtime":{"name":"sh","version":"1"},"timers":[{"id":"a","label":"A","ns_per_tick":1,"reference":true}],"ops":["waits"],"waiters":[{"id":"early","label":"E","ops":["waits"]}]}'
        while read -r request; do case "$request" in
            *hello*) echo "$hello";;
            *readings*'"a"'*) echo '{"values":[1]}';;
            *waits*'"early"'*) echo '{"values":[0,1,2,-1,-1,1,1,2,-1,-1,0,1,2,-1,-1,1,1,2,-1,-1,0,1,2,-1,-1,1,1,2,-1,-1,0,1,2,-1,-1,1,1,2,-1,-1]}';;
            *) echo '{"error":"no"}';;
        esac; done"#,
    );
    let early = "waits of early (4 of 4 returned before their time, as some timers do)";
    assert!(
        failed(&findings, "hello: ops") && !failed(&findings, early),
        "{findings:?}"
    );
    assert!(
        failed(&findings, "waits of a reference it does not have"),
        "{findings:?}"
    );
    assert!(
        !failed(&findings, "waits of a timer it does not have"),
        "{findings:?}"
    );
}
