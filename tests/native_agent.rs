//! Tests `timermeter agent`, a child process that speaks the agent protocol.

use std::cell::RefCell;
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::time::Duration;

use timermeter::hosts::connection::Connection;
use timermeter::hosts::hosted::subject;
use timermeter::hosts::process::AgentCommand;
use timers::{Activity, Fault};

use crate::program::program;
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
    let missing_clocks = hello
        .unavailable
        .iter()
        .filter(|missing| missing.timer.ops.is_empty())
        .count();
    assert_eq!(
        hello.timers.len() + missing_clocks,
        timers::catalogue().len() + 1
    );
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
    assert_protocol(&AgentCommand::new(
        "native",
        program(),
        vec!["agent".into()],
    ));
}

#[test]
fn serves_named_timers_on_cpu() {
    let cpu = timers::allowed_cpus().expect("a CPU is allowed")[0];
    let connection = start(&["--cpu", &cpu.to_string(), "real*", "instant"]);
    let ids: Vec<String> = connection
        .borrow()
        .hello()
        .timers
        .iter()
        .map(|timer| timer.id.clone())
        .collect();
    assert!(
        ids.contains(&"realtime".into())
            && ids.contains(&"instant".into())
            && ids.contains(&"null".into())
    );
    assert!(!ids.contains(&"boottime".into()));
    let refused = subject(&connection, "boottime").readings(1);
    assert_eq!(
        refused,
        Err(Fault::Refused(
            "the timer `boottime` is not served here".into()
        ))
    );
    assert_eq!(
        subject(&connection, "instant")
            .readings(2)
            .map(|readings| readings.len()),
        Ok(2)
    );
}

#[test]
fn exits_with_0_on_closed_pipe() {
    let hello = r#"{"op":"hello","protocol":1}"#;
    let pipeline = format!(
        "{{ while echo '{hello}'; do :; done; }} 2>&- | {{ \"$0\" agent null; echo $? >&2; }} | head -1"
    );
    let output = Command::new("sh")
        .args(["-c", &pipeline, program()])
        .output()
        .expect("a shell starts");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "0\n");
}

#[test]
fn reports_wrong_arguments() {
    let run = |args: &[&str]| {
        let output = Command::new(program())
            .args(args)
            .stdin(Stdio::null())
            .output()
            .expect("the agent starts");
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    let (status, text) = run(&["agent", "monotonc"]);
    assert_eq!(status, Some(2), "{text}");
    assert!(
        text.contains("no timer is called `monotonc`; did you mean `monotonic`"),
        "{text}"
    );
    let (status, text) = run(&["agent", "--cpu", "999999"]);
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("this machine has no CPU 999999"), "{text}");
}
