//! Formats numbers for people: four significant digits and a suitable unit. JSON and CSV do not use
//! this module, because they keep every digit.

use crate::model::Estimate;

/// The text for an unknown value.
pub const NOTHING: &str = "–";

/// Units of time: their length in nanoseconds, and the text after a number.
const TIME_UNITS: [(f64, &str); 4] = [(1.0, " ns"), (1e3, " µs"), (1e6, " ms"), (1e9, " s")];
/// Multiples of a count, with the text after a number.
const COUNT_UNITS: [(f64, &str); 4] = [(1.0, ""), (1e3, "k"), (1e6, "M"), (1e9, "G")];
/// Units of frequency in hertz, with the text after a number.
const RATE_UNITS: [(f64, &str); 4] = [(1.0, " Hz"), (1e3, " kHz"), (1e6, " MHz"), (1e9, " GHz")];

/// The least number that is written without an exponent. *Judgement*: with it no column gets wider than a
/// line.
const LEAST_WITHOUT_EXPONENT: f64 = 1e-12;

/// Formats `value` with `digits` significant digits, without an exponent unless it is tiny; digits before
/// the decimal point are never dropped.
pub fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        // Zero is printed without a sign.
        return format!("{}", value + 0.0);
    }
    if value.abs() < LEAST_WITHOUT_EXPONENT {
        return format!("{value:.*e}", digits - 1);
    }
    let decimals = |value: f64| {
        let magnitude = value.abs().log10().floor() as i64;
        (digits as i64 - 1 - magnitude).clamp(0, 20) as usize
    };
    let text = format!("{:.*}", decimals(value), value);
    // 9.9996 rounds up to 10.000, which has one digit too many.
    let rounded = text.parse().unwrap_or(value);
    let rounded_decimals = decimals(if rounded == 0.0 { value } else { rounded });
    if rounded_decimals == decimals(value) {
        text
    } else {
        format!("{value:.rounded_decimals$}")
    }
}

/// Formats a value with four significant digits in the largest unit that it reaches.
fn scaled(value: Option<f64>, units: &[(f64, &str)]) -> String {
    let Some(value) = value.filter(|value| value.is_finite()) else {
        return NOTHING.to_owned();
    };
    // 999.96 would be written as 1000, so it belongs to the next unit.
    let reaches = |size: f64| value.abs() >= 0.99995 * size;
    let &(size, unit) = units
        .iter()
        .rev()
        .find(|(size, _)| reaches(*size))
        .unwrap_or(&units[0]);
    let text = significant(value / size, 4);
    if value != 0.0 && value.abs() / size < 1e-4 {
        format!("{:.2e}{unit}", value / size)
    } else {
        text + unit
    }
}

/// Formats a value with half of its interval, rounded up to two digits, and no more digits than it
/// allows: `-0.4730 ± 0.0021`, `-900 ± 1900`.
pub fn with_half_width(value: f64, half: f64) -> String {
    if !(half.is_finite() && half >= LEAST_WITHOUT_EXPONENT && value.is_finite()) {
        return significant(value, 4);
    }
    let magnitude = half.log10().floor() as i32 - 1;
    let (unit, decimals) = (10_f64.powi(magnitude), (-magnitude).max(0) as usize);
    // Zero has no sign.
    let value = (value / unit).round() * unit + 0.0;
    let half = (half / unit - 1e-6).ceil() * unit;
    format!("{value:.decimals$} ± {half:.decimals$}")
}

/// Formats a number with a fixed number of decimals; zero has no sign.
pub fn fixed(number: f64, decimals: usize) -> String {
    let text = format!("{number:.decimals$}");
    match text.strip_prefix('-') {
        Some(digits) if digits.bytes().all(|digit| matches!(digit, b'0' | b'.')) => {
            digits.to_owned()
        }
        _ => text,
    }
}

/// The ends of an interval in the unit and with the decimals of its value, which is `printed`, as in
/// ` [20.91, 21.50]`. Empty if they are unknown or printed as the value.
pub fn ends_like(figure: Estimate, printed: &str) -> String {
    let end = printed.find(|c| !"-.0123456789".contains(c));
    let (number, unit) = printed.split_at(end.unwrap_or(printed.len()));
    let units = TIME_UNITS.iter().chain(&RATE_UNITS).chain(&COUNT_UNITS);
    let size = units.into_iter().find(|(_, name)| *name == unit);
    let (Some((size, _)), Some((low, high))) = (size, figure.ends()) else {
        return String::new();
    };
    let decimals = number
        .split_once('.')
        .map_or(0, |(_, decimals)| decimals.len());
    let [low, high] = [low, high].map(|end| fixed(end / size, decimals));
    if low == high && low == number {
        return String::new();
    }
    format!(" [{low}, {high}]")
}

/// Formats a time in nanoseconds, as in `10.01 ns`, `4.000 ms`.
pub fn time(ns: impl Into<Option<f64>>) -> String {
    scaled(ns.into(), &TIME_UNITS)
}

/// Formats a number of cycles or ticks, as in `27.93`, `4800`, `11.17M`.
pub fn count(number: Option<f64>) -> String {
    match number {
        Some(number) if (1000.0..9999.5).contains(&number) => format!("{number:.0}"),
        _ => scaled(number, &COUNT_UNITS),
    }
}

