//! The interval of a difference of two figures that have intervals of their own.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

pub use crate::model::Interval;

/// The difference of two figures, new less old.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The old figure.
    #[serde(serialize_with = "with_interval")]
    pub old: Interval,
    /// The new figure.
    #[serde(serialize_with = "with_interval")]
    pub new: Interval,
    /// New less old, in the unit of the figure (Quality: points).
    pub absolute: f64,
    /// Its 95 % interval; null where one of the figures has none.
    pub interval: Option<(f64, f64)>,
    /// The difference in percent of the old figure, where that makes sense.
    pub percent: Option<f64>,
    /// The interval of it.
    pub percent_interval: Option<(f64, f64)>,
}

/// As comparisons are written: a figure without both ends has no interval.
fn with_interval<S: Serializer>(figure: &Interval, serializer: S) -> Result<S::Ok, S::Error> {
    let mut written = serializer.serialize_struct("Figure", 2)?;
    written.serialize_field("value", &figure.value)?;
    written.serialize_field("interval", &figure.ends())?;
    written.end()
}

impl Difference {
    /// `new` less `old`; in percent as well where it is `relative` and both are above zero.
    #[must_use]
    pub fn between(old: Interval, new: Interval, relative: bool) -> Self {
        let ratio = (relative && old.value > 0.0 && new.value > 0.0).then(|| new.value / old.value);
        let logarithm = |figure: Interval| {
            let interval = figure.ends().filter(|(low, _)| *low > 0.0);
            Interval::with_ends(
                figure.value.ln(),
                interval.map(|(low, high)| (low.ln(), high.ln())),
            )
        };
        let percent = |ratio: f64| 100.0 * (ratio - 1.0);
        // A quotient beyond all numbers says nothing.
        let ratio = ratio.filter(|ratio| percent(*ratio).is_finite());
        let ratios = ratio.and_then(|_| recovered(logarithm(old), logarithm(new)));
        Self {
            old,
            new,
            absolute: new.value - old.value,
            interval: recovered(old, new),
            percent: ratio.map(percent),
            percent_interval: ratios
                .map(|(low, high)| (percent(low.exp()), percent(high.exp())))
                .filter(|(low, high)| low.is_finite() && high.is_finite()),
        }
    }
}

/// Zou and Donner's method of variance estimates recovery (Statistics in Medicine 27, 2008,
/// 1693-1702): each side of each interval tells the variance on that side, and variances of
/// independent figures add up. It suits intervals that are longer on one side.
fn recovered(old: Interval, new: Interval) -> Option<(f64, f64)> {
    let ((old_low, old_high), (new_low, new_high)) = (old.ends()?, new.ends()?);
    let difference = new.value - old.value;
    let below = (new.value - new_low).hypot(old_high - old.value);
    let above = (new_high - new.value).hypot(old.value - old_low);
    Some((difference - below, difference + above))
}

#[cfg(test)]
mod tests {
    use super::{Difference, Interval};
    use proptest::prelude::*;

    fn figure(value: f64, below: f64, above: f64) -> Interval {
        Interval::with_ends(value, Some((value - below, value + above)))
    }

    #[test]
    fn sides_add_up_as_squares() {
        let difference = Difference::between(figure(10.0, 4.0, 3.0), figure(30.0, 4.0, 3.0), true);
        assert_eq!(difference.interval, Some((15.0, 25.0)));
        assert_eq!(difference.percent, Some(200.0));
    }

    #[test]
    fn without_an_interval_nobody_can_tell() {
        let bare = Interval {
            high: 11.0,
            ..Interval::unbounded(10.0)
        };
        let difference = Difference::between(bare, figure(30.0, 1.0, 1.0), true);
        assert_eq!(difference.interval, None);
        assert_eq!(Interval::unbounded(f64::NAN).sound(), None);
        // Of one process, as a report and as the analysis have it.
        let one = Interval::unbounded(10.0);
        for one in [one, one.sound().expect("it has a value")] {
            let difference = Difference::between(figure(30.0, 1.0, 1.0), one, true);
            assert_eq!((one.ends(), difference.interval), (None, None));
        }
        let free = Difference::between(figure(0.0, 0.0, 0.0), figure(1.0, 0.1, 0.1), true);
        assert_eq!(free.percent, None);
    }

    /// 95 % means it: the interval misses the true difference of two normal figures about once in
    /// twenty.
    #[test]
    fn the_interval_covers_what_it_says() {
        use rand::rngs::StdRng;
        use rand::{RngExt, SeedableRng};
        let mut random = StdRng::seed_from_u64(11);
        let mut normal = |mean: f64, deviation: f64| {
            let sum: f64 = (0..12).map(|_| random.random::<f64>()).sum();
            mean + deviation * (sum - 6.0)
        };
        let mut draw = |mean: f64, deviation: f64| {
            let value = normal(mean, deviation);
            figure(value, 1.96 * deviation, 1.96 * deviation)
        };
        let covered = (0..20_000)
            .filter(|_| {
                let (low, high) = Difference::between(draw(40.0, 0.5), draw(43.0, 1.5), false)
                    .interval
                    .unwrap();
                (low..=high).contains(&3.0)
            })
            .count();
        assert!((18_800..=19_200).contains(&covered), "{covered} of 20000");
    }

    proptest! {
        #[test]
        fn the_other_way_round_is_the_mirror(
            old in 0.1f64..1e3, new in 0.1f64..1e3, below in 0.0f64..10.0, above in 0.0f64..10.0,
        ) {
            let (old, new) = (figure(old, below, above), figure(new, above, below));
            let (there, back) = (Difference::between(old, new, true), Difference::between(new, old, true));
            let ((low, high), (back_low, back_high)) = (there.interval.unwrap(), back.interval.unwrap());
            prop_assert!((low + back_high).abs() < 1e-9 && (high + back_low).abs() < 1e-9);
            prop_assert!(low <= there.absolute && there.absolute <= high);
        }
    }
}
