use super::{parse_frequency, parse_time};
use crate::model::{Hertz, Nanos};
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
    ] {
        assert_eq!(parse_time(text), Ok(Nanos(ns)), "{text}");
    }
    assert_eq!(parse_frequency("2.8GHz"), Ok(Hertz(2.8e9)));
    assert_eq!(parse_frequency("2793 mhz"), Ok(Hertz(2793e6)));
}

#[test]
fn errors_name_the_problem() {
    for (text, problem) in [
        ("", "is no number"),
        (" ", "is no number"),
        ("ns", "is no number"),
        ("NaNns", "is no number"),
        ("-infns", "is no number"),
        ("e5ns", "is no number"),
        (".ns", "is no number"),
        ("ms5", "is no number"),
        ("١ns", "is no number"),
        ("1.2.3ns", "is no number"),
        ("5ns ns", "is no number"),
        ("1,5ms", "is no number"),
        ("1_000ns", "is no number"),
        ("-5ns", "is not above zero"),
        ("0s", "is not above zero"),
        ("-0ns", "is not above zero"),
        ("5", "has no unit"),
        ("1e999ns", "is too large"),
        ("1e305s", "is too large"),
        ("5parsec", "has an unknown unit; give a time"),
        ("5ens", "has an unknown unit"),
        ("5GHz", "has an unknown unit"),
        ("5NS", "has an unknown unit"),
        ("5cycles", "has an unknown unit"),
    ] {
        let error = parse_time(text).expect_err(text).to_string();
        assert!(error.contains(problem), "{error}");
    }
    for (text, problem) in [
        ("0GHz", "is not above zero"),
        ("0.5Hz", "is no frequency of a core"),
        ("1e-300GHz", "is no frequency of a core"),
        ("1e4GHz", "is no frequency of a core"),
        ("1e-999Hz", "is not above zero"),
        ("2.8", "has no unit"),
        ("5ns", "has an unknown unit; give a frequency"),
        ("5 GHZs", "'5 GHZs' has an unknown unit"),
    ] {
        let error = parse_frequency(text).expect_err(text).to_string();
        assert!(error.contains(problem), "{error}");
    }
}

proptest! {
    #[test]
    fn any_text_never_panics(text in any::<String>()) {
        let _ = (parse_frequency(&text), parse_time(&text));
    }

    #[test]
    fn almost_valid_text_never_panics(text in "[-+0-9.eE µnmsGHz]{0,12}") {
        for number in [parse_time(&text).ok().map(|ns| ns.0), parse_frequency(&text).ok().map(|hz| hz.0)].into_iter().flatten() {
            prop_assert!(number.is_finite() && number > 0.0);
        }
    }
}
