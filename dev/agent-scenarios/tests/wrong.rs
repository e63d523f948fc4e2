//! Tests the checks on agents with faults that a single valid question for each timer does not
//! reveal.

#![cfg(unix)]

use std::time::Duration;

use agent_scenarios::{Finding, Verdict, check};
use timermeter::hosts::process::Command;

/// Runs all checks on an agent that is a shell script.
fn check_script(script: &str) -> Vec<Finding> {
    let command = Command::new("sh", "sh", vec!["-c".into(), script.into()]);
    check(&command, Duration::from_secs(10))
}

/// Whether the check of this question failed.
fn has_failed(findings: &[Finding], question: &str) -> bool {
    let finding = findings.iter().find(|finding| finding.question == question);
    let finding = finding.unwrap_or_else(|| panic!("{question} was not checked: {findings:?}"));
    matches!(finding.verdict, Verdict::Fail { .. })
}

#[test]
fn detects_constant_answers() {
    let findings = check_script(
        r#"read -r x
        echo '{"protocol":1,"runtime":{"name":"sh","version":"1"},"timers":[{"id":"a","label":"A","reference":true}],"ops":["intervals","batches","readings"]}'
        while read -r x; do echo '{"values":[1,2,3]}'; done"#,
    );
    assert!(
        !has_failed(&findings, "hello") && !has_failed(&findings, "readings of a"),
        "{findings:?}"
    );
    assert!(
        has_failed(&findings, "count 0") && has_failed(&findings, "two requests at once"),
        "{findings:?}"
    );
    assert!(
        has_failed(&findings, "JSON that is not an object")
            && !has_failed(&findings, "end of input"),
        "{findings:?}"
    );
}

#[test]
fn detects_accepted_missing_reference() {
    let findings = check_script(
        r#"hello='{"protocol":1,"runtime":{"name":"sh","version":"1"},"timers":[{"id":"a","label":"A","ns_per_tick":1,"reference":true}],"ops":["waits"],"waiters":[{"id":"early","label":"E","ops":["waits"]}]}'
        while read -r request; do case "$request" in
            *hello*) echo "$hello";;
            *readings*'"a"'*) echo '{"values":[1]}';;
            *waits*'"early"'*) echo '{"values":[0,1,2,-1,-1,1,1,2,-1,-1,0,1,2,-1,-1,1,1,2,-1,-1,0,1,2,-1,-1,1,1,2,-1,-1,0,1,2,-1,-1,1,1,2,-1,-1]}';;
            *) echo '{"error":"no"}';;
        esac; done"#,
    );
    let early = "waits of early (4 of 4 returned early, which is allowed)";
    assert!(
        has_failed(&findings, "hello: ops") && !has_failed(&findings, early),
        "{findings:?}"
    );
    assert!(
        has_failed(&findings, "waits of a reference it does not have"),
        "{findings:?}"
    );
    assert!(
        !has_failed(&findings, "waits of a timer it does not have"),
        "{findings:?}"
    );
}
