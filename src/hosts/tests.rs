//! Tests how the client of the agent protocol handles agents that violate the protocol, exit or
//! hang, and that it reads the answers of an agent that implements the protocol.

mod script;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;
use std::{fs, thread};

use crate::hosts::connection::Connection;
use crate::hosts::hosted::subject;
use script::{Script, TIMEOUT, assert_lost};
use timers::{Activity, Advance, Fault};

#[test]
fn missing_cpu_is_reported() {
    let agent = Script::new("ask; echo \"$HELLO\"; ask");
    let fault = Connection::start(&agent.command, Some(999_999), TIMEOUT)
        .err()
        .expect("a fault");
    assert_lost(&fault, &["cannot start `sh`", "999999"]);
    assert!(
        !agent.folder.path().join("pid").exists(),
        "the agent was started"
    );
}

#[test]
fn agent_killed_by_signal() {
    let agent = Script::new("ask; echo \"$HELLO\"; ask; kill -SEGV $$");
    let fault = agent.fault_of_question(|timer| timer.readings(3));
    assert_lost(
        &fault,
        &["was killed by signal 11 (SIGSEGV) instead of answering `readings`"],
    );
}

#[test]
fn agent_exits_between_questions() {
    let agent = Script::new("ask; echo \"$HELLO\"; exit 4");
    let connection = Rc::new(RefCell::new(agent.start(TIMEOUT).expect("an introduction")));
    agent.assert_group_ended();
    let fault = subject(&connection, "a")
        .readings(3)
        .expect_err("the agent has exited");
    assert_lost(
        &fault,
        &["exited with status 4 instead of answering `readings`"],
    );
}

/// Time that passes between two questions does not count towards the timeout of the agent.
#[test]
fn idle_time_is_not_counted() {
    let agent = Script::new(
        "ask; echo \"$HELLO\"; ask; echo '{\"values\":[1,2,3]}'; ask; echo '{\"values\":[4,5,6]}'; ask",
    );
    let (first, second) = Script::with_growing_timeout(|seconds| {
        let timeout = Duration::from_secs(seconds);
        let connection = Rc::new(RefCell::new(agent.start(timeout).ok()?));
        let mut timer = subject(&connection, "a");
        let first = timer.readings(3).ok()?;
        thread::sleep(timeout);
        Some((first, timer.readings(3).ok()?))
    });
    assert_eq!((first, second), (vec![1, 2, 3], vec![4, 5, 6]));
}

#[test]
fn agent_exits_leaving_child() {
    let agent = Script::new("ask; sleep 1000 & exit 5");
    assert_lost(&agent.fault_of_hello(TIMEOUT), &["exited with status 5"]);
    agent.assert_group_ended();
}

