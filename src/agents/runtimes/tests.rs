use timers::agents::RUNTIMES;

use super::Declarations;
use crate::agents::protocol::{Hello, Op};

const DECLARATIONS: &str = r#"{
    "reference": "a", "ops": ["intervals", "batches", "readings", "handoffs", "waits"], "defaults": {"ticks": "v"}, "floor": {"call": "0"},
    "clocks": [
        {"id": "a", "label": "A()", "is": "steady", "ns_per_tick": 1, "code": {"call": "a()"}},
        {"id": "b", "label": "B()", "is": "process", "ns_per_tick": 1000, "settable": true, "code": {"call": "b()", "ticks": "t(v, «n»)"}}
    ],
    "waiters": [{"id": "nap", "label": "nap(ns)", "ops": ["waits"], "means": "blocks", "code": {"wait": "nap(ns)"}}]
}"#;

#[test]
fn sources_are_repeated_for_each_timer() {
    let declarations = Declarations::parse(DECLARATIONS).unwrap();
    let source = "begin\n# each clock:\n«n» «id»: «call» → «ticks»\n# end each\n# each waiter:\n«id»\n# end each\nend\n";
    assert_eq!(
        declarations.expand(source),
        "begin\n0 a: a() → v\n1 b: b() → t(v, 1)\n2 null: 0 → v\nnap\nnothing\nend\n"
    );
    let properties = &declarations.clocks[1].timer.properties;
    assert_eq!(
        properties.settable,
        Some(true),
        "the declaration of a clock has precedence over its kind"
    );
    assert_eq!(
        properties.counts,
        Some(estimators::model::Counted::ProcessCpu)
    );
}

#[test]
fn built_in_declarations_match_sources() {
    let mut clocks = 0;
    for agent in RUNTIMES.iter().flat_map(|runtime| runtime.agents) {
        let Some(text) = agent.clocks else {
            for source in agent.sources {
                assert!(source.text.is_ascii(), "{}: not ASCII", source.name);
            }
            continue;
        };
        let declarations =
            Declarations::parse(text).unwrap_or_else(|why| panic!("{}: {why}", agent.prefix));
        let all = declarations.clocks.iter();
        let references = all.filter(|clock| clock.timer.reference);
        assert_eq!(references.count(), 1, "{}", agent.prefix);
        let sources = agent.sources.iter();
        let expanded: String = sources
            .map(|source| declarations.expand(source.text))
            .collect();
        // That includes what was not replaced, as in «id».
        let beyond_ascii = expanded.lines().find(|line| !line.is_ascii());
        assert_eq!(
            beyond_ascii, None,
            "{}: compilers refuse it in the C locale",
            agent.prefix
        );
        clocks += declarations.clocks.len() - 1;
    }
    assert!(clocks >= 40, "only {clocks} clocks");
}

#[test]
fn names_of_runtimes_are_unambiguous() {
    let all = RUNTIMES.iter();
    let mut names = all.flat_map(|runtime| runtime.aliases.iter().chain([&runtime.name]));
    let mut known = std::collections::BTreeSet::new();
    assert!(names.all(|name| known.insert(name)), "after {known:?}");
}

#[test]
fn declarations_complete_introductions() {
    let declarations = Declarations::parse(DECLARATIONS).unwrap();
    let mut hello: Hello = serde_json::from_str(
        r#"{"protocol":1,"runtime":{"name":"Lang","version":"1.2"},"ops":[],
            "timers":[{"id":"b","resolution_ns":2.5},{"id":"b","ns_per_tick":500}],
            "unavailable":[{"id":"a","reason":"not here","remedy":"install it"},{"id":"nap","reason":"no"}]}"#,
    )
    .unwrap();
    declarations.complete(&mut hello);
    let ids: Vec<&str> = hello.timers.iter().map(|timer| timer.id.as_str()).collect();
    assert_eq!(ids, ["b", "null"]);
    assert_eq!(hello.timers[0].label, "B()");
    assert_eq!(
        (hello.timers[0].resolution_ns, hello.timers[0].ns_per_tick),
        (Some(2.5), Some(500.0))
    );
    assert_eq!(hello.unavailable[0].timer.label, "A()");
    assert_eq!(hello.unavailable[1].timer.ops, ["waits"]);
    let waiters: Vec<_> = hello.waiters.iter().map(|waiter| &waiter.id).collect();
    assert_eq!(waiters, ["nothing"]);
    assert!(hello.offers(Op::Handoffs) && !hello.offers(Op::Adds));
    assert_eq!(hello.objection(), None);
}
