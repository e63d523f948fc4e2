use timers::agents::{Hosts, RUNTIMES, Recipe};

use super::*;
use crate::hosts::protocol::{Hello, Runtime};

const BOOK: &str = r#"{
    "reference": "a", "ops": ["handoffs"], "cpu_time": true, "defaults": {"ticks": "v"}, "floor": {"call": "0"},
    "clocks": [
        {"id": "a", "label": "A()", "is": "steady", "ns_per_tick": 1, "code": {"call": "a()"}},
        {"id": "b", "label": "B()", "is": "process", "ns_per_tick": 1000, "settable": true, "code": {"call": "b()", "ticks": "t(v, «n»)"}}
    ],
    "waiters": [{"id": "nap", "label": "nap(ns)", "ops": ["waits"], "means": "blocks", "code": {"wait": "nap(ns)"}}]
}"#;

fn interpreter(wanted: &[&str]) -> Interpreter {
    let book = Arc::new(Book::parse(BOOK).expect("it is one"));
    Interpreter::new(&book, wanted.iter().map(|id| (*id).to_owned()).collect())
}

/// What the agent is sent, and what its answer means.
fn asked(between: &mut Interpreter, request: &str, answer: &str) -> (String, String) {
    let sent = String::from_utf8(between.say(request.as_bytes())).expect("words");
    let line = between
        .ready()
        .or_else(|| between.hear(answer.as_bytes().to_vec()))
        .unwrap_or_default();
    (sent, String::from_utf8(line).expect("JSON"))
}

fn recipes() -> impl Iterator<Item = &'static Recipe> {
    let made = RUNTIMES.iter().filter_map(|runtime| match runtime.hosts {
        Hosts::Made(hosts) => Some(hosts),
        _ => None,
    });
    made.flatten().copied().flatten()
}

#[test]
fn sources_are_repeated_for_each_timer() {
    let book = Book::parse(BOOK).expect("it is one");
    let source = "begin\n# each clock:\n«n» «id»: «call» → «ticks»\n# end each\n# each waiter:\n«id»\n# end each\nend\n";
    assert_eq!(
        book.expand(source),
        "begin\n0 a: a() → v\n1 b: b() → t(v, 1)\n2 null: 0 → v\nnap\nnothing\nend\n"
    );
    let properties = &book.clocks[1].timer.properties;
    assert_eq!(
        properties.settable,
        Some(true),
        "what is declared of one clock counts more than what is of its kind"
    );
    assert_eq!(properties.counts, Some(crate::model::Counted::ProcessCpu));
}

#[test]
fn built_in_books_match_sources() {
    let mut clocks = 0;
    for recipe in recipes() {
        let Some(text) = recipe.clocks else { continue };
        let book = Book::parse(text).unwrap_or_else(|why| panic!("{}: {why}", recipe.prefix));
        assert_eq!(
            book.clocks
                .iter()
                .filter(|clock| clock.timer.reference)
                .count(),
            1,
            "{}",
            recipe.prefix
        );
        let expanded: String = recipe
            .sources
            .iter()
            .map(|source| book.expand(source.text))
            .collect();
        assert!(
            !expanded.contains('«'),
            "{}: {:?}",
            recipe.prefix,
            expanded.split('«').nth(1).map(|rest| &rest[..20])
        );
        clocks += book.clocks.len() - 1;
    }
    assert!(clocks >= 40, "there are {clocks}");
}

#[test]
fn names_of_runtimes_are_unambiguous() {
    let mut names: Vec<&str> = RUNTIMES
        .iter()
        .flat_map(|runtime| runtime.called.iter().chain([&runtime.name]))
        .copied()
        .collect();
    names.sort_unstable();
    let all = names.len();
    names.dedup();
    assert_eq!(names.len(), all);
}

