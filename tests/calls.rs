//! What a run asks for: processes and questions are counted, not their time. Windows that something
//! disturbed are asked for again, so that questions of batches and readings are not counted.

#![cfg(unix)]

use std::fs;
use std::time::Duration;

use timermeter::campaign::clocks::{Host, Settings, Subject, run};
use timermeter::campaign::sampling::Plan;
use timermeter::hosts::connection::Connection;
use timermeter::hosts::process::Command;

use crate::program::program;

const TIMERS: [&str; 3] = ["monotonic", "realtime", "instant"];

/// The host of our own timers, with a word in a file for each process that is started, and all that
/// it is asked.
fn host(folder: &std::path::Path) -> Host {
    let script = format!(
        "echo started >> '{0}'; tee -a '{0}' | '{1}' agent \"$@\"",
        folder.join("asked").display(),
        program()
    );
    let args = ["-c", &script, "sh"].map(Into::into).to_vec();
    let command = Command::new("counted", "sh", args);
    let mut once = command.clone();
    once.args.extend(TIMERS.map(Into::into));
    let connection =
        Connection::start(&once, None, Duration::from_secs(60)).expect("it introduces itself");
    let timers = connection.hello().timers.clone();
    drop(connection);
    fs::remove_file(folder.join("asked")).expect("it was written");
    Host {
        command,
        takes_ids: true,
        timers,
        waiters: Vec::new(),
        compares: true,
        answers_for_many: true,
        log: None,
    }
}

#[test]
fn campaign_asks_only_its_plan() {
    let folder = tempfile::tempdir().expect("a folder");
    let hosts = [host(folder.path())];
    let timer = |id: &str| {
        hosts[0]
            .timers
            .iter()
            .find(|timer| timer.id == id)
            .expect("it is hosted")
            .clone()
    };
    let mut subjects: Vec<Subject> = TIMERS.iter().map(|id| Subject::new(0, timer(id))).collect();
    let plan = Plan {
        budget_s: 1e6,
        ..Plan::QUICK
    };
    let settings = Settings {
        plan,
        seed: 1,
        cpu: None,
        timeout: Duration::from_secs(60),
    };
    run(&hosts, &mut subjects, &settings, &|_| {}).expect("nothing interrupts it");
    let asked = fs::read_to_string(folder.path().join("asked")).expect("it was written");
    let count = |what: &str| asked.lines().filter(|line| line.contains(what)).count() as u32;
    let timers = TIMERS.len() as u32;
    let own = timers * plan.processes;
    // One finds the reference, one may watch its rate, and one tells of all timers whether they can
    // be trusted.
    let processes = own + plan.brief + 3;
    let started = asked.lines().filter(|line| *line == "started").count() as u32;
    assert!(
        started <= processes,
        "{started} processes, where {processes} do"
    );
    // After each process one look, after those of one round one more, and then a series.
    let looks = own + plan.brief + timers + 1;
    let joint = |line: &&str| {
        let request: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
        request["op"] == "comparisons" && request["timers"].as_array().map_or(0, Vec::len) > 1
    };
    let joint = asked.lines().filter(joint).count() as u32;
    assert!(joint <= looks, "{joint} looks, where {looks} do");
    let whole = timers * plan.brief;
    assert!(
        count("\"calls\",") >= whole,
        "a brief process is asked one question a timer"
    );
    // Computing, asleep, and beside a busy thread; and for the rate of a raw reference.
    assert!(
        count("\"op\":\"advance\"") <= 6,
        "{} windows",
        count("\"op\":\"advance\"")
    );
    assert_eq!(
        subjects
            .iter()
            .filter(|subject| subject.outcome.is_ok())
            .count(),
        TIMERS.len()
    );
}
