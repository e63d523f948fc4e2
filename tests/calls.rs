//! Tests that a campaign starts no more processes and sends no more questions than its plan.
//! Questions for batches and readings are not counted, because they are repeated if a measurement
//! is disturbed.

#![cfg(unix)]

use std::fs;
use std::time::Duration;

use timermeter::agents::agent::Agent;
use timermeter::agents::connection::Connection;
use timermeter::agents::process::AgentCommand;
use timermeter::campaign::clocks::run;
use timermeter::plan::Plan;

use crate::program::program;

const PATIENCE: Duration = Duration::from_secs(60);
const TIMERS: [&str; 3] = ["monotonic", "realtime", "instant"];

/// Returns the host of native timers. It records in the file `asked` of `folder` a line `started`
/// for each of its processes, and each request.
fn recording_host(folder: &std::path::Path) -> Agent {
    let script = format!(
        "echo started >> '{0}'; tee -a '{0}' | '{1}' agent \"$@\"",
        folder.join("asked").display(),
        program()
    );
    let args = ["-c", &script, "sh"].map(Into::into).to_vec();
    let command = AgentCommand::new("counted", "sh", args);
    let mut with_ids = command.clone();
    with_ids.args.extend(TIMERS.map(Into::into));
    let connection = Connection::start(&with_ids, None, PATIENCE).unwrap();
    let timers = connection.hello().timers.clone();
    drop(connection);
    fs::remove_file(folder.join("asked")).unwrap();
    Agent {
        command,
        takes_ids: true,
        timers,
        compares: true,
        answers_for_many: true,
    }
}

#[test]
fn campaign_stays_within_plan() {
    let folder = tempfile::tempdir().unwrap();
    let agents = [recording_host(folder.path())];
    let timers = agents[0]
        .timers
        .iter()
        .filter(|timer| TIMERS.contains(&&*timer.id));
    let timers: Vec<_> = timers.map(|timer| (0, timer.clone())).collect();
    let plan = Plan {
        budget_s: 1e6,
        timeout: Some(PATIENCE),
        ..Plan::QUICK
    };
    let (clocks, _) = run(&agents, &timers, &plan, &[], &|_| {}).unwrap();
    assert!(clocks.len() == 3 && clocks.iter().all(|clock| clock.outcome.is_ok()));
    let asked = fs::read_to_string(folder.path().join("asked")).unwrap();
    let count = |what: &str| asked.lines().filter(|line| line.contains(what)).count() as u32;
    let timers = TIMERS.len() as u32;
    let full_processes = timers * plan.processes;
    // One process calibrates the reference, one may observe its rate, and one gathers the evidence
    // for the verdicts on all timers.
    let max_processes = full_processes + plan.brief + 3;
    let started = count("started");
    assert!(
        started <= max_processes,
        "{started} processes, but {max_processes} suffice"
    );
    // One comparison of all timers after each process, one more after each process of one round,
    // and one at the end.
    let max_comparisons = full_processes + plan.brief + timers + 1;
    let compares_several = |line: &&str| {
        let request: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
        request["op"] == "comparisons" && request["timers"].as_array().map_or(0, Vec::len) > 1
    };
    let comparisons = asked.lines().filter(compares_several).count() as u32;
    assert!(
        comparisons <= max_comparisons,
        "{comparisons} comparisons, but {max_comparisons} suffice"
    );
    // A brief process answers one question for each timer.
    assert!(count("\"calls\",") >= timers * plan.brief);
    // Each timer is observed while the thread computes, while it sleeps, and while it waits for
    // another thread that computes. The rate of a raw reference needs further questions.
    let advances = count("\"op\":\"advance\"");
    assert!(
        advances <= 6,
        "{advances} questions `advance`, but 6 suffice"
    );
}
