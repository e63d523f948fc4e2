//! Agents whose sleep primitives give invalid replies.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::super::folder::Folder;
use super::super::{json, timermeter};
use super::{row, run_wait};
use crate::skipping::not_installed;

/// Writes the example agent with invalid timers: one hangs, two send replies of the wrong length,
/// one reports waits of centuries. Returns the value of `--agent`; `None` if Python is not
/// installed.
fn invalid_agent(folder: &Folder) -> Option<String> {
    let python = Command::new("python3")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !python.is_ok_and(|status| status.success()) {
        not_installed(
            "there is no `python3`",
            "install Python 3.8 or later, as in `apt install python3`",
        );
        return None;
    }
    let example = include_str!("../../../examples/agents/minimal.py");
    let waiters = r#"WAITERS = {"sleep": time.sleep, "hangs": None, "few": None, "short": None, "long": None}"#;
    let replies = r#"        if request["timer"] != "sleep":
            if request["timer"] == "hangs":
                time.sleep(1000)
            if request["timer"] == "few":
                return {"values": []}
            wrong = [1] if request["timer"] == "short" else [0, 9 * 10**18, 5, -1]
            indices = range(len(request["request_ns"]))
            return {"values": [value for _ in range(request["repeat"]) for at in indices for value in [at, *wrong]]}
        sleep, reference"#;
    let text = example
        .replace(r#"WAITERS = {"sleep": time.sleep}"#, waiters)
        .replace("        sleep, reference", replies);
    assert!(
        text.contains(waiters) && text.contains(replies),
        "the example changed"
    );
    let path = folder.arg("invalid.py");
    fs::write(&path, text).unwrap();
    Some(format!("py=python3 {path}"))
}

#[test]
fn invalid_agents_leave_others_intact() {
    let folder = Folder::new();
    let Some(agent) = invalid_agent(&folder) else {
        return;
    };
    let args = [
        "nanosleep",
        "py:*",
        "--agent",
        &agent,
        "--agent",
        "gone=/no/such/program",
        "--timeout",
        "4",
    ];
    let (found, run) = run_wait(&args, 3);
    assert!(run.get_output().stderr.is_empty());
    for id in ["nanosleep", "py:sleep"] {
        assert_eq!(row(&found, id)["status"], "ok", "{}", row(&found, id));
    }
    for (id, words) in [
        ("py:hangs", "did not answer `waits` in time (4 s"),
        ("py:few", "malformed reply to `waits`"),
        ("py:short", "malformed reply to `waits`: there are"),
        ("py:long", "a wait that is impossible"),
        ("gone:*", "cannot start"),
    ] {
        let row = row(&found, id);
        assert_eq!(
            (&row["status"], &row["figures"]),
            (&"failed".into(), &Value::Null),
            "{row}"
        );
        assert!(
            row["reason"]
                .as_str()
                .is_some_and(|reason| reason.contains(words)),
            "{row}"
        );
    }
    let listed =
        json(&timermeter(&["list", "--format", "json", "--agent", &agent, "py:*"]).success());
    let waits = listed
        .as_array()
        .unwrap()
        .iter()
        .filter(|timer| timer["kind"] == "waits")
        .count();
    assert_eq!(waits, 5, "{listed}");
}
