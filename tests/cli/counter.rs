//! `check --counter` on this machine.

use super::{json, run};

#[test]
#[ignore = "takes ten seconds"]
fn answers_whether_the_counter_may_be_read() {
    let assert = run("check --counter --format json");
    let status = assert.get_output().status.code();
    if status == Some(1) {
        return; // No program may read it here.
    }
    let answer = json(&assert);
    let findings = answer["findings"].as_array().unwrap();
    assert_eq!(findings[0]["code"], "counter");
    let verdict = answer["verdict"].as_str();
    let is_readable = matches!(verdict, Some("safe" | "until-moved"));
    assert_eq!(status, Some(if is_readable { 0 } else { 3 }), "{answer}");
    assert!(
        !is_readable || answer["hz"]["value"].is_number(),
        "{answer}"
    );
}
