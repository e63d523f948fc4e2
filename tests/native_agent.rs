//! Tests `timermeter agent`, a child process that speaks the agent protocol.

use std::process::Command;
use std::time::Duration;

use assert_cmd::assert::OutputAssertExt;
use timermeter::agents::connection::{Connection, SharedConnection};
use timermeter::agents::process::AgentCommand;
use timermeter::agents::subject::subject;
use timers::Fault;

use crate::program::program;
use crate::runtimes::assert_protocol;

fn start(args: &[&str]) -> SharedConnection {
    let args = ["agent"].iter().chain(args).map(Into::into).collect();
    let command = AgentCommand::new("native", program(), args);
    let connection = Connection::start(&command, None, Duration::from_secs(60));
    let connection = connection.unwrap_or_else(|fault| panic!("{fault}"));
    connection.share()
}

#[test]
fn serves_whole_catalogue() {
    let agent = AgentCommand::new("native", program(), vec!["agent".into()]);
    assert_protocol(&agent);
    let hello = start(&[]).borrow().hello().clone();
    let missing = hello.unavailable.iter();
    let missing = missing.filter(|missing| missing.timer.ops.is_empty());
    let clocks = hello.timers.len() + missing.count();
    assert_eq!(clocks, timers::catalogue().len());
}

#[test]
fn serves_named_timers_on_cpu() {
    let cpu = timers::allowed_cpus().unwrap()[0];
    let connection = start(&["--cpu", &cpu.to_string(), "real*", "instant"]);
    let hello = connection.borrow().hello().clone();
    let serves = |id: &str| hello.timers.iter().any(|timer| timer.id == id);
    let asked = ["realtime", "instant", "null", "boottime"];
    assert_eq!(asked.map(serves), [true, true, false, false]);
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
        "{{ while echo '{hello}'; do :; done; }} 2>&- | {{ \"$0\" agent instant; echo $? >&2; }} | head -1"
    );
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &pipeline, program()])
        .assert()
        .stderr("0\n");
}
