//! The client of the agent protocol against agents that do not keep to it, and against one that
//! does.

#![cfg(unix)]

mod script;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;
use std::{fs, thread};

use script::{PATIENCE, Script, assert_lost};
use timermeter::hosts::connection::Connection;
use timermeter::hosts::hosted::subject;
use timermeter::hosts::process::Command;
use timers::{Advance, During, Fault};

#[test]
fn a_program_that_is_not_there() {
    let command = Command::new("foo", "/no/such/program", vec![]);
    let fault = Connection::start(&command, None, PATIENCE)
        .err()
        .expect("it cannot be started");
    assert_eq!(
        fault,
        Fault::Lost(
            "cannot start `/no/such/program`: No such file or directory; check the command after --agent"
                .into()
        )
    );
}

#[test]
fn a_cpu_that_is_not_there() {
    let agent = Script::new("ask; echo \"$HELLO\"; ask");
    let fault = Connection::start(&agent.command, Some(999_999), PATIENCE)
        .err()
        .expect("no such CPU");
    assert_lost(&fault, &["cannot start `sh`", "999999"]);
    assert!(
        !agent.folder.path().join("pid").exists(),
        "it was never started"
    );
}

#[test]
fn one_that_exits_at_once() {
    let agent = Script::new("echo 'first' >&2; printf 'no \\033[1mlicence\\n\\n' >&2; exit 3");
    let fault = agent.fault(PATIENCE);
    assert_eq!(
        fault,
        Fault::Lost(
            "agent `test` exited with status 3 instead of answering `hello`; its last error output: no licence"
                .into()
        )
    );
    agent.left_nobody();
}

#[test]
fn agent_killed_by_signal() {
    let agent = Script::new("ask; echo \"$HELLO\"; ask; kill -SEGV $$");
    let fault = agent.later_fault(|timer| timer.readings(3));
    assert_lost(
        &fault,
        &["was killed by signal 11 (SIGSEGV) instead of answering `readings`"],
    );
}

#[test]
fn one_that_dies_between_two_questions() {
    let agent = Script::new("ask; echo \"$HELLO\"; exit 4");
    let connection = Rc::new(RefCell::new(
        agent.start(PATIENCE).expect("it introduces itself"),
    ));
    agent.left_nobody();
    let fault = subject(&connection, "a")
        .readings(3)
        .expect_err("no host is there");
    assert_lost(
        &fault,
        &["exited with status 4 instead of answering `readings`"],
    );
}

/// A process that lives as long as the campaign is asked now and then: what passes in between is
/// not its fault.
#[test]
fn idle_time_is_not_counted() {
    let agent = Script::new(
        "ask; echo \"$HELLO\"; ask; echo '{\"values\":[1,2,3]}'; ask; echo '{\"values\":[4,5,6]}'; ask",
    );
    let (first, second) = Script::with_enough_patience(|seconds| {
        let patience = Duration::from_secs(seconds);
        let connection = Rc::new(RefCell::new(agent.start(patience).ok()?));
        let mut timer = subject(&connection, "a");
        let first = timer.readings(3).ok()?;
        thread::sleep(patience);
        Some((first, timer.readings(3).ok()?))
    });
    assert_eq!((first, second), (vec![1, 2, 3], vec![4, 5, 6]));
}

#[test]
fn one_that_dies_within_an_answer() {
    let agent = Script::new("ask; printf '{\"protocol\":1,'; exit 0");
    assert_lost(
        &agent.fault(PATIENCE),
        &["exited with status 0 instead of answering `hello`"],
    );
}

#[test]
fn agent_dies_leaving_child() {
    let agent = Script::new("ask; sleep 1000 & exit 5");
    assert_lost(&agent.fault(PATIENCE), &["exited with status 5"]);
    agent.left_nobody();
}

#[test]
fn one_that_prints_garbage() {
    let agent = Script::new("ask; echo 'Picked up JAVA_TOOL_OPTIONS: -Xmx64m'; ask");
    assert_lost(
        &agent.fault(PATIENCE),
        &[
            "malformed reply to `hello`",
            "expected {\"protocol\":1,",
            "got `Picked up JAVA_TOOL_OPTIONS: -Xmx64m`",
        ],
    );
    agent.left_nobody();
    let long = Script::new("ask; head -c 9000 /dev/zero | tr '\\0' x; echo; ask");
    let Fault::Lost(text) = long.fault(PATIENCE) else {
        panic!("it is lost")
    };
    assert!(text.chars().count() < 400, "{text}");
}

#[test]
fn one_that_speaks_another_version() {
    let agent = Script::new("ask; echo \"$HELLO\" | sed 's/:1,/:2,/'; ask");
    assert_lost(&agent.fault(PATIENCE), &["it speaks protocol 2, not 1"]);
    agent.left_nobody();
}

