//! Tests the agent of examples/agents/cuda: with a C++ compiler and a stand-in for the device, and whether `nvcc` accepts it.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;
use timermeter::agents::connection::{Connection, SharedConnection};
use timermeter::agents::process::AgentCommand;
use timermeter::agents::subject::{compare_in_rounds, subject};
use timers::{Activity, Fault};

use super::{PATIENCE, assert_protocol};
use crate::skipping::{lacks, not_installed};

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/agents/cuda");
/// The step of `%globaltimer` and of events in the stand-in, in nanoseconds.
const STEP_NS: i64 = 32;
/// By how much `%clock64` of a multiprocessor is ahead of that of the previous one in the stand-in.
const AHEAD_CYCLES: i64 = 50_000_000;

/// Compiles the agent by this command; `None` without the compiler.
fn compiled(compiler: &str, flags: &[&str], remedy: &str) -> Option<(TempDir, AgentCommand)> {
    let folder = tempfile::tempdir().unwrap();
    let agent = folder.path().join("agent");
    let source = format!("{SOURCES}/agent.cu");
    let mut command = Command::new(compiler);
    let Ok(ended) = command
        .args(flags)
        .arg(source)
        .arg("-o")
        .arg(&agent)
        .output()
    else {
        not_installed(format!("there is no `{compiler}`"), remedy);
        return None;
    };
    assert!(ended.status.success(), "{ended:?}");
    Some((folder, AgentCommand::new("cuda", agent, Vec::new())))
}

#[test]
fn cuda_agent_answers_on_stand_in() {
    let flags = ["-std=c++17", "-O1", "-pthread", "-Itests/cuda", "-xc++"];
    let remedy = "install it, as in `apt install g++`";
    let Some((_folder, command)) = compiled("g++", &flags, remedy) else {
        return;
    };
    assert_protocol(&command);
    let connection = Connection::start(&command, None, PATIENCE).unwrap();
    let connection = connection.share();
    check_clock_extends(&connection);
    check_host_comparisons(&connection);
    check_places(&connection);
    check_events(&connection);
    check_missing_device(&command);
    check_offset_script(&command);
}

/// The clock of 32 bits continues that of 64 bits, whose upper half is not 0.
fn check_clock_extends(connection: &SharedConnection) {
    let rounds = compare_in_rounds(connection, &["clock"], "clock64", [1, 20], 1000);
    for comparison in rounds.unwrap().concat() {
        let [before, now, after] = comparison.unwrap();
        assert!(before <= now && now <= after && now >> 32 > 0);
    }
    let mut clock = subject(connection, "clock");
    let advance = clock.advance("clock64", Activity::Sleep, 20);
    let advance = advance.unwrap();
    let ahead = advance.timer - advance.reference;
    let is_extended = advance.timer >= 20_000_000 && ahead.abs() < 1 << 31;
    assert!(is_extended, "{advance:?}");
}

/// A reading of the device lies between two of the host.
fn check_host_comparisons(connection: &SharedConnection) {
    let rounds = compare_in_rounds(connection, &["globaltimer"], "realtime", [5, 3], 1000);
    for comparison in rounds.unwrap().concat() {
        let [before, now, after] = comparison.unwrap();
        assert!(
            before - STEP_NS < now && now <= after,
            "{before} {now} {after}"
        );
    }
}

/// Handoffs are between the multiprocessors that the question names.
fn check_places(connection: &SharedConnection) {
    let pairs = [[0, 3], [2, 1]];
    let mut clock = subject(connection, "clock64");
    let handoffs = clock.handoffs(&pairs, 50).unwrap();
    for (pair, handoffs) in pairs.iter().zip(handoffs) {
        let [first, second] = pair.map(i64::from);
        // The first place begins; then the roles alternate.
        let ahead = |turn| (second - first) * AHEAD_CYCLES * if turn % 2 == 0 { 1 } else { -1 };
        let mut least = [i64::MAX; 2];
        for (turn, [a, b]) in handoffs.into_iter().enumerate() {
            assert!(b - a >= ahead(turn), "{pair:?}: {a} {b}");
            least[turn % 2] = least[turn % 2].min(b - a - ahead(turn));
        }
        assert!(
            least.iter().max() < Some(&AHEAD_CYCLES),
            "{pair:?}: {least:?}"
        );
    }
    for pairs in [[[0, 4], [1, 2]], [[0, 1], [1, 2]], [[2, 2], [0, 1]]] {
        let refused = clock.handoffs(&pairs, 4);
        assert!(matches!(refused, Err(Fault::Refused(_))), "{refused:?}");
    }
}

