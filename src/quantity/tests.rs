use super::{Quantity, QuantityError, frequency, time};
use crate::model::{Cycles, Hertz, Nanos};
use proptest::prelude::*;

fn ns(ns: f64) -> Quantity {
    Quantity::Time(Nanos(ns))
}

#[test]
fn what_is_accepted() {
    for (text, quantity) in [
        ("1000ns", ns(1000.0)),
        ("1ms", ns(1e6)),
        ("15.625ms", ns(15_625_000.0)),
        ("3us", ns(3000.0)),
        ("3µs", ns(3000.0)),
        ("3\u{3bc}s", ns(3000.0)),
        ("1s", ns(1e9)),
        (" 1e3 ns ", ns(1000.0)),
        ("+.5e+1ms", ns(5e6)),
        ("2400cycles", Quantity::Cycles(Cycles(2400.0))),
        ("1 cycle", Quantity::Cycles(Cycles(1.0))),
        ("10ticks", Quantity::Ticks(10.0)),
        ("0ns", ns(0.0)),
        ("-0ns", ns(0.0)),
    ] {
        assert_eq!(text.parse(), Ok(quantity), "{text}");
    }
    assert_eq!(frequency("2.8GHz"), Ok(Hertz(2.8e9)));
    assert_eq!(frequency("2793 mhz"), Ok(Hertz(2793e6)));
    assert_eq!(time("100ns"), Ok(Nanos(100.0)));
}

#[test]
fn what_is_refused() {
    use QuantityError as E;
    fn refused(text: &str) -> QuantityError {
        text.parse::<Quantity>().expect_err(text)
    }
    for text in ["", " ", "ns", "NaNns", "infns", "-infns", "e5ns", ".ns", "+ns", "ms5", "µs", "١ns"] {
        assert!(matches!(refused(text), E::NotANumber { .. }), "{text}: {}", refused(text));
    }
    assert!(matches!(refused("-5ns"), E::Negative { .. }));
    assert!(matches!(refused("5"), E::NoUnit { .. }));
    for text in ["1e999ns", "1e305s", "1e999cycles"] {
        assert!(matches!(refused(text), E::TooLarge { .. }), "{text}");
    }
    for text in ["5parsec", "5ens", "1.2.3ns", "5GHz", "5NS", "5ns ns", "1,5ms", "1_000ns"] {
        assert!(matches!(refused(text), E::UnknownUnit { .. }), "{text}: {}", refused(text));
    }
    for text in ["0GHz", "1e-999Hz"] {
        assert!(matches!(frequency(text), Err(E::Zero { .. })), "{text}");
    }
    assert!(matches!(frequency("2.8"), Err(E::NoUnit { .. })));
    assert!(matches!(frequency("5ns"), Err(E::UnknownUnit { .. })));
    assert!(matches!(time("0s"), Err(E::Zero { .. })));
    assert!(matches!(time("5cycles"), Err(E::UnknownUnit { .. })));
}

#[test]
fn errors_name_what_is_accepted() {
    let text = "5parsec".parse::<Quantity>().unwrap_err().to_string();
    assert!(text.contains("'parsec'") && text.contains("ns, us, µs, ms, s, cycles or ticks"), "{text}");
}

proptest! {
    #[test]
    fn no_string_panics(text in any::<String>()) {
        let _ = (text.parse::<Quantity>(), frequency(&text), time(&text));
    }

    #[test]
    fn no_near_miss_panics(text in "[-+0-9.eE µnmsGHzcyltik]{0,12}") {
        for number in [text.parse::<Quantity>().ok().map(value), frequency(&text).ok().map(|hz| hz.0)].into_iter().flatten() {
            prop_assert!(number.is_finite() && number >= 0.0);
        }
    }

    #[test]
    fn what_is_printed_reads_back(number in 0.0f64..1e300, which in 0..3) {
        let quantity = match which {
            0 => ns(number),
            1 => Quantity::Cycles(Cycles(number)),
            _ => Quantity::Ticks(number),
        };
        prop_assert_eq!(quantity.to_string().parse(), Ok(quantity));
    }
}

fn value(quantity: Quantity) -> f64 {
    match quantity {
        Quantity::Time(ns) => ns.0,
        Quantity::Cycles(cycles) => cycles.0,
        Quantity::Ticks(ticks) => ticks,
    }
}
