//! Agents that are missing, exit, hang or send malformed replies: each is reported in a row, and
//! all other timers are measured.

use serde_json::{Value, json};

use super::{answer, json, row, run, slowdown};

/// A valid introduction (reply to `hello`) of an agent with one timer.
const HELLO: &str = r#"{"protocol":1,"runtime":{"name":"sh","version":"1"},"timers":[{"id":"a","label":"A","ns_per_tick":1,"reference":true}],"ops":["intervals","batches","readings"]}"#;

/// Checks that the row of a timer has failed, with all of `words` in its reason.
#[track_caller]
fn assert_failed(report: &Value, id: &str, words: &[&str]) {
    let row = row(report, id);
    assert_eq!(row["status"], "failed", "{row}");
    let reason = row["reason"].as_str().unwrap_or_default();
    assert!(
        words.iter().all(|word| reason.contains(word)),
        "`{reason}` does not say {words:?}"
    );
    assert!(row["quality"].is_null() && row["cost"].is_null(), "{row}");
}

/// The flag `--agent` with `NAME=sh -c 'SCRIPT'`; the script must have no single quote.
fn shell_agent(name: &str, script: &str) -> String {
    let agent = format!("{name}=sh -c '{script}'");
    format!("--agent {}", shell_words::quote(&agent))
}

#[test]
fn faults_of_agents_spare_other_timers() {
    let hello = HELLO.replace('"', "\\\"");
    let greets = format!("read -r line; echo \"{hello}\"; read -r line");
    let seconds = 5 * slowdown();
    let too_late = format!("in time ({seconds} s");
    let agents: [(&str, &str, [&str; 2]); 3] = [
        ("gone:*", "", ["cannot start", "/no/such/program"]),
        (
            "dead:*",
            "echo no licence >&2; exit 7",
            ["status 7", "no licence"],
        ),
        ("hangs:a", &format!("{greets}; sleep 1000"), [&too_late, ""]),
    ];
    let mut line = format!("probe --quick -f json --timeout {seconds} monotonic");
    for (id, script, _) in agents {
        let name = id.split(':').next().unwrap_or_default();
        line += &match script {
            "" => format!(" --agent '{name}=/no/such/program -v'"),
            _ => format!(" {id} {}", shell_agent(name, script)),
        };
    }
    let ended = run(&line).code(3);
    let report = json(&ended.stderr(""));
    for (id, _, words) in agents {
        assert_failed(&report, id, &words);
    }
    // On a busy machine its resolution may be unknown, or there may be too much interference.
    let native = row(&report, "monotonic");
    let was_disturbed = native["reason"]
        .to_string()
        .contains("too much interference");
    let is_measured = native["status"] == "ok" || native["status"] == "unresolved";
    assert!(is_measured || was_disturbed, "{native}");
}

#[test]
fn unreadable_agent_timers_keep_rows() {
    let missing = r#","unavailable":[{"id":"b","label":"B","reason":"no such clock","remedy":"buy one"},{"id":"a","label":"A again","reason":"x"}],"ops""#;
    let hello = HELLO.replace(",\"ops\"", missing).replace('"', "\\\"");
    let agent = shell_agent(
        "other",
        &format!("read -r line; echo \"{hello}\"; read -r line"),
    );
    let list = answer(&format!("list -f json {agent} other:*"));
    let timers = list.as_array().unwrap().iter();
    let available = timers.map(|timer| json!([timer["id"], timer["available"]]));
    let reported: Value = available.collect();
    assert_eq!(reported, json!([["other:a", true], ["other:b", false]]));
    let probe = json(&run(&format!("probe -f json {agent} other:b")).code(3));
    let row = row(&probe, "other:b");
    let found = ["status", "reason", "remedy", "runtime"].map(|key| row[key].as_str().unwrap());
    assert_eq!(found, ["unavailable", "no such clock", "buy one", "sh 1"]);
}