/// Floats of milliseconds become whole ticks without rounding: times are multiples of the step.
fn check_events(connection: &SharedConnection) {
    let hello = connection.borrow().hello().clone();
    let event = hello.timers.iter().find(|timer| timer.id == "event");
    let ns_per_tick = event.and_then(|event| event.ns_per_tick).unwrap();
    let mut event = subject(connection, "event");
    let rows = event.intervals(&[0, 100_000], 40).unwrap();
    let times = rows
        .concat()
        .into_iter()
        .map(|ticks| ticks as f64 * ns_per_tick);
    let times: Vec<f64> = times.collect();
    assert!(times.iter().any(|ns| *ns > 32.0));
    for ns in times {
        // A float has 24 bits.
        let off = ns - (ns / STEP_NS as f64).round() * STEP_NS as f64;
        assert!(off.abs() <= ns * 6e-8, "{ns}");
    }
    let rounds = compare_in_rounds(connection, &["event"], "globaltimer", [2, 3], 10);
    assert!(rounds.is_ok_and(|rounds| rounds.concat().iter().all(Option::is_some)));
}

fn check_missing_device(command: &AgentCommand) {
    let arguments = vec!["CUDA_VISIBLE_DEVICES=".into(), command.program.clone()];
    let command = AgentCommand::new("cuda", "env", arguments);
    let connection = Connection::start(&command, None, PATIENCE).unwrap();
    let hello = connection.hello();
    assert!(hello.timers.is_empty() && hello.waiters.is_empty());
    let ids: Vec<_> = hello.unavailable.iter().map(|one| &one.timer.id).collect();
    assert_eq!(ids, ["globaltimer", "clock64", "clock", "event", "null"]);
    for one in &hello.unavailable {
        assert!(one.reason.contains("no CUDA-capable device"), "{one:?}");
        assert!(one.remedy.as_ref().is_some_and(|remedy| !remedy.is_empty()));
    }
}

/// The offset of the stand-in is between minus one step and 0.
fn check_offset_script(command: &AgentCommand) {
    if lacks("python3", "python3") {
        return;
    }
    let mut script = Command::new("python3");
    script.arg(format!("{SOURCES}/offset.py"));
    let output = script.arg(&command.program).arg("3").output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let is_true = |line: &str| {
        let (_, bounds) = line.strip_suffix(" ns")?.split_once("realtime = ")?;
        let (least, most) = bounds.split_once(" to ")?;
        Some(least.parse::<i64>().ok()? <= 0 && most.parse::<i64>().ok()? >= -STEP_NS)
    };
    let found: Vec<bool> = printed.lines().filter_map(is_true).collect();
    assert_eq!(found, [true; 3], "{output:?}");
    assert!(printed.contains("drift -"), "{output:?}");
}

/// `.ci/runtimes` installs the compiler in target/cuda.
#[test]
#[ignore = "run by .ci/runtimes"]
fn cuda_agent_compiles_with_nvcc() {
    let installed = "target/cuda/nvidia/cu13/bin/nvcc";
    let is_installed = Path::new(installed).exists();
    let nvcc = if is_installed { installed } else { "nvcc" };
    let remedy = "run .ci/runtimes, which installs it";
    let flags = ["-O3", "-std=c++17", "-arch=native"];
    let Some((_folder, command)) = compiled(nvcc, &flags, remedy) else {
        return;
    };
    // Without a device its timers are unavailable, with the reason.
    let connection = Connection::start(&command, None, PATIENCE).unwrap();
    let hello = connection.hello();
    assert_eq!(hello.timers.len() + hello.unavailable.len(), 5, "{hello:?}");
}
