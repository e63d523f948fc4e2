//! Tests of the agents of all installed runtimes; tests of other runtimes are skipped with a
//! message.

mod answers;
mod cuda;
mod loops;
mod protocol;
mod waits;

use std::time::Duration;

use tempfile::TempDir;
use timermeter::agents::children::this_program;
use timermeter::agents::connection::{Connection, SharedConnection};
use timermeter::agents::process::AgentCommand;
use timermeter::agents::runtimes::{self, PreparedAgent};
use timers::agents::{RUNTIMES, runtime};

use answers::check_answers;
use loops::{check_calls, check_reads};
pub use protocol::assert_protocol;
use waits::check_waits;

use crate::program::program;
use crate::skipping::{lacks, not_installed, skipped};

/// The time that an agent has for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// The runtimes that `.ci/run` installs. It fails without them; `.ci/runtimes` tests the
/// others.
const REQUIRED: [&str; 2] = ["dotnet", "python"];

/// Builds the agents of a runtime in a temporary folder; `None` if the runtime is not installed.
fn prepare(name: &str) -> Option<(TempDir, Vec<PreparedAgent>)> {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(name).unwrap();
    match runtimes::prepare(runtime, folder.path()) {
        Ok(hosts) => Some((folder, hosts.into_iter().map(use_built_program).collect())),
        Err(why) => {
            let missing = format!("{name}: {why}");
            if REQUIRED.contains(&name) {
                not_installed(missing, runtime.remedy);
            } else {
                skipped(missing, runtime.remedy);
            }
            None
        }
    }
}

/// Replaces the path of this test by the path of the program under test, which is the host of
/// browsers.
fn use_built_program(mut host: PreparedAgent) -> PreparedAgent {
    let (own, _) = this_program().unwrap();
    if host.command.program == own {
        host.command.program = program().into();
    }
    host
}

/// Starts an agent with all timers of the runtime, or with a single one.
fn start(host: &PreparedAgent, timer: Option<&str>) -> SharedConnection {
    let mut command = host.command.clone();
    // Agents of this program that have declarations accept no ids.
    if command.declarations.is_none() {
        command.args.extend(timer.map(Into::into));
    }
    let connection = Connection::start(&command, None, PATIENCE);
    let connection = connection.unwrap_or_else(|fault| panic!("{}: {fault}", host.prefix));
    connection.share()
}

/// The ids of the reference of an agent and of all its timers except the floor.
fn timers(connection: &SharedConnection) -> (String, Vec<String>) {
    let hello = connection.borrow().hello().clone();
    let reference = hello.timers.iter().find(|timer| timer.reference);
    let reference = reference.unwrap().id.clone();
    let ids = hello.timers.into_iter().map(|timer| timer.id);
    let ids = ids.filter(|id| id != timers::FLOOR_ID);
    (reference, ids.collect())
}

/// Makes all checks on all agents of a runtime.
fn check_runtime(name: &str) {
    let Some((_folder, hosts)) = prepare(name) else {
        return;
    };
    for host in &hosts {
        check_calls(host);
        check_reads(host);
        check_waits(host);
        check_answers(host);
        assert_protocol(&host.command);
    }
}

const COMMON: [&str; 4] = ["java", "dotnet", "python", "node"];

#[test]
#[ignore = "long"]
fn common_agents_pass_checks() {
    COMMON.into_iter().for_each(check_runtime);
}

/// `.ci/runtimes` installs all of these runtimes.
#[test]
#[ignore = "run by .ci/runtimes"]
fn all_other_agents_pass_checks() {
    let others = RUNTIMES.iter().map(|runtime| runtime.name);
    let others = others.filter(|name| !COMMON.contains(name));
    others.for_each(check_runtime);
}

#[test]
fn example_agents_speak_protocol() {
    for (program, agent) in [
        ("python3", "short.py"),
        ("python3", "minimal.py"),
        ("perl", "clocks.pl"),
    ] {
        if lacks(program, program) {
            continue;
        }
        let path = format!("{}/examples/agents/{agent}", env!("CARGO_MANIFEST_DIR"));
        assert_protocol(&AgentCommand::new(agent, program, vec![path.into()]));
    }
}

#[test]
fn missing_java_counter_has_remedy() {
    let Some((folder, hosts)) = prepare("java") else {
        return;
    };
    let class = folder.path().join("java/0/0/HighResCounter.class");
    if class.exists() {
        std::fs::remove_file(class).unwrap();
    }
    let hello = start(&hosts[0], None).borrow().hello().clone();
    let is_it = |id: &str| id == "highResCounter";
    assert!(!hello.timers.iter().any(|timer| is_it(&timer.id)));
    let mut missing = hello.unavailable.iter();
    let missing = missing.find(|missing| is_it(&missing.timer.id));
    let missing = missing.unwrap();
    assert!(missing.reason.contains("jdk.internal.perf"), "{missing:?}");
    let remedy = missing.remedy.as_deref().unwrap_or_default();
    assert!(remedy.contains("--add-exports"), "{missing:?}");
}
