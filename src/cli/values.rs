//! Parsers for the values of flags.

use std::ops::RangeInclusive;

use crate::quantity;
use crate::report::is_name;

/// Parses a whole number in a range, such as 20000, 20k or 1M.
pub(super) fn whole<T: TryFrom<u64>>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = counted(text).filter(|number| range.contains(number));
        number
            .and_then(|number| T::try_from(number).ok())
            .ok_or_else(|| match (range.start(), range.end()) {
                (least, &u64::MAX) => format!("give a whole number, {least} or more"),
                (least, most) => format!("give a whole number from {least} to {most}"),
            })
    }
}

fn counted(text: &str) -> Option<u64> {
    const UNITS: [(&str, u64); 3] = [("k", 1_000), ("M", 1_000_000), ("G", 1_000_000_000)];
    let text = text.trim();
    let (digits, unit) = UNITS
        .iter()
        .find_map(|(name, unit)| Some((text.strip_suffix(name)?, *unit)))
        .unwrap_or((text, 1));
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

/// Parses any whole number, for a seed.
pub(super) fn seed(text: &str) -> Result<u64, String> {
    whole(0..=u64::MAX)(text)
}

/// Parses the name of a baseline.
pub(super) fn baseline(text: &str) -> Result<String, String> {
    is_name(text).then(|| text.to_owned()).ok_or_else(|| {
        "give a name of letters, digits, `-` and `_`, 64 at most, that begins with a letter or a digit".into()
    })
}

/// Parses the name of a node.
pub(super) fn node(text: &str) -> Result<String, String> {
    const LONGEST: usize = 200;
    let name = text.trim();
    let fits =
        !name.is_empty() && name.chars().count() <= LONGEST && !name.chars().any(char::is_control);
    fits.then(|| name.to_owned()).ok_or_else(|| {
        format!("give a name of 1 to {LONGEST} characters, none of which controls a terminal")
    })
}

/// Parses the number of a CPU.
pub(super) fn cpu(text: &str) -> Result<u32, String> {
    text.trim()
        .parse()
        .map_err(|_| "give the number of a CPU, as in 0".to_owned())
}

/// Parses half the width of an interval of Quality, in points.
pub(super) fn points(text: &str) -> Result<f64, String> {
    positive(text, 100.0)
        .ok_or_else(|| "give points of Quality, more than 0 and up to 100, as in 0.5".into())
}

/// Parses a time, in seconds if it has no unit.
pub(super) fn seconds(text: &str) -> Result<f64, String> {
    const MOST: f64 = 1e6;
    let with_unit = || Some(quantity::time(text).ok()?.0 / 1e9).filter(|seconds| *seconds <= MOST);
    positive(text, MOST).or_else(with_unit).ok_or_else(|| {
        "give a time as in 500ms, 30s, 5m or 1h, or seconds, more than 0 and up to 1000000 s".into()
    })
}

/// Parses a time like [`seconds`] and rounds it up to whole seconds.
pub(super) fn whole_seconds(text: &str) -> Result<u64, String> {
    seconds(text).map(|seconds| seconds.ceil() as u64)
}

/// Parses a period. Returns nanoseconds.
pub(super) fn period(text: &str) -> Result<u64, String> {
    let ns = quantity::time(text).map_err(|error| error.to_string())?.0;
    match ns {
        1e3..=6e10 => Ok(ns.round() as u64),
        _ => Err("give a period from 1us to 60s".into()),
    }
}

fn positive(text: &str, most: f64) -> Option<f64> {
    text.trim()
        .parse()
        .ok()
        .filter(|value| *value > 0.0 && *value <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_out_of_range_are_refused() {
        assert_eq!(whole::<u32>(1..=9)("3"), Ok(3));
        assert_eq!(
            whole::<u32>(1..=9)("0"),
            Err("give a whole number from 1 to 9".into())
        );
        assert_eq!(
            whole::<u64>(1..=u64::MAX)("-1"),
            Err("give a whole number, 1 or more".into())
        );
        assert!(whole::<u32>(1..=u64::MAX)("4294967296").is_err());
        assert_eq!(whole::<u64>(1..=u64::MAX)("20k"), Ok(20_000));
        assert!(
            [
                "k",
                "1.5k",
                "1kk",
                "99999999999999999999G",
                "20000000000000G"
            ]
            .iter()
            .all(|text| whole::<u64>(1..=u64::MAX)(text).is_err())
        );
        assert!(cpu("x").unwrap_err().contains("number of a CPU"));
        assert!(points("0").is_err() && points("101").is_err() && points("nan").is_err());
    }

    #[test]
    fn times_are_seconds_or_have_units() {
        assert_eq!(seconds("2.5"), Ok(2.5));
        assert_eq!(seconds("500ms"), Ok(0.5));
        assert_eq!(
            (seconds("5m"), seconds("2min"), seconds("1h")),
            (Ok(300.0), Ok(120.0), Ok(3600.0))
        );
        assert_eq!(whole_seconds("1500ms"), Ok(2));
        assert!(
            ["", "0", "-1", "1e9", "ten", "inf", "nan"]
                .iter()
                .all(|text| seconds(text).is_err())
        );
    }
}
