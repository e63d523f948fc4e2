use timers::Activity;

use super::*;

fn on_the_wire(question: &AgentQuestion) -> String {
    let text = serde_json::to_string(question).expect("questions can be written");
    assert_eq!(
        &serde_json::from_str::<AgentQuestion>(&text).expect("and read again"),
        question
    );
    text
}

#[test]
fn questions_have_documented_form() {
    let timer = || "t".to_owned();
    let reference = || "r".to_owned();
    assert_eq!(
        on_the_wire(&AgentQuestion::Hello { protocol: 1 }),
        r#"{"op":"hello","protocol":1}"#
    );
    assert_eq!(
        on_the_wire(&AgentQuestion::Intervals {
            timer: timer(),
            repeat: 3,
            work: vec![0, 7],
        }),
        r#"{"op":"intervals","timer":"t","repeat":3,"work":[0,7]}"#
    );
    assert_eq!(
        on_the_wire(&AgentQuestion::Batches {
            timer: timer(),
            reference: reference(),
            calls: 0,
            repeat: 2,
            watched: false
        }),
        r#"{"op":"batches","timer":"t","reference":"r","calls":0,"repeat":2}"#
    );
    assert_eq!(
        on_the_wire(&AgentQuestion::Readings {
            timer: timer(),
            count: 5,
            watched: true
        }),
        r#"{"op":"readings","timer":"t","count":5,"watched":true}"#
    );
    for (during, name) in [
        (Activity::Spin, "spin"),
        (Activity::Sleep, "sleep"),
        (Activity::OtherSpin, "other-spin"),
    ] {
        assert_eq!(
            on_the_wire(&AgentQuestion::Advance {
                timers: vec![timer()],
                reference: reference(),
                during,
                ms: 9
            }),
            format!(
                r#"{{"op":"advance","timers":["t"],"reference":"r","during":"{name}","ms":9}}"#
            )
        );
    }
}

#[test]
fn examples_are_questions_of_their_kind() {
    for (op, example) in examples::EXAMPLES {
        let question = examples::question(example, "a \"timer\"", "r", 3).expect("a question");
        assert_eq!(question.op(), op, "{example}");
        assert_eq!(question.excess(), None, "{example}");
        let line = on_the_wire(&question);
        assert!(
            line.starts_with(&format!("{{\"op\":\"{}\",", op.name())),
            "{line}"
        );
    }
}

