//! Parsers for the values of flags.

use std::fmt::Display;
use std::ops::RangeInclusive;

use crate::quantity;
use reporting::report::is_baseline_name;
use reporting::text::plain;

/// The error of a value that is none of what is expected.
pub(super) fn expected(what: impl Display) -> String {
    format!("give {what}")
}

/// Returns a parser for whole numbers in a range, such as 20000, 20k or 1M.
pub(super) fn whole_number_parser<T: TryFrom<u64>>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = parse_count(text).filter(|number| range.contains(number));
        number
            .and_then(|number| T::try_from(number).ok())
            .ok_or_else(|| {
                expected(match (range.start(), range.end()) {
                    (min, &u64::MAX) => format!("a whole number, {min} or more"),
                    (min, max) => format!("a whole number from {min} to {max}"),
                })
            })
    }
}

/// Parses a whole number with an optional unit k, M or G. `None` if it is invalid or too large.
fn parse_count(text: &str) -> Option<u64> {
    const UNITS: [(&str, u64); 3] = [("k", 1_000), ("M", 1_000_000), ("G", 1_000_000_000)];
    let text = text.trim();
    let (digits, unit) = UNITS
        .iter()
        .find_map(|(name, unit)| Some((text.strip_suffix(name)?, *unit)))
        .unwrap_or((text, 1));
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

/// Parses any whole number, for a seed.
pub(super) fn parse_seed(text: &str) -> Result<u64, String> {
    whole_number_parser(0..=u64::MAX)(text)
}

/// Parses the name of a baseline.
pub(super) fn parse_baseline(text: &str) -> Result<String, String> {
    is_baseline_name(text).then(|| text.to_owned()).ok_or_else(|| {
        expected("a name of letters, digits, `-` and `_`, at most 64, that begins with a letter or a digit")
    })
}

/// Parses the name of a machine in a fleet (`--node`).
pub(super) fn parse_node(text: &str) -> Result<String, String> {
    const MAX_CHARACTERS: usize = 200;
    let name = text.trim();
    let fits = !name.is_empty() && name.chars().count() <= MAX_CHARACTERS && plain(name) == name;
    fits.then(|| name.to_owned()).ok_or_else(|| {
        expected(format!("a name of 1 to {MAX_CHARACTERS} characters, without control or invisible characters or double blanks"))
    })
}

/// Parses the number of a CPU.
pub(super) fn parse_cpu(text: &str) -> Result<u32, String> {
    text.trim()
        .parse()
        .map_err(|_| expected("the number of a CPU, as in 0"))
}

/// Parses a time, which is in seconds if it has no unit. Returns seconds.
pub(super) fn parse_seconds(text: &str) -> Result<f64, String> {
    const MAX_SECONDS: f64 = 1e6;
    let with_unit =
        || Some(quantity::parse_time(text).ok()?.0 / 1e9).filter(|seconds| *seconds <= MAX_SECONDS);
    parse_positive(text, MAX_SECONDS)
        .or_else(with_unit)
        .ok_or_else(|| {
            expected(
                "a time as in 500ms, 30s, 5m or 1h, or seconds, more than 0 and up to 1000000 s",
            )
        })
}

/// Parses a time like [`parse_seconds`] and rounds it up to whole seconds.
pub(super) fn parse_whole_seconds(text: &str) -> Result<u64, String> {
    parse_seconds(text).map(|seconds| seconds.ceil() as u64)
}

/// Parses a period from 1 µs to 60 s. Returns nanoseconds.
pub(super) fn parse_period(text: &str) -> Result<u64, String> {
    match quantity::parse_time(text)?.0 {
        ns @ 1e3..=6e10 => Ok(ns.round() as u64),
        _ => Err(expected("a period from 1us to 60s")),
    }
}

/// Parses a number above zero, up to `max`.
fn parse_positive(text: &str, max: f64) -> Option<f64> {
    text.trim()
        .parse()
        .ok()
        .filter(|value| *value > 0.0 && *value <= max)
}

/// Parses a share between 0 and 1: `1%`, `0.5 %` or `0.01`. Without a percent sign, numbers from 1 on are
/// in percent, too.
pub(super) fn parse_share(text: &str) -> Result<f64, String> {
    let trimmed = text.trim();
    let (number, scale) = match trimmed.strip_suffix('%') {
        Some(number) => (number.trim_end(), 0.01),
        None => (trimmed, 1.0),
    };
    let share = number.parse().map(|number: f64| match scale * number {
        percent @ 1.0.. if scale == 1.0 => percent * 0.01,
        share => share,
    });
    share
        .ok()
        .filter(|share| *share > 0.0 && *share < 1.0)
        .ok_or_else(|| expected("more than 0 % and less than 100 %, as in 1% or 0.01"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_numbers_out_of_range() {
        assert_eq!(whole_number_parser::<u32>(1..=9)("3"), Ok(3));
        assert_eq!(
            whole_number_parser::<u32>(1..=9)("0"),
            Err(expected("a whole number from 1 to 9"))
        );
        assert_eq!(
            whole_number_parser::<u64>(1..=u64::MAX)("-1"),
            Err(expected("a whole number, 1 or more"))
        );
        assert!(whole_number_parser::<u32>(1..=u64::MAX)("4294967296").is_err());
        assert_eq!(whole_number_parser::<u64>(1..=u64::MAX)("20k"), Ok(20_000));
        assert!(
            [
                "k",
                "1.5k",
                "1kk",
                "99999999999999999999G",
                "20000000000000G"
            ]
            .iter()
            .all(|text| whole_number_parser::<u64>(1..=u64::MAX)(text).is_err())
        );
        assert!(
            parse_cpu("x")
                .unwrap_err()
                .to_string()
                .contains("number of a CPU")
        );
    }

    #[test]
    fn reads_times_with_or_without_unit() {
        assert_eq!(parse_seconds("2.5"), Ok(2.5));
        assert_eq!(parse_seconds("500ms"), Ok(0.5));
        assert_eq!(
            (
                parse_seconds("5m"),
                parse_seconds("2min"),
                parse_seconds("1h")
            ),
            (Ok(300.0), Ok(120.0), Ok(3600.0))
        );
        assert_eq!(parse_whole_seconds("1500ms"), Ok(2));
        assert!(
            ["", "0", "-1", "1e9", "ten", "inf", "nan"]
                .iter()
                .all(|text| parse_seconds(text).is_err())
        );
    }

    #[test]
    fn parses_shares() {
        assert_eq!(parse_share("1%"), Ok(0.01));
        assert!(parse_share(" 95 % ").is_ok_and(|share| (share - 0.95).abs() < 1e-12));
        assert_eq!(
            (parse_share("0.05"), parse_share("1")),
            (Ok(0.05), Ok(0.01))
        );
        for text in [
            "", "%", "one", "nan", "inf%", "1%%", "0", "100", "-1%", "200%",
        ] {
            assert!(parse_share(text).is_err(), "{text}");
        }
    }
}
