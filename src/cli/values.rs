//! Values of flags, as people type them.

use std::ops::RangeInclusive;

use crate::method::requirement::share;
use crate::quantity;

/// A whole number in a range.
pub(super) fn whole<T: TryFrom<u64>>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.trim().parse::<u64>().ok().filter(|number| range.contains(number));
        number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| match range.end() {
            &u64::MAX => format!("give a whole number, {} or more", range.start()),
            most => format!("give a whole number from {} to {most}", range.start()),
        })
    }
}

/// Any whole number, as for a seed.
pub(super) fn seed(text: &str) -> Result<u64, String> {
    whole(0..=u64::MAX)(text)
}

/// The number of a CPU.
pub(super) fn cpu(text: &str) -> Result<u32, String> {
    text.trim().parse().map_err(|_| "give the number of a CPU, as in 0".to_owned())
}

/// A share of invocations.
pub(super) fn spread(text: &str) -> Result<f64, String> {
    let possible = share(text).ok().filter(|share| *share > 0.0 && *share <= 1.0);
    possible.ok_or_else(|| {
        "give the share of invocations within ±1 accuracy of the median cost, above 0 and at most 1, as in 0.993 or 99.3%".into()
    })
}

/// Half the width of an interval of Quality, in points.
pub(super) fn points(text: &str) -> Result<f64, String> {
    positive(text, 100.0).ok_or_else(|| "give points of Quality, more than 0 and up to 100, as in 0.5".into())
}

/// Seconds, or a time with its unit.
pub(super) fn seconds(text: &str) -> Result<f64, String> {
    const MOST: f64 = 1e6;
    let with_unit = || quantity::time(text).ok().map(|time| time.0 / 1e9);
    positive(text, MOST)
        .or_else(|| with_unit().filter(|seconds| *seconds > 0.0 && *seconds <= MOST))
        .ok_or_else(|| "give seconds, or a time as in 500ms, more than 0 and up to 1000000 s".into())
}

/// The same in whole seconds, rounded up.
pub(super) fn whole_seconds(text: &str) -> Result<u64, String> {
    seconds(text).map(|seconds| seconds.ceil() as u64)
}

fn positive(text: &str, most: f64) -> Option<f64> {
    text.trim().parse().ok().filter(|value| *value > 0.0 && *value <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_out_of_range_are_refused_in_a_sentence() {
        assert_eq!(whole::<u32>(1..=9)("3"), Ok(3));
        assert_eq!(whole::<u32>(1..=9)("0"), Err("give a whole number from 1 to 9".into()));
        assert_eq!(whole::<u64>(1..=u64::MAX)("-1"), Err("give a whole number, 1 or more".into()));
        assert!(whole::<u32>(1..=u64::MAX)("4294967296").is_err());
        assert!(cpu("x").unwrap_err().contains("number of a CPU"));
        assert!(points("0").is_err() && points("101").is_err() && points("nan").is_err());
    }

    #[test]
    fn times_are_seconds_or_have_their_unit() {
        assert_eq!(seconds("2.5"), Ok(2.5));
        assert_eq!(seconds("500ms"), Ok(0.5));
        assert_eq!(whole_seconds("1500ms"), Ok(2));
        assert!(["", "0", "-1", "1e9", "ten", "inf"].iter().all(|text| seconds(text).is_err()));
    }
}