#[test]
fn excessive_counts_are_refused() {
    let steps = |question: &str| {
        format!(
            r#"{{"op":"steps","timer":"t","ns_per_tick":null,"interval_ns":1e5,"seed":1,{question}}}"#
        )
    };
    let excess = |line: &str| {
        let question: AgentQuestion = serde_json::from_str(line).expect(line);
        question.excess()
    };
    for line in [
        r#"{"op":"order","timer":"t","count":2147483647}"#,
        r#"{"op":"readings","timer":"t","count":2147483647}"#,
        r#"{"op":"intervals","timer":"t","repeat":4294967295,"work":[]}"#,
        r#"{"op":"intervals","timer":"t","repeat":1,"work":[1,9223372036854775807]}"#,
        r#"{"op":"batches","timer":"t","reference":"r","calls":18446744073709551615,"repeat":1}"#,
        r#"{"op":"comparisons","timers":[],"reference":"r","work":1,"count":4294967295,"repeat":0}"#,
        r#"{"op":"waits","timer":"t","reference":"r","pause_ns":0,"repeat":4294967295,"request_ns":[]}"#,
        r#"{"op":"calls","timer":"t","reference":"r","ns_per_tick":1e308,"step":1e308,"floor":true}"#,
        &steps(r#""ns_per_work":1,"cost_ns":20,"growth_ns":1e308"#),
        &steps(r#""ns_per_work":0,"cost_ns":20,"growth_ns":1e5"#),
        &steps(r#""ns_per_work":-1,"cost_ns":20,"growth_ns":1e5"#),
        &steps(r#""ns_per_work":1e308,"cost_ns":20,"growth_ns":1e5"#),
    ] {
        let why = excess(line).expect(line);
        assert!(why.contains("too many: at most"), "{line}: {why}");
    }
    for line in [
        r#"{"op":"order","timer":"t","count":10000000}"#,
        r#"{"op":"intervals","timer":"t","repeat":3,"work":[17179869184]}"#,
        &steps(r#""ns_per_work":0.2,"cost_ns":1e6,"growth_ns":1e6"#),
    ] {
        assert_eq!(excess(line), None, "{line}");
    }
}

#[test]
fn refuses_contradictory_values() {
    let objection = |example: usize, values: &[i64]| {
        let (_, example) = examples::EXAMPLES[example];
        let question = examples::question(example, "t", "r", 3).expect("a question");
        let reply = Reply {
            values: values.into(),
            ..Reply::default()
        };
        question.objection(&reply)
    };
    let at = |op: Op| {
        let place = examples::EXAMPLES.iter().position(|one| one.0 == op);
        place.expect("it has an example")
    };
    assert_eq!(objection(at(Op::Order), &[0, 0, 1, 9]), None);
    for order in [
        [4, 1, 9, 1],
        [-1, 1, 9, 1],
        [0, 3, 1, 9],
        [1, 0, 1, 9],
        [0, 0, 9, 1],
    ] {
        assert!(objection(at(Op::Order), &order).is_some(), "{order:?}");
    }
    assert!(objection(at(Op::Order), &[0, 0, 1]).is_some());
    let waits = |place: i64| [[place, 1, 2, -1, -1]; 8].concat();
    assert_eq!(objection(at(Op::Waits), &waits(1)), None);
    assert!(objection(at(Op::Waits), &waits(2)).is_some());
    assert!(objection(at(Op::Waits), &waits(-1)).is_some());
    assert!(objection(at(Op::Waits), &waits(1)[5..]).is_some());
    assert!(objection(at(Op::Periods), &[1, 1, 2, 1, 3, -1, 4, 1, 5, 1]).is_some());
}

#[test]
fn ignores_unknown_and_missing_keys() {
    let hello: Hello = serde_json::from_str(
        r#"{"protocol":1,"runtime":{"name":"x","version":"2","vendor":"y"},"colour":"red",
            "timers":[{"id":"a","label":"A"},{"id":"b","label":"B","ns_per_tick":1,"reference":true}],"ops":[]}"#,
    )
    .expect("it is a hello");
    assert_eq!(hello.timers[0].ns_per_tick, None);
    assert!(!hello.timers[0].reference);
    assert_eq!(hello.timers[1].ns_per_tick, Some(1.0));
    assert!(hello.unavailable.is_empty());
}

#[test]
fn rejects_values_beyond_64_bits() {
    for invalid in [
        "1.5",
        "1e3",
        "9223372036854775808",
        "-9223372036854775809",
        "null",
        "\"1\"",
        "true",
    ] {
        let text = format!(r#"{{"values":[{invalid}]}}"#);
        assert!(serde_json::from_str::<Reply>(&text).is_err(), "{text}");
    }
    let extremes = r#"{"values":[9223372036854775807,-9223372036854775808]}"#;
    assert_eq!(
        serde_json::from_str::<Reply>(extremes)
            .expect("they fit")
            .values,
        [i64::MAX, i64::MIN]
    );
}

#[test]
fn device_reads_all_but_host_timers() {
    let hello = |device: &str| {
        let text = format!(
            r#"{{"protocol":1,"runtime":{{"name":"x","version":"2"}},"device":{device},
                "timers":[{{"id":"a","label":"A"}},{{"id":"b","label":"B","host":true}}],"ops":[]}}"#
        );
        serde_json::from_str::<Hello>(&text)
            .expect("it is a hello")
            .with_devices()
    };
    let valid = hello(r#"{"name":"GPU","places":132,"cycles":"a","hertz":1.98e9}"#);
    assert_eq!(valid.objection(), None);
    let places = |at: usize| valid.timers[at].device.as_ref().and_then(|it| it.places);
    assert_eq!([places(0), places(1)], [Some(132), None]);
    assert!(hello("null").timers[0].device.is_none());
    for invalid in [
        "{}",
        r#"{"name":" "}"#,
        r#"{"name":"GPU","places":0}"#,
        r#"{"name":"GPU","places":100000}"#,
        r#"{"name":"GPU","hertz":0}"#,
        r#"{"name":"GPU","hertz":-1e9}"#,
    ] {
        assert!(hello(invalid).objection().is_some(), "{invalid}");
    }
}
