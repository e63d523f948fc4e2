//! Tests how the client of the agent protocol handles agents that violate the protocol, exit or
//! hang, and that it reads the answers of an agent that implements the protocol.

mod script;

use std::time::Duration;
use std::{fs, thread};

use crate::agents::connection::Connection;
use crate::agents::subject::subject;
use script::{Script, TIMEOUT, assert_lost};
use timers::{Activity, Fault, Movement};

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
fn end_after_introduction_is_named() {
    for (script, words) in [
        ("ask; kill -SEGV $$", "was killed by signal 11 (SIGSEGV)"),
        ("exit 4", "exited with status 4"),
    ] {
        let agent = Script::new(&format!("ask; echo \"$HELLO\"; {script}"));
        let fault = agent.fault_of_readings();
        assert_lost(&fault, &[words, "instead of answering `readings`"]);
    }
}

/// Time that passes between two questions does not count towards the timeout of the agent.
#[test]
fn idle_time_is_not_counted() {
    let agent = Script::new(
        "ask; echo \"$HELLO\"; ask; echo '{\"values\":[1,2,3]}'; ask; echo '{\"values\":[4,5,6]}'; ask",
    );
    let (first, second) = Script::with_growing_timeout(|seconds| {
        let timeout = Duration::from_secs(seconds);
        let connection = agent.start(timeout).ok()?.share();
        let mut timer = subject(&connection, "a");
        let first = timer.readings(3).ok()?;
        thread::sleep(timeout);
        Some((first, timer.readings(3).ok()?))
    });
    assert_eq!((first, second), (vec![1, 2, 3], vec![4, 5, 6]));
}

/// Neither an agent that ends badly nor its children remain.
#[test]
fn faults_of_introductions_are_named() {
    for (script, words) in [
        ("sleep 1000 & exit 5", "exited with status 5"),
        (
            "exec tr '\\0' x < /dev/zero",
            "answered `hello` with more than 16384 KiB, which no answer to that question needs",
        ),
        (
            "exec >&-; sleep 1000",
            "closed its output instead of answering `hello`, and was ended",
        ),
        ("changed '\"b\"' '\"a\"'", "two timers are called `a`"),
        ("changed '\"b\"' '\"\"'", "is empty"),
        (r#"changed '"b"' '"\u001b[2J"'"#, "is empty"),
        ("changed 'tick\":1' 'tick\":0'", "`a` has a tick of 0 ns"),
        (
            "changed 'tick\":1' 'tick\":-2.5'",
            "`a` has a tick of -2.5 ns",
        ),
        ("changed 'tick\":1' 'tick\":1e999'", "malformed"),
        ("changed '\"sh\"' '\"\"'", "the runtime has no name"),
        (
            "changed protocol version",
            "malformed reply to `hello`: it speaks protocol 0, not 1",
        ),
    ] {
        let agent = Script::new(&format!("ask; {script}; ask"));
        assert_lost(&agent.fault_of_hello(TIMEOUT), &[words]);
        agent.assert_group_ended();
    }
}

/// Neither signals nor the end of its input end the first agent, and the second writes lines for ever.
#[test]
fn agents_end_with_their_connection() {
    for script in [
        "trap '' TERM HUP INT; ask; echo \"$HELLO\"; sleep 1000; sleep 1000",
        "ask; echo \"$HELLO\"; exec yes",
    ] {
        let agent = Script::new(script);
        drop(agent.connect());
        agent.assert_group_ended();
    }
}

#[test]
fn rejects_line_without_request() {
    let agent =
        Script::new("ask; echo \"$HELLO\"; echo 'by the way'; : > \"$0.said\"; ask; sleep 1000");
    let connection = agent.connect();
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
        let words =
            format!("agent `test` did not answer `hello` in time ({seconds} s) and was ended");
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
        let connection = agent.start(Duration::from_secs(seconds)).ok()?;
        Some((connection.share(), seconds))
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
fn agent_floods_standard_error() {
    let agent =
        Script::new("head -c 9000000 /dev/zero | tr '\\0' x >&2; ask; echo \"$HELLO\"; ask");
    assert_eq!(agent.connect().borrow().hello().runtime.name, "sh");
}

#[test]
fn repeats_windows_with_garbage_collection() {
    let agent = Script::new(
        r#"ask; echo "$HELLO"; for n in 1 2; do ask; echo '{"values":[0],"disturbed":["gc"]}'; done
        ask; echo '{"values":[7]}'; ask; echo '{"values":[8],"disturbed":["gc","compilation"]}'
        while ask; do echo '{"values":[9],"disturbed":["gc"]}'; done"#,
    );
    let connection = agent.connect();
    let mut timer = subject(&connection, "a");
    // The first undisturbed answer.
    assert_eq!(timer.readings(1), Ok(vec![7]));
    assert_eq!(connection.borrow().windows().dropped["gc"], 2);
    // The caller decides about an answer with compilation.
    assert_eq!(timer.readings(1), Ok(vec![8]));
    assert_eq!(connection.borrow().windows().voided, 1);
    // After several repetitions a disturbed answer is accepted.
    assert_eq!(timer.readings(1), Ok(vec![9]));
    assert_eq!(connection.borrow().windows().disturbed, 1);
}

#[test]
fn unoffered_questions_are_not_sent() {
    let agent = Script::new("ask; changed ',\"handoffs\"' ''; ask; echo '{\"values\":[7]}'; ask");
    let connection = agent.connect();
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
                *) echo '{"error":"not \u001b[1mtoday"}';;
            esac
        done; echo over >> "$0""#,
    );
    let connection = agent.connect();
    assert_eq!(connection.borrow().hello().timers.len(), 2);
    let (mut a, mut b) = (subject(&connection, "a"), subject(&connection, "b"));
    assert_eq!(a.intervals(&[0, 9], 2), Ok(vec![vec![1, 2], vec![3, -4]]));
    assert_eq!(b.batches("a", 8, 2), Ok(vec![5, 6]));
    assert_eq!(a.handoffs(&[], 1), Ok(vec![vec![[1, 2]]]));
    assert_eq!(
        b.advance("a", Activity::OtherSpin, 3),
        Ok(Movement {
            timer: -1,
            reference: 2
        })
    );
    assert_eq!(a.readings(3), Err(Fault::Refused("not today".into())));
    // It stays usable.
    assert_eq!(a.readings(2), Ok(vec![i64::MAX, 0]));
    drop((a, b, connection));
    let text = fs::read_to_string(agent.folder.path().join("pid")).unwrap();
    assert!(
        text.ends_with("over\n"),
        "the agent did not reach the end of its input: {text}"
    );
}

#[test]
fn agent_starts_on_requested_cpu() {
    let allowed = timers::allowed_cpus().expect("the list of allowed CPUs");
    let cpu = allowed[allowed.len() - 1];
    let agent = Script::new(
        r#"ask; while read -r key value; do [ "$key" != Cpus_allowed_list: ] || cpus=$value; done </proc/self/status
        changed '"version":"1"' "\"version\":\"$cpus\""; ask"#,
    );
    let connection = Connection::start(&agent.command, Some(cpu), TIMEOUT).unwrap();
    assert_eq!(connection.hello().runtime.version, cpu.to_string());
    let here = timers::allowed_cpus().expect("the list of allowed CPUs");
    assert_eq!(here, allowed, "the thread of this test was moved");
}