#[test]
fn rejects_invalid_introductions() {
    for (from, to, words) in [
        (r#""id":"b""#, r#""id":"a""#, "two timers are called `a`"),
        (r#""id":"b""#, r#""id":"""#, "is empty"),
        (r#""id":"b""#, r#""id":"\u001b[2J""#, "is empty"),
        (r#"tick":1"#, r#"tick":0"#, "`a` has a tick of 0 ns"),
        (r#"tick":1"#, r#"tick":-2.5"#, "`a` has a tick of -2.5 ns"),
        (r#"tick":1"#, r#"tick":1e999"#, "malformed"),
        (r#""name":"sh""#, r#""name":"""#, "the runtime has no name"),
        ("protocol", "version", "it speaks protocol 0, not 1"),
    ] {
        let agent = Script::new(&format!("ask; changed '{from}' '{to}'; ask"));
        assert_lost(
            &agent.fault_of_hello(TIMEOUT),
            &["malformed reply to `hello`", words],
        );
        agent.assert_group_ended();
    }
}

#[test]
fn rejects_line_without_request() {
    let agent =
        Script::new("ask; echo \"$HELLO\"; echo 'by the way'; : > \"$0.said\"; ask; sleep 1000");
    let connection = Rc::new(RefCell::new(agent.start(TIMEOUT).expect("an introduction")));
    agent.wait_for_file("pid.said");
    let fault = subject(&connection, "a")
        .readings(1)
        .expect_err("the agent wrote a line without a request");
    assert_lost(&fault, &["by the way"]);
    agent.assert_group_ended();
}

#[test]
fn agent_hangs_after_start() {
    let agent = Script::new("ask; echo 'waiting for godot' >&2; sleep 1000");
    Script::with_growing_timeout(|seconds| {
        let fault = agent.fault_of_hello(Duration::from_secs(seconds));
        let words = format!(
            "agent `test` did not answer `hello` in time ({seconds} s for all its answers) and was ended"
        );
        assert_lost(&fault, &[&words]);
        fault
            .to_string()
            .ends_with("; its last error output: waiting for godot")
            .then_some(())
    });
    agent.assert_group_ended();
}

#[test]
fn agent_hangs_without_reading() {
    let agent = Script::new("ask; echo \"$HELLO\"; exec sleep 1000");
    let (connection, seconds) = Script::with_growing_timeout(|seconds| {
        Some((
            Rc::new(RefCell::new(
                agent.start(Duration::from_secs(seconds)).ok()?,
            )),
            seconds,
        ))
    });
    // The request is far longer than the buffer of a pipe.
    let work = vec![u64::MAX; 100_000];
    let fault = subject(&connection, "a")
        .intervals(&work, 1)
        .expect_err("the agent reads nothing");
    assert_lost(
        &fault,
        &[&format!("did not answer `intervals` in time ({seconds} s")],
    );
    agent.assert_group_ended();
}

#[test]
fn agent_ignores_end_of_input() {
    let agent = Script::new("trap '' TERM HUP INT; ask; echo \"$HELLO\"; sleep 1000; sleep 1000");
    drop(agent.start(TIMEOUT).expect("an introduction"));
    agent.assert_group_ended();
}

#[test]
fn agent_writes_endless_line() {
    let agent = Script::new("ask; exec tr '\\0' x < /dev/zero");
    assert_lost(
        &agent.fault_of_hello(TIMEOUT),
        &["answered `hello` with more than 16384 KiB, which no answer to that question needs"],
    );
    agent.assert_group_ended();
}

#[test]
fn agent_writes_endless_lines() {
    let agent = Script::new("ask; echo \"$HELLO\"; exec yes");
    let connection = agent.start(TIMEOUT).expect("an introduction");
    drop(connection);
    agent.assert_group_ended();
}

#[test]
fn agent_floods_standard_error() {
    let agent =
        Script::new("head -c 9000000 /dev/zero | tr '\\0' x >&2; ask; echo \"$HELLO\"; ask");
    assert_eq!(
        agent
            .start(TIMEOUT)
            .expect("error output does not disturb the answers")
            .hello()
            .runtime
            .name,
        "sh"
    );
}

#[test]
fn agent_closes_output_and_stays() {
    let agent = Script::new("ask; exec >&-; sleep 1000");
    assert_lost(
        &agent.fault_of_hello(TIMEOUT),
        &["closed its output instead of answering `hello`, and was ended"],
    );
    agent.assert_group_ended();
}

#[test]
fn agent_stays_usable_after_refusal() {
    let agent = Script::new(
        "ask; echo \"$HELLO\"; ask; echo '{\"error\":\"not \\u001b[1mtoday\"}'; ask; echo '{\"values\":[7]}'; ask",
    );
    let connection = Rc::new(RefCell::new(agent.start(TIMEOUT).expect("an introduction")));
    let mut timer = subject(&connection, "a");
    assert_eq!(timer.readings(1), Err(Fault::Refused("not today".into())));
    assert_eq!(timer.readings(1), Ok(vec![7]));
    drop((timer, connection));
    agent.assert_group_ended();
}

#[test]
fn unoffered_questions_are_not_sent() {
    let agent = Script::new("ask; changed ',\"handoffs\"' ''; ask; echo '{\"values\":[7]}'; ask");
    let connection = Rc::new(RefCell::new(agent.start(TIMEOUT).expect("an introduction")));
    let mut timer = subject(&connection, "a");
    assert_eq!(
        timer.handoffs(&[], 1),
        Err(Fault::Refused(
            "this agent does not offer `handoffs`".into()
        ))
    );
    assert_eq!(timer.readings(1), Ok(vec![7]));
}

#[test]
fn reads_answers_of_conforming_agent() {
    let agent = Script::new(
        r#"while read -r request; do
            case "$request" in
                '{"op":"hello","protocol":1}') echo "$HELLO";;
                '{"op":"intervals","timer":"a","repeat":2,"work":[0,9]}') echo '{"values":[1,2,3,-4],"more":1}';;
                '{"op":"batches","timer":"b","reference":"a","calls":8,"repeat":2}') echo '{"values":[5,6]}';;
                '{"op":"readings","timer":"a","count":2}') echo ' { "values" : [ 9223372036854775807, 0 ] } ';;
                '{"op":"handoffs","timer":"a","cpus":[],"count":1}') echo '{"values":[1,2]}';;
                '{"op":"advance","timers":["b"],"reference":"a","during":"other-spin","ms":3}') echo '{"values":[-1,2]}';;
                *) echo "{\"error\":\"what?\"}";;
            esac
        done; echo over >> "$0""#,
    );
    let connection = Rc::new(RefCell::new(agent.start(TIMEOUT).expect("an introduction")));
    assert_eq!(connection.borrow().hello().timers.len(), 2);
    let (mut a, mut b) = (subject(&connection, "a"), subject(&connection, "b"));
    assert_eq!(a.intervals(&[0, 9], 2), Ok(vec![vec![1, 2], vec![3, -4]]));
    assert_eq!(b.batches("a", 8, 2), Ok(vec![5, 6]));
    assert_eq!(a.readings(2), Ok(vec![i64::MAX, 0]));
    assert_eq!(a.handoffs(&[], 1), Ok(vec![vec![[1, 2]]]));
    assert_eq!(
        b.advance("a", Activity::OtherSpin, 3),
        Ok(Advance {
            timer: -1,
            reference: 2
        })
    );
    assert_eq!(a.readings(3), Err(Fault::Refused("what?".into())));
    drop((a, b, connection));
    let text = fs::read_to_string(agent.folder.path().join("pid")).expect("the file of the agent");
    assert!(
        text.ends_with("over\n"),
        "the agent did not reach the end of its input: {text}"
    );
}

#[test]
fn agent_starts_on_requested_cpu() {
    let cpu = *timers::allowed_cpus()
        .expect("the list of allowed CPUs")
        .last()
        .expect("a CPU");
    let agent = Script::new(
        r#"ask; while read -r key value; do [ "$key" != Cpus_allowed_list: ] || cpus=$value; done </proc/self/status
        changed '"version":"1"' "\"version\":\"$cpus\""; ask"#,
    );
    let connection =
        Connection::start(&agent.command, Some(cpu), TIMEOUT).expect("an introduction");
    assert_eq!(connection.hello().runtime.version, cpu.to_string());
    let here = timers::allowed_cpus().expect("the list of allowed CPUs");
    assert!(
        here.contains(&cpu),
        "the thread of this test was moved: {here:?}"
    );
}
