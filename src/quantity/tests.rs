use super::{QuantityError, frequency, time};
use crate::model::{Hertz, Nanos};
use proptest::prelude::*;

#[test]
fn what_is_accepted() {
    for (text, ns) in [
        ("1000ns", 1000.0),
        ("1ms", 1e6),
        ("15.625ms", 15_625_000.0),
        ("3us", 3000.0),
        ("3µs", 3000.0),
        ("3\u{3bc}s", 3000.0),
        ("1s", 1e9),
        (" 1e3 ns ", 1000.0),
        ("+.5e+1ms", 5e6),
    ] {
        assert_eq!(time(text), Ok(Nanos(ns)), "{text}");
    }
    assert_eq!(frequency("2.8GHz"), Ok(Hertz(2.8e9)));
    assert_eq!(frequency("2793 mhz"), Ok(Hertz(2793e6)));
}

#[test]
fn what_is_refused() {
    use QuantityError as E;
    fn refused(text: &str) -> QuantityError {
        time(text).expect_err(text)
    }
    for text in [
        "", " ", "ns", "NaNns", "infns", "-infns", "e5ns", ".ns", "+ns", "ms5", "µs", "١ns",
    ] {
        assert!(
            matches!(refused(text), E::NotANumber { .. }),
            "{text}: {}",
            refused(text)
        );
    }
    assert!(matches!(refused("-5ns"), E::Negative { .. }));
    assert!(matches!(refused("5"), E::NoUnit { .. }));
    for text in ["1e999ns", "1e305s"] {
        assert!(matches!(refused(text), E::TooLarge { .. }), "{text}");
    }
    for text in [
        "5parsec", "5ens", "1.2.3ns", "5GHz", "5NS", "5ns ns", "1,5ms", "1_000ns", "5cycles",
    ] {
        assert!(
            matches!(refused(text), E::UnknownUnit { .. }),
            "{text}: {}",
            refused(text)
        );
    }
    for text in ["0s", "-0ns"] {
        assert!(matches!(refused(text), E::Zero { .. }), "{text}");
    }
    for text in ["0GHz", "1e-999Hz"] {
        assert!(matches!(frequency(text), Err(E::Zero { .. })), "{text}");
    }
    assert!(matches!(frequency("2.8"), Err(E::NoUnit { .. })));
    assert!(matches!(frequency("5ns"), Err(E::UnknownUnit { .. })));
}

#[test]
fn errors_name_what_is_accepted() {
    let text = time("5parsec").unwrap_err().to_string();
    assert!(
        text.contains("'parsec'") && text.contains("ns, us, µs, ms or s"),
        "{text}"
    );
}

proptest! {
    #[test]
    fn no_string_panics(text in any::<String>()) {
        let _ = (frequency(&text), time(&text));
    }

    #[test]
    fn no_near_miss_panics(text in "[-+0-9.eE µnmsGHz]{0,12}") {
        for number in [time(&text).ok().map(|ns| ns.0), frequency(&text).ok().map(|hz| hz.0)].into_iter().flatten() {
            prop_assert!(number.is_finite() && number > 0.0);
        }
    }
}
