use super::{parse_frequency, parse_rate, parse_time};
use estimators::model::{Hertz, Nanos};
use proptest::prelude::*;

#[test]
fn accepts_numbers_with_units() {
    for (text, ns) in [
        ("1000ns", 1000.0),
        ("1ms", 1e6),
        ("15.625ms", 15_625_000.0),
        ("3us", 3000.0),
        ("3µs", 3000.0),
        ("3\u{3bc}s", 3000.0),
        ("1s", 1e9),
        ("2min", 1.2e11),
        ("1h", 3.6e12),
        (" 1e3 ns ", 1000.0),
        ("+.5e+1ms", 5e6),
        ("3_000ns", 3000.0),
    ] {
        assert_eq!(parse_time(text), Ok(Nanos(ns)), "{text}");
    }
    assert_eq!(parse_frequency("2.8GHz"), Ok(Hertz(2.8e9)));
    assert_eq!(parse_frequency("2793 mhz"), Ok(Hertz(2793e6)));
}

#[test]
fn rates_have_many_forms() {
    for text in [
        "800_000/s",
        "800000",
        "800k/s",
        "800k",
        "0.8M per second",
        "800 kHz",
    ] {
        assert_eq!(parse_rate(text), Ok(8e5), "{text}");
    }
    for text in ["", "/s", "0", "-1/s", "10/fortnight", "ten/s", "1e999"] {
        assert!(parse_rate(text).is_err(), "{text}");
    }
}

proptest! {
    #[test]
    fn any_text_never_panics(text in any::<String>()) {
        let _ = (parse_frequency(&text), parse_time(&text), parse_rate(&text));
    }

    #[test]
    fn almost_valid_text_never_panics(text in "[-+0-9.eE µnmsGHz]{0,12}") {
        for number in [parse_time(&text).ok().map(|ns| ns.0), parse_frequency(&text).ok().map(|hz| hz.0)].into_iter().flatten() {
            prop_assert!(number.is_finite() && number > 0.0);
        }
    }
}
