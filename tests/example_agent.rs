//! Tests that the client can use the example agent `examples/agents/minimal.py`. Skipped without
//! Python.

use std::cell::RefCell;
use std::process::{Command as Process, Stdio};
use std::rc::Rc;
use std::time::Duration;

use timermeter::hosts::connection::Connection;
use timermeter::hosts::hosted::subject;
use timermeter::hosts::process::Command;
use timers::Fault;

use crate::skipping;

const AGENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/agents/minimal.py");

#[test]
fn example_answers_mandatory_questions() {
    let python = Process::new("python3")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !python.is_ok_and(|status| status.success()) {
        skipping::not_installed(
            "there is no `python3`",
            "install Python 3.8 or later, as in `apt install python3`",
        );
        return;
    }
    let command = Command::new("minimal", "python3", vec![AGENT.into()]);
    let connection = Connection::start(&command, None, Duration::from_secs(60));
    let connection = Rc::new(RefCell::new(
        connection.unwrap_or_else(|fault| panic!("{fault}")),
    ));
    let hello = connection.borrow().hello().clone();
    let reference = hello
        .timers
        .iter()
        .find(|timer| timer.reference)
        .expect("a reference")
        .id
        .clone();
    for timer in &hello.timers {
        let mut clock = subject(&connection, &timer.id);
        let rows = clock.intervals(&[0, 10, 20], 5).expect("rows");
        assert!(
            rows.len() == 3 && rows.iter().all(|row| row.len() == 5),
            "{}",
            timer.id
        );
        for calls in [0, 4] {
            let batches = clock.batches(&reference, calls, 7).expect("batches");
            assert!(
                batches.len() == 7 && batches.iter().all(|&batch| batch >= 0),
                "{}",
                timer.id
            );
        }
        assert_eq!(
            clock.readings(3).map(|readings| readings.len()),
            Ok(3),
            "{}",
            timer.id
        );
    }
    // The agent refuses an unknown timer and continues to answer.
    let mut unknown = subject(&connection, "no such clock");
    assert!(matches!(unknown.readings(1), Err(Fault::Refused(_))));
    assert_eq!(
        subject(&connection, &reference)
            .readings(1)
            .map(|readings| readings.len()),
        Ok(1)
    );
}
