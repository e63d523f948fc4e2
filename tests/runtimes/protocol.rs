//! Checks that an agent follows the protocol.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use timermeter::agents::connection::Connection;
use timermeter::agents::process::AgentCommand;
use timermeter::agents::protocol::{Hello, Op, answers};
use timers::Fault;

use super::PATIENCE;

/// What every agent answers for each of its clocks.
const MANDATORY: [Op; 3] = [Op::Intervals, Op::Batches, Op::Readings];
/// Lines that an agent has to answer with an error.
const INVALID_LINES: &str = r#"{"op":"readings","timer":"no such timer","count":1}
{"op":"no such op"}
{"op":"readings"}
{"op":
"#;

/// Checks that an agent introduces itself, answers an example of each question that it offers and
/// each invalid line, and ends with its input.
pub fn assert_protocol(command: &AgentCommand) {
    let agent = &command.name;
    let connection = Connection::start(command, None, PATIENCE);
    let mut connection = connection.unwrap_or_else(|fault| panic!("{agent}: {fault}"));
    let hello: Hello = connection.hello().clone();
    let mut references = hello.timers.iter().filter(|timer| timer.reference);
    let reference = &references.next().unwrap().id;
    assert_eq!(references.count(), 0, "{agent}: one reference");
    assert!(MANDATORY.iter().all(|op| hello.offers(*op)), "{agent}");
    for &op in &Op::ALL[1..] {
        let timers = hello.timers.iter().chain(&hello.waiters);
        let asked = timers.filter(|timer| match op {
            Op::Waits | Op::Periods => answers(&timer.ops, Some(op)),
            _ if MANDATORY.contains(&op) => answers(&timer.ops, None),
            _ => timer.id == *reference && hello.offers(op),
        });
        for timer in asked {
            match connection.ask(&op.example(&timer.id, reference, 10)) {
                Ok(_) => {}
                Err(Fault::Refused(_)) if timer.ops.is_empty() && !MANDATORY.contains(&op) => {}
                Err(fault) => panic!("{agent}: {} of {}: {fault}", op.name(), timer.id),
            }
        }
    }
    drop(connection);
    let mut process = Command::new(&command.program);
    process.args(&command.args).stdin(Stdio::piped());
    if let Some(surroundings) = &command.surroundings {
        surroundings.apply(&mut process);
    }
    let mut process = process.stdout(Stdio::piped()).spawn().unwrap();
    let mut input = process.stdin.take().unwrap();
    let hello = "{\"op\":\"hello\",\"protocol\":1}\n";
    write!(input, "{hello}{INVALID_LINES}").unwrap();
    // The input stays open, because an agent may end with it at once.
    let output = BufReader::new(process.stdout.take().unwrap());
    let answers: Vec<String> = output.lines().take(5).map(|line| line.unwrap()).collect();
    drop(input);
    let ended = process.wait().unwrap();
    assert!(ended.success(), "{agent}: {ended}");
    let refusals = answers.iter().filter(|line| line.contains("\"error\":"));
    assert_eq!(refusals.count(), 4, "{agent}: {answers:?}");
}