#[test]
fn introductions_that_make_no_sense() {
    for (change, words) in [
        ("s/\"id\":\"b\"/\"id\":\"a\"/", "two timers are called `a`"),
        ("s/\"id\":\"b\"/\"id\":\"\"/", "is empty"),
        ("s/\"id\":\"b\"/\"id\":\"\\\\u001b[2J\"/", "is empty"),
        (
            "s/\"ns_per_tick\":1/\"ns_per_tick\":0/",
            "`a` has a tick of 0 ns",
        ),
        (
            "s/\"ns_per_tick\":1/\"ns_per_tick\":-2.5/",
            "`a` has a tick of -2.5 ns",
        ),
        ("s/\"ns_per_tick\":1/\"ns_per_tick\":1e999/", "malformed"),
        (
            "s/\"name\":\"sh\"/\"name\":\"\"/",
            "the runtime has no name",
        ),
        ("s/\"protocol\"/\"version\"/", "it speaks protocol 0, not 1"),
    ] {
        let agent = Script::new(&format!("ask; echo \"$HELLO\" | sed '{change}'; ask"));
        assert_lost(
            &agent.fault(PATIENCE),
            &["malformed reply to `hello`", words],
        );
        agent.left_nobody();
    }
}

#[test]
fn answers_of_the_wrong_shape() {
    let answering =
        |answer: &str| Script::new(&format!("ask; echo \"$HELLO\"; ask; echo '{answer}'; ask"));
    let readings = |answer: &str| answering(answer).later_fault(|timer| timer.readings(3));
    assert_lost(
        &readings(r#"{"values":[1,2]}"#),
        &["there are 2 values, not 3", "got `{\"values\":[1,2]}`"],
    );
    assert_lost(
        &readings(r#"{"values":[1,2.5,3]}"#),
        &["floating point `2.5`", "with 3 integers"],
    );
    assert_lost(
        &readings(r#"{"values":[1,2,9223372036854775808]}"#),
        &["9223372036854775808"],
    );
    assert_lost(
        &readings(r#"{"intervals":[[1]]}"#),
        &["there are 0 values, not 3"],
    );
    assert_lost(&readings(r#"{"error":7}"#), &["invalid type"]);
    assert_lost(&readings(""), &["malformed reply to `readings`"]);

    let intervals =
        |answer: &str| answering(answer).later_fault(|timer| timer.intervals(&[0, 9], 2));
    assert_lost(
        &intervals(r#"{"values":[1,2,3]}"#),
        &["there are 3 values, not 4", "with 2 × 2 integers"],
    );
    assert_lost(&intervals(r#"{"values":[[1,2],[3,4]]}"#), &["invalid type"]);
    let batches = |answer: &str| answering(answer).later_fault(|timer| timer.batches("a", 1, 2));
    assert_lost(
        &batches(r#"{"values":[1,2,3]}"#),
        &["there are 3 values, not 2"],
    );
    let handoffs = |answer: &str| answering(answer).later_fault(|timer| timer.handoffs(1));
    assert_lost(
        &handoffs(r#"{"values":[1]}"#),
        &["there are 1 values, not 2", "with 1 × 1 × 2 integers"],
    );
    let advance =
        |answer: &str| answering(answer).later_fault(|timer| timer.advance("a", During::Spin, 1));
    assert_lost(
        &advance(r#"{"values":[1]}"#),
        &["there are 1 values, not 2"],
    );
}

#[test]
fn one_that_answers_what_nobody_asked() {
    let agent =
        Script::new("ask; echo \"$HELLO\"; echo 'by the way'; : > \"$0.said\"; ask; sleep 1000");
    let connection = Rc::new(RefCell::new(
        agent.start(PATIENCE).expect("it introduces itself"),
    ));
    agent.until_it_wrote("pid.said");
    let fault = subject(&connection, "a")
        .readings(1)
        .expect_err("it has said something else");
    assert_lost(&fault, &["by the way"]);
    agent.left_nobody();
}

#[test]
fn one_that_hangs() {
    let agent = Script::new("ask; echo 'waiting for godot' >&2; sleep 1000");
    Script::with_enough_patience(|seconds| {
        let fault = agent.fault(Duration::from_secs(seconds));
        let words = format!(
            "agent `test` did not answer `hello` in time ({seconds} s for all its answers) and was ended"
        );
        assert_lost(&fault, &[&words]);
        fault
            .to_string()
            .ends_with("; its last error output: waiting for godot")
            .then_some(())
    });
    agent.left_nobody();
}

#[test]
fn one_that_hangs_and_reads_nothing() {
    let agent = Script::new("ask; echo \"$HELLO\"; exec sleep 1000");
    let (connection, seconds) = Script::with_enough_patience(|seconds| {
        Some((
            Rc::new(RefCell::new(
                agent.start(Duration::from_secs(seconds)).ok()?,
            )),
            seconds,
        ))
    });
    // Far more than a pipe holds.
    let work = vec![u64::MAX; 100_000];
    let fault = subject(&connection, "a")
        .intervals(&work, 1)
        .expect_err("it reads nothing");
    assert_lost(
        &fault,
        &[&format!("did not answer `intervals` in time ({seconds} s")],
    );
    agent.left_nobody();
}

#[test]
fn agent_ignores_end_of_input() {
    let agent = Script::new("trap '' TERM HUP INT; ask; echo \"$HELLO\"; sleep 1000; sleep 1000");
    drop(agent.start(PATIENCE).expect("it introduces itself"));
    agent.left_nobody();
}

#[test]
fn agent_writes_endless_line() {
    let agent = Script::new("ask; exec tr '\\0' x < /dev/zero");
    assert_lost(
        &agent.fault(PATIENCE),
        &["answered `hello` with more than 16384 KiB, which no answer to that question needs"],
    );
    agent.left_nobody();
}

#[test]
fn one_that_writes_lines_without_end() {
    let agent = Script::new("ask; echo \"$HELLO\"; exec yes");
    let connection = agent.start(PATIENCE).expect("it introduces itself");
    drop(connection);
    agent.left_nobody();
}

#[test]
fn one_that_floods_standard_error() {
    let agent =
        Script::new("head -c 9000000 /dev/zero | tr '\\0' x >&2; ask; echo \"$HELLO\"; ask");
    assert_eq!(
        agent
            .start(PATIENCE)
            .expect("that disturbs no other")
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
        &agent.fault(PATIENCE),
        &["closed its output instead of answering `hello`, and was ended"],
    );
    agent.left_nobody();
}

#[test]
fn one_that_refuses_stays_usable() {
    let agent = Script::new(
        "ask; echo \"$HELLO\"; ask; echo '{\"error\":\"not \\u001b[1mtoday\"}'; ask; echo '{\"values\":[7]}'; ask",
    );
    let connection = Rc::new(RefCell::new(
        agent.start(PATIENCE).expect("it introduces itself"),
    ));
    let mut timer = subject(&connection, "a");
    assert_eq!(timer.readings(1), Err(Fault::Refused("not today".into())));
    assert_eq!(timer.readings(1), Ok(vec![7]));
    drop((timer, connection));
    agent.left_nobody();
}

#[test]
fn unoffered_operations_are_not_asked() {
    let agent = Script::new(
        "ask; echo \"$HELLO\" | sed 's/,\"handoffs\"//'; ask; echo '{\"values\":[7]}'; ask",
    );
    let connection = Rc::new(RefCell::new(
        agent.start(PATIENCE).expect("it introduces itself"),
    ));
    let mut timer = subject(&connection, "a");
    assert_eq!(
        timer.handoffs(1),
        Err(Fault::Refused(
            "this agent does not offer `handoffs`".into()
        ))
    );
    assert_eq!(timer.readings(1), Ok(vec![7]));
}

#[test]
fn one_that_keeps_to_the_protocol() {
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
    let connection = Rc::new(RefCell::new(
        agent.start(PATIENCE).expect("it introduces itself"),
    ));
    assert_eq!(connection.borrow().hello().timers.len(), 2);
    let (mut a, mut b) = (subject(&connection, "a"), subject(&connection, "b"));
    assert_eq!(a.intervals(&[0, 9], 2), Ok(vec![vec![1, 2], vec![3, -4]]));
    assert_eq!(b.batches("a", 8, 2), Ok(vec![5, 6]));
    assert_eq!(a.readings(2), Ok(vec![i64::MAX, 0]));
    assert_eq!(a.handoffs(1), Ok(vec![[1, 2]]));
    assert_eq!(
        b.advance("a", During::OtherSpin, 3),
        Ok(Advance {
            timer: -1,
            reference: 2
        })
    );
    assert_eq!(a.readings(3), Err(Fault::Refused("what?".into())));
    drop((a, b, connection));
    let text = fs::read_to_string(agent.folder.path().join("pid")).expect("its file is there");
    assert!(
        text.ends_with("over\n"),
        "it saw the end of its input: {text}"
    );
}

#[test]
fn agent_is_started_on_cpu() {
    let cpu = *timers::allowed_cpus()
        .expect("the system tells")
        .last()
        .expect("there is one");
    let agent = Script::new(
        r#"ask; cpus=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
        echo "$HELLO" | sed "s/\"version\":\"1\"/\"version\":\"$cpus\"/"; ask"#,
    );
    let connection =
        Connection::start(&agent.command, Some(cpu), PATIENCE).expect("it introduces itself");
    assert_eq!(connection.hello().runtime.version, cpu.to_string());
    let here = timers::allowed_cpus().expect("the system tells");
    assert!(
        here.contains(&cpu),
        "the thread that asked stays where it was: {here:?}"
    );
}