/// Removes trailing zeros after the decimal point, as for an axis: `10k`, `20 µs`.
pub fn trimmed(figure: &str) -> String {
    let (digits, unit) = figure.split_at(figure.find([' ', 'k', 'M', 'G']).unwrap_or(figure.len()));
    let digits = if digits.contains('.') {
        digits.trim_end_matches('0').trim_end_matches('.')
    } else {
        digits
    };
    digits.to_owned() + unit
}

/// Formats a range of times in nanoseconds, as in `0.1–4.0 ns`: with one decimal if both are below
/// 100 ns, otherwise without, because repeated runs agree no better.
pub fn range_ns(range: [f64; 2]) -> String {
    let decimals = usize::from(range.iter().all(|ns| ns.abs() < 99.95));
    // A zero has no minus sign.
    let [low, high] = range.map(|ns| if ns.abs() < 0.05 { 0.0 } else { ns });
    format!("{low:.decimals$}–{high:.decimals$} ns")
}

/// Formats a time in nanoseconds without trailing zeros: `1 ms`.
pub fn short_time(ns: f64) -> String {
    trimmed(&time(ns))
}

/// Formats a frequency in hertz, as in `2.596 GHz`.
pub fn rate(hz: Option<f64>) -> String {
    scaled(hz, &RATE_UNITS)
}

/// Formats Quality in percent with two decimals, without the percent sign.
pub fn percent(quality: Option<f64>) -> String {
    quality
        .filter(|q| q.is_finite())
        .map_or_else(|| NOTHING.to_owned(), |q| format!("{:.2}", q * 100.0))
}

#[cfg(test)]
mod tests {
    use crate::numbers::{
        count, percent, range_ns, rate, significant, time, trimmed, with_half_width,
    };
    use proptest::prelude::*;

    #[test]
    fn writes_four_digits() {
        for (value, text) in [
            (10.0149, "10.01"),
            (0.35812, "0.3581"),
            (9.99996, "10.00"),
            (999.94, "999.9"),
            (123_456.0, "123456"),
            (0.0, "0"),
            (1.0, "1.000"),
            (-5e-324, "-4.941e-324"),
        ] {
            assert_eq!(significant(value, 4), text);
        }
    }

    #[test]
    fn uncertainty_limits_digits() {
        for (value, half, text) in [
            (-925.808, 1875.0, "-900 ± 1900"),
            (82.43, 150.24, "80 ± 160"),
            (-0.47302, 0.00205, "-0.4730 ± 0.0021"),
            (-0.000_029, 0.006_774, "0.0000 ± 0.0068"),
            (3.0, 9.96, "3.0 ± 10.0"),
            (12.0, 0.0, "12.00"),
            (12.0, 1e-300, "12.00"),
            (12.0, f64::INFINITY, "12.00"),
        ] {
            assert_eq!(with_half_width(value, half), text);
        }
    }

    #[test]
    fn ranges_have_one_precision() {
        for (range, text) in [
            ([0.13, 4.0], "0.1–4.0 ns"),
            ([-0.04, 0.2], "0.0–0.2 ns"),
            ([-1.2, 0.2], "-1.2–0.2 ns"),
            ([98.7, 144.6], "99–145 ns"),
        ] {
            assert_eq!(range_ns(range), text);
        }
    }

    #[test]
    fn chooses_largest_reached_unit() {
        for (ns, text) in [
            (0.358, "0.3580 ns"),
            (10.0149, "10.01 ns"),
            (999.96, "1.000 µs"),
            (999.94, "999.9 ns"),
            (4e6, "4.000 ms"),
            (15_625_000.0, "15.62 ms"),
            (1e9, "1.000 s"),
            (7.2e12, "7200 s"),
            (0.0, "0 ns"),
            (1e-7, "1.00e-7 ns"),
            (-3.5, "-3.500 ns"),
        ] {
            assert_eq!(time(Some(ns)), text, "{ns}");
        }
    }

    #[test]
    fn trailing_zeros_are_trimmed() {
        assert_eq!(
            ["10.00k", "20.00 µs", "100", "1.500 ms", "–"].map(trimmed),
            ["10k", "20 µs", "100", "1.5 ms", "–"]
        );
    }

    #[test]
    fn unknown_figures_are_dashes() {
        for nothing in [None, Some(f64::NAN), Some(f64::INFINITY)] {
            let all = [time, count, percent, rate].map(|write| write(nothing));
            assert_eq!(all, ["–"; 4]);
        }
    }

    #[test]
    fn counts_and_rates() {
        let counts = [4800.0, 9999.7, 11_172_000.0, 999.97].map(|it| count(Some(it)));
        assert_eq!(counts, ["4800", "10.00k", "11.17M", "1.000k"]);
        assert_eq!(rate(Some(2.5959e9)), "2.596 GHz");
        assert_eq!(percent(Some(0.489_149)), "48.91");
    }

    proptest! {
        #[test]
        fn times_are_exact_and_short(value in 1e-3f64..1e12) {
            let text = time(Some(value));
            let (number, unit) = text.split_once(' ').unwrap();
            let size = super::TIME_UNITS.iter().find(|(_, name)| name.trim() == unit).unwrap().0;
            let read = number.parse::<f64>().unwrap() * size;
            prop_assert!((read - value).abs() <= value * 5.1e-4, "{} as {}", value, text);
            prop_assert!(text.chars().count() <= 9, "{}", text);
        }
    }
}