#[test]
fn translates_requests_and_answers() {
    let mut between = interpreter(&[]);
    for (request, words, answer, json) in [
        (
            r#"{"op":"intervals","timer":"b","work":[0,7],"repeat":2}"#,
            "intervals 1 2 0 7\n",
            "1 2 3 4",
            r#"{"intervals":[[1,2],[3,4]]}"#,
        ),
        (
            r#"{"op":"batches","timer":"null","reference":"a","calls":5,"repeat":2}"#,
            "batches 2 5 2\n",
            "1 2 | gc",
            r#"{"batches":[1,2],"disturbed":["gc"]}"#,
        ),
        (
            r#"{"op":"readings","timer":"a","count":0}"#,
            "readings 0 0\n",
            "",
            r#"{"readings":[]}"#,
        ),
        (
            r#"{"op":"comparisons","timer":"b","reference":"a","work":3,"count":1}"#,
            "comparisons 1 3 1\n",
            "1 2 3",
            r#"{"comparisons":[[1,2,3]]}"#,
        ),
        (
            r#"{"op":"advance","timer":"b","reference":"a","during":"sleep","ms":3}"#,
            "advance 1 1 3\n",
            "1 2",
            r#"{"timer":1,"reference":2}"#,
        ),
        (
            r#"{"op":"waits","timer":"nap","reference":"a","request_ns":[10,20],"repeat":2,"break_ns":5}"#,
            "waits 0 5 0 2 10 20\n",
            "1 2 3 4 5 6 7 8 9",
            r#"{"waits":[[[1,2,3],[7,8,9]],[[4,5,6]]]}"#,
        ),
        (
            r#"{"op":"readings","timer":"a","count":1}"#,
            "readings 0 1\n",
            "! out of   range",
            r#"{"error":"out of   range"}"#,
        ),
    ] {
        assert_eq!(
            asked(&mut between, request, answer),
            (words.into(), json.into()),
            "{request}"
        );
    }
}

#[test]
fn refuses_without_asking_agent() {
    let mut between = interpreter(&[]);
    for request in [
        "no JSON",
        r#"{"op":"hello","protocol":2}"#,
        r#"{"op":"readings","timer":"c","count":1}"#,
        r#"{"op":"readings","timer":"a","count":1000000000}"#,
        r#"{"op":"batches","timer":"a","reference":"b","calls":1,"repeat":1}"#,
        r#"{"op":"intervals","timer":"a","work":[18446744073709551615],"repeat":1}"#,
        r#"{"op":"advance","timer":"a","reference":"a","during":"other-spin","ms":1}"#,
        r#"{"op":"advance","timer":"a","reference":"a","during":"spin","ms":4294967295}"#,
        r#"{"op":"waits","timer":"nap","reference":"a","request_ns":[18446744073709551615],"repeat":9}"#,
        r#"{"op":"periods","timer":"nap","reference":"a","period_ns":1000,"count":1,"stalls":[]}"#,
        r#"{"op":"arms","timer":"nap","reference":"a","repeat":1}"#,
    ] {
        let (sent, answer) = asked(&mut between, request, "");
        assert!(
            sent.is_empty() && answer.starts_with("{\"error\":"),
            "{request}: {sent} {answer}"
        );
    }
}

/// They reach the prober as they are, which finds them malformed, quotes them, and ends the agent.
#[test]
fn passes_on_malformed_lines() {
    let mut between = interpreter(&[]);
    let request = r#"{"op":"comparisons","timer":"a","reference":"a","work":1,"count":1}"#;
    for line in [
        "1 2",
        "1 2 x",
        "99999999999999999999 1 2",
        "{\"comparisons\":[]}",
        "\u{1b}[2J",
    ] {
        assert_eq!(asked(&mut between, request, line).1, line);
    }
    assert_eq!(
        between.hear(b"nobody asked".to_vec()),
        Some(b"nobody asked".to_vec())
    );
}

#[test]
fn introduction_follows_warm_up() {
    let mut between = interpreter(&["b"]);
    let sent =
        String::from_utf8(between.say(b"{\"op\":\"hello\",\"protocol\":1}\n")).expect("words");
    let warm = sent.lines().count() - 1;
    assert!(
        warm > 0 && sent.ends_with("hello\n") && sent.contains("batches 1 0 20\n"),
        "{sent}"
    );
    for _ in 0..warm {
        assert_eq!(between.hear(b"!whatever".to_vec()), None);
    }
    let line = between
        .hear(b"Lang\t1.2\tb=2.5\tb@500\ta!not here; install it\tnap!no".to_vec())
        .expect("an introduction");
    let hello: Hello = from_bytes(&line).expect("it is one");
    assert_eq!(
        hello.runtime,
        Runtime {
            name: "Lang".into(),
            version: "1.2".into()
        }
    );
    let ids: Vec<&str> = hello.timers.iter().map(|timer| timer.id.as_str()).collect();
    assert_eq!(ids, ["b", "null"]);
    assert_eq!(
        (hello.timers[0].resolution_ns, hello.timers[0].ns_per_tick),
        (Some(2.5), Some(500.0))
    );
    assert_eq!(hello.unavailable[0].reason, "not here");
    assert_eq!(hello.unavailable[0].remedy.as_deref(), Some("install it"));
}
