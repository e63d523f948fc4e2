use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::agents::protocol::questions::objection;

/// The answers of an agent with three POSIX clocks to the requests in `script`.
fn answers(script: &[u8]) -> Vec<Value> {
    let entries = ["monotonic", "realtime", "time"].map(|id| timers::find(id).expect(id));
    let mut output = Vec::new();
    serve(&mut &*script, &mut output, &entries, &[]).unwrap();
    assert!(output.is_empty() || output.ends_with(b"\n"));
    let text = String::from_utf8(output).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn answer(request: &Value) -> Value {
    let mut all = answers(request.to_string().as_bytes());
    assert_eq!(all.len(), 1, "one answer to each request");
    all.remove(0)
}

fn error(request: &Value) -> String {
    let answer = answer(request);
    answer["error"]
        .as_str()
        .unwrap_or_else(|| panic!("{request} was answered {answer}"))
        .to_owned()
}

#[test]
fn hello_lists_clocks_and_references() {
    let hello: Hello =
        serde_json::from_value(answer(&json!({"op": "hello", "protocol": 1}))).unwrap();
    assert_eq!(hello.protocol, 1);
    assert_eq!(hello.runtime.name, "native");
    assert!(hello.many && Op::ALL[1..].iter().all(|op| hello.offers(*op)));
    let ids: Vec<&str> = hello.timers.iter().map(|timer| timer.id.as_str()).collect();
    assert_eq!(ids[..3], ["monotonic", "realtime", "time"]);
    assert!(ids[3..].iter().all(|id| timers::REFERENCES.contains(id)));
    let references = hello.timers.iter().filter(|timer| timer.reference);
    assert_eq!(references.count(), 1);
    let known = ids.len() + hello.unavailable.len();
    assert_eq!(
        known,
        3 + timers::REFERENCES.len() - 1,
        "each timer is in exactly one of the lists"
    );
}

fn values(request: &Value) -> Vec<i64> {
    let reply: Reply = serde_json::from_value(answer(request)).unwrap();
    let question: TimerQuestion = serde_json::from_value(request.clone()).unwrap();
    assert_eq!(objection(&question, &reply), None, "{request}");
    reply.values
}

#[test]
fn several_timers_are_compared_in_rounds() {
    let request = json!({"op": "comparisons", "timers": ["realtime", "time"], "reference": "monotonic",
        "work": 10, "count": 3, "repeat": 2});
    let values = values(&request);
    let triples: Vec<_> = values.chunks(3).collect();
    assert_eq!(triples.len(), 12);
    assert!(triples.iter().all(|one| one[0] <= one[2]), "{triples:?}");
    let counts_seconds: Vec<bool> = triples.iter().map(|one| one[1] < 1 << 40).collect();
    assert_eq!(counts_seconds, [false, false, true, true].repeat(3));
    let moved = json!({"op": "advance", "timers": ["realtime", "time"], "reference": "monotonic", "during": "spin", "ms": 2});
    let moved = self::values(&moved);
    assert!(
        moved[0] > 0 && moved[1] >= 2_000_000 && moved[2] <= 1 && moved[3] >= 2_000_000,
        "{moved:?}"
    );
}

#[test]
fn order_of_readings_is_reported() {
    let order = values(&json!({"op": "order", "timer": "monotonic", "count": 50}));
    assert!(order[..2] == [0, 0] && order[2] <= order[3], "{order:?}");
    let none = json!({"op": "order", "timer": "monotonic", "count": 0});
    assert!(error(&none).contains("no readings"));
    let pairs = vec![[0, 0]; 10_000];
    let crowd = json!({"op": "handoffs", "timer": "monotonic", "cpus": pairs, "count": 1});
    assert!(!error(&crowd).is_empty());
}

/// A question that searches for the step of a timer; a unit of work takes 1 ns.
fn step_question(timer: &str) -> Value {
    json!({
        "op": "steps", "timer": timer, "ns_per_work": 1.0, "ns_per_tick": 1.0, "cost_ns": 20.0,
        "interval_ns": 1e5, "growth_ns": 1e4, "seed": 7,
    })
}

#[test]
fn one_answer_holds_all_steps() {
    let steps = |timer: &str| -> (bool, Vec<estimators::trace::Differences>) {
        let reply: Reply = serde_json::from_value(answer(&step_question(timer))).expect("steps");
        (
            reply.values == [1],
            reply
                .packed
                .expect("packed measurements")
                .0
                .intervals
                .iter()
                .collect(),
        )
    };
    let (slow, intervals) = steps("monotonic");
    assert!(!slow && intervals.len() > 48, "{}", intervals.len());
    assert!(intervals.iter().all(|row| !row.deltas.is_empty()));
    let (slow, intervals) = steps("time");
    let mut deltas = intervals.iter().flat_map(|row| row.deltas.iter());
    assert!(slow && deltas.all(|delta| (0..=1).contains(delta)));
}

#[test]
fn survives_malformed_lines() {
    let mut script = b"rubbish\n\n{}\n{\"op\":\"dance\"}\n\xff\xfe\n[]\nnull\n".to_vec();
    let reading = |count: &str| format!(r#"{{"op":"readings","timer":"time","count":{count}}}"#);
    let lines = [
        reading("1.5"),
        reading("-1"),
        reading("4294967295"),
        "[".repeat(100_000),
        "x".repeat(2 * MAX_REQUEST_BYTES as usize + 100),
        reading("2"),
    ];
    script.extend(lines.join("\n").bytes());
    let mut all = answers(&script);
    let last = all
        .pop()
        .expect("a last line without a newline is answered");
    assert_eq!(last["values"].as_array().map(Vec::len), Some(2), "{last}");
    assert_eq!(all.len(), 12);
    for answer in &all {
        assert!(answer["error"].is_string(), "{answer}");
    }
    assert!(all[9].to_string().contains("at most"));
    assert!(all[11].to_string().contains("16 MiB"));
}

/// Valid and almost valid requests that are small enough to be answered.
fn almost_valid_request() -> impl Strategy<Value = String> {
    let one_of = |words: &'static str| prop::sample::select(words.split(' ').collect::<Vec<_>>());
    let op = one_of("hello intervals batches readings handoffs advance ");
    let id = one_of("monotonic time rdtsc \\u0000 monotonic\\n ");
    let number = one_of("0 1 3 -1 1.5 40 18446744073709551616 []");
    let work = one_of("[] [0,1] [18446744073709551616] 7 [null] [[]]");
    let during = one_of("spin sleep other-spin dance");
    (op, id.clone(), id, number.clone(), number.clone(), number, work, during).prop_map(
        |(op, timer, reference, protocol, repeat, calls, work, during)| {
            format!(
                r#"{{"op":"{op}","timer":"{timer}","reference":"{reference}","protocol":{protocol},"repeat":{repeat},"count":{repeat},"calls":{calls},"ms":{calls},"work":{work},"during":"{during}"}}"#
            )
        },
    )
}

proptest! {
    #[test]
    fn answers_every_request(request in almost_valid_request(), cut in 0_usize..400) {
        prop_assert_eq!(answers(request.as_bytes()).len(), 1);
        let cut = cut.clamp(1, request.len());
        prop_assert_eq!(answers(&request.as_bytes()[..cut]).len(), 1);
    }
}
