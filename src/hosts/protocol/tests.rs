use timers::During;

use super::answers::Readings;
use super::*;

fn on_the_wire(request: &Request) -> String {
    let text = serde_json::to_string(request).expect("requests can be written");
    assert_eq!(
        &serde_json::from_str::<Request>(&text).expect("and read again"),
        request
    );
    text
}

#[test]
fn requests_have_documented_form() {
    let timer = || "t".to_owned();
    let reference = || "r".to_owned();
    assert_eq!(
        on_the_wire(&Request::Introduction(questions::Introduction {
            protocol: 1
        })),
        r#"{"op":"hello","protocol":1}"#
    );
    assert_eq!(
        on_the_wire(&Request::Intervals(questions::Intervals {
            timer: timer(),
            work: vec![0, 7],
            repeat: 3
        })),
        r#"{"op":"intervals","timer":"t","work":[0,7],"repeat":3}"#
    );
    assert_eq!(
        on_the_wire(&Request::Batches(questions::Batches {
            timer: timer(),
            reference: reference(),
            calls: 0,
            repeat: 2,
            watched: false
        })),
        r#"{"op":"batches","timer":"t","reference":"r","calls":0,"repeat":2}"#
    );
    assert_eq!(
        on_the_wire(&Request::Readings(questions::Readings {
            timer: timer(),
            count: 5,
            watched: true
        })),
        r#"{"op":"readings","timer":"t","count":5,"watched":true}"#
    );
    assert_eq!(
        on_the_wire(&Request::Handoffs(questions::Handoffs {
            timer: timer(),
            count: 5
        })),
        r#"{"op":"handoffs","timer":"t","count":5}"#
    );
    for (during, name) in [
        (During::Spin, "spin"),
        (During::Sleep, "sleep"),
        (During::OtherSpin, "other-spin"),
    ] {
        assert_eq!(
            on_the_wire(&Request::Advance(questions::Advance {
                timer: timer(),
                reference: reference(),
                during,
                ms: 9
            })),
            format!(r#"{{"op":"advance","timer":"t","reference":"r","during":"{name}","ms":9}}"#)
        );
    }
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
        let text = format!(r#"{{"readings":[{invalid}]}}"#);
        assert!(serde_json::from_str::<Readings>(&text).is_err(), "{text}");
    }
    let extremes = r#"{"readings":[9223372036854775807,-9223372036854775808]}"#;
    assert_eq!(
        serde_json::from_str::<Readings>(extremes)
            .expect("they fit")
            .readings,
        [i64::MAX, i64::MIN]
    );
}
