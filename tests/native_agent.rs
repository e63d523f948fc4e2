//! Tests `timermeter agent`, a child process that speaks the agent protocol.

use std::cell::RefCell;
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::time::Duration;

use assert_cmd::assert::OutputAssertExt;
use predicates::str::contains;
use timermeter::hosts::connection::Connection;
use timermeter::hosts::hosted::subject;
use timermeter::hosts::process::AgentCommand;
use timers::{Activity, Fault};

use crate::program::{command, program};
use crate::runtimes::assert_protocol;

fn start(args: &[&str]) -> Rc<RefCell<Connection>> {
    let args = ["agent"].iter().chain(args).map(Into::into).collect();
    let command = AgentCommand::new("native", program(), args);
    let connection = Connection::start(&command, None, Duration::from_secs(60));
    Rc::new(RefCell::new(
        connection.unwrap_or_else(|fault| panic!("{fault}")),
    ))
}

#[test]
fn serves_whole_catalogue() {
    let connection = start(&[]);
    let hello = connection.borrow().hello().clone();
    assert_eq!(hello.runtime.name, "native");
    let missing = hello.unavailable.iter();
    let missing = missing.filter(|missing| missing.timer.ops.is_empty());
    let clocks = hello.timers.len() + missing.count();
    assert_eq!(clocks, timers::catalogue().len() + 1);
    let mut monotonic = subject(&connection, "monotonic");
    for during in [Activity::Spin, Activity::Sleep, Activity::OtherSpin] {
        let moved = monotonic
            .advance("monotonic", during, 2)
            .expect("the agent answers `advance`");
        assert!(
            moved.timer >= 2_000_000 && moved.reference >= 2_000_000,
            "{during:?}: {moved:?}"
        );
    }
    assert_eq!(
        monotonic.handoffs(&[], 10).map(|rows| rows[0].len()),
        Ok(10)
    );
}

#[test]
fn follows_agent_protocol() {
    let agent = AgentCommand::new("native", program(), vec!["agent".into()]);
    assert_protocol(&agent);
}

#[test]
fn serves_named_timers_on_cpu() {
    let cpu = timers::allowed_cpus().expect("a CPU is allowed")[0];
    let connection = start(&["--cpu", &cpu.to_string(), "real*", "instant"]);
    let hello = connection.borrow().hello().clone();
    let serves = |id: &str| hello.timers.iter().any(|timer| timer.id == id);
    let asked = ["realtime", "instant", "null", "boottime"];
    assert_eq!(asked.map(serves), [true, true, true, false]);
    let refused = subject(&connection, "boottime").readings(1);
    let why = "the timer `boottime` is not served here";
    assert_eq!(refused, Err(Fault::Refused(why.into())));
    let readings = subject(&connection, "instant").readings(2);
    assert_eq!(readings.map(|readings| readings.len()), Ok(2));
}

#[test]
fn exits_with_0_on_closed_pipe() {
    let hello = r#"{"op":"hello","protocol":1}"#;
    let pipeline = format!(
        "{{ while echo '{hello}'; do :; done; }} 2>&- | {{ \"$0\" agent null; echo $? >&2; }} | head -1"
    );
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &pipeline, program()])
        .assert()
        .stderr("0\n");
}

#[test]
fn reports_wrong_arguments() {
    for (line, status, words) in [
        ("agent monotonc", 2, "`monotonc`; did you mean `monotonic`"),
        ("agent --cpu 999999", 1, "this machine has no CPU 999999"),
    ] {
        let mut agent = command(line);
        let ended = agent.stdin(Stdio::null()).assert();
        ended.code(status).stderr(contains(words));
    }
}
