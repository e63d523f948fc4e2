use super::questions::{excess, objection};
use super::*;

/// The keys of a question in a line of JSON, in their order.
fn keys(line: &str) -> Vec<String> {
    let quoted = line
        .split('"')
        .skip(1)
        .step_by(2)
        .zip(line.split('"').skip(2).step_by(2));
    let keys = quoted.filter(|(_, after)| after.starts_with(':'));
    keys.map(|(key, _)| key.to_owned()).collect()
}

#[test]
fn examples_are_questions_as_documented() {
    let text = include_str!("../../../docs/agents.md");
    let rows = text
        .lines()
        .filter_map(|line| line.strip_prefix("| `{\"op\":\""));
    let documented: Vec<&str> = rows.map(|row| row.split('`').next().unwrap()).collect();
    for &op in Op::ALL {
        let question = op.example("a \"timer\"", "r", 3);
        assert_eq!((question.op(), excess(&question)), (op, None));
        let line = serde_json::to_string(&question).expect("questions can be written");
        let again: TimerQuestion = serde_json::from_str(&line).expect("and read again");
        assert_eq!(again, question);
        let begin = format!("{}\",", op.name());
        match documented.iter().find(|row| row.starts_with(&begin)) {
            Some(row) => {
                let line = serde_json::to_string(&op.example("t", "r", 3)).unwrap();
                assert_eq!(keys(&format!("{{\"op\":\"{row}")), keys(&line));
            }
            None => assert!([Op::Hello, Op::Calls, Op::Steps].contains(&op), "{begin}"),
        }
    }
    assert_eq!(documented.len(), Op::ALL.len() - 3);
}

#[test]
fn excessive_counts_are_refused() {
    let steps = |question: &str| {
        format!(
            r#"{{"op":"steps","timer":"t","ns_per_tick":null,"interval_ns":1e5,"seed":1,{question}}}"#
        )
    };
    let excess = |line: &str| excess(&serde_json::from_str(line).expect(line));
    for line in [
        r#"{"op":"order","timer":"t","count":2147483647}"#,
        r#"{"op":"readings","timer":"t","count":2147483647}"#,
        r#"{"op":"intervals","timer":"t","repeat":4294967295,"work":[]}"#,
        r#"{"op":"intervals","timer":"t","repeat":1,"work":[1,9223372036854775807]}"#,
        r#"{"op":"batches","timer":"t","reference":"r","calls":18446744073709551615,"repeat":1}"#,
        r#"{"op":"comparisons","timers":[],"reference":"r","work":1,"count":4294967295,"repeat":0}"#,
        r#"{"op":"waits","timer":"t","reference":"r","pause_ns":0,"repeat":4294967295,"request_ns":[]}"#,
        r#"{"op":"calls","timer":"t","reference":"r","ns_per_tick":1e308,"step":1e308}"#,
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
    let objection = |op: Op, values: &[i64]| {
        let reply = Reply {
            values: values.into(),
            ..Reply::default()
        };
        objection(&op.example("t", "r", 3), &reply)
    };
    assert_eq!(objection(Op::Order, &[0, 0, 1, 9]), None);
    for order in [
        [4, 1, 9, 1],
        [-1, 1, 9, 1],
        [0, 3, 1, 9],
        [1, 0, 1, 9],
        [0, 0, 9, 1],
    ] {
        assert!(objection(Op::Order, &order).is_some(), "{order:?}");
    }
    assert!(objection(Op::Order, &[0, 0, 1]).is_some());
    let waits = |place: i64| [[place, 1, 2, -1, -1]; 8].concat();
    assert_eq!(objection(Op::Waits, &waits(1)), None);
    assert!(objection(Op::Waits, &waits(2)).is_some());
    assert!(objection(Op::Waits, &waits(-1)).is_some());
    assert!(objection(Op::Waits, &waits(1)[5..]).is_some());
    assert!(objection(Op::Periods, &[1, 1, 2, 1, 3, -1, 4, 1, 5, 1]).is_some());
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
