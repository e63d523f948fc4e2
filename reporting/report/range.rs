//! Figures of a report that cannot be.
//!
//! How many timers and values a document has, told before it is kept: a row takes a hundred times
//! the memory of the shortest text of one, a word ten times.

use std::collections::HashSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, SeqAccess, Visitor};

use super::waits::each_length;
use crate::fields::{Check, Kind, Range, Row, Ticked, Waited, fields, of_kind};
use crate::model::{Granularity, Interval, Report, TimerRow, WaitRow};

/// What cannot be in a report, with its place.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Impossible {
    /// A figure that cannot be.
    #[error("has a figure that cannot be: {place} is {value:?}, outside {range}")]
    Figure {
        /// The timer and the figure.
        place: String,
        /// The figure.
        value: f64,
        /// What is possible.
        range: &'static str,
    },
    /// An interval that ends before it begins.
    #[error(
        "has an interval that cannot be: {place} ends at {high:?}, below its beginning at {low:?}"
    )]
    Interval {
        /// The timer and the figure.
        place: String,
        /// Where it begins.
        low: f64,
        /// Where it ends.
        high: f64,
    },
    /// Two timers share an id.
    #[error("has two timers with the id '{0}'; ids are unique in a report")]
    DuplicateId(String),
    /// Two timers that wait share an id and all conditions.
    #[error(
        "has two timers that wait with the id '{0}' under the same conditions; a report has one"
    )]
    SameConditions(String),
}

/// The first thing in a report that cannot be.
#[must_use]
pub fn impossible(report: &Report) -> Option<Impossible> {
    let of_report = fields().iter().find_map(|field| {
        let (check, value) = (field.check?, field.of_report(report)?);
        wrong(check, value.number().map(Interval::unbounded), &|name| {
            name.to_owned()
        })
    });
    of_report
        .or_else(|| of_timers(report))
        .or_else(|| of_waits(report))
        .or_else(|| of_periods(report))
}

/// Whether a figure and the ends of its interval can be.
fn wrong(
    check: Check,
    figure: Option<Interval>,
    place: &dyn Fn(&str) -> String,
) -> Option<Impossible> {
    let Interval { value, low, high } = figure?;
    let numbers = [
        ("", check.range, value),
        (".low", check.low, low),
        (".high", check.range, high),
    ];
    let is_unknown_end = |end: &str, number: f64| !end.is_empty() && number.is_infinite();
    for (end, range, number) in numbers {
        if !is_unknown_end(end, number) && !range.holds(number) {
            return Some(Impossible::Figure {
                place: place(&format!("{}{end}", check.place)),
                value: number,
                range: range.name,
            });
        }
    }
    (low > high).then(|| Impossible::Interval {
        place: place(check.place),
        low,
        high,
    })
}

fn of_row(row: &Row, kind: Kind, place: &dyn Fn(&str) -> String) -> Option<Impossible> {
    of_kind(kind).find_map(|field| wrong(field.check?, field.figure(row), place))
}

fn of_timers(report: &Report) -> Option<Impossible> {
    let mut seen = HashSet::new();
    report.timers.iter().enumerate().find_map(|(at, row)| {
        if !seen.insert(row.id.as_str()) {
            return Some(Impossible::DuplicateId(row.id.clone()));
        }
        let place = |name: &str| format!("timers[{at}] ('{}'): {name}", row.id);
        of_row(&Row::Clock(row), Kind::Clocks, &place).or_else(|| of_modes(row, &place))
    })
}

/// The costs of a timer are a list.
fn of_modes(row: &TimerRow, place: &dyn Fn(&str) -> String) -> Option<Impossible> {
    let modes = row.distribution.iter().flat_map(|costs| &costs.modes);
    let figures = modes.flat_map(|mode| {
        [
            ("distribution.modes.ns", mode.ns, Range::LENGTH),
            ("distribution.modes.share", mode.share, Range::SHARE),
        ]
    });
    figures
        .into_iter()
        .find(|(_, value, range)| !range.holds(*value))
        .map(|(name, value, range)| Impossible::Figure {
            place: place(name),
            value,
            range: range.name,
        })
}

fn of_waits(report: &Report) -> Option<Impossible> {
    let mut seen = HashSet::new();
    report.waits.iter().enumerate().find_map(|(at, row)| {
        if !seen.insert((&row.id, &row.conditions)) {
            return Some(Impossible::SameConditions(row.id.clone()));
        }
        let place = |name: &str| format!("waits[{at}] ('{}'): {name}", row.id);
        let (mut found, mut length) = (of_steps(row, &place), 0..);
        each_length(row, |late| {
            let length = length.next().unwrap_or(0);
            let place = |name: &str| {
                let (figure, _) = name.split_once('.').unwrap_or((name, ""));
                match OF_TIMER.contains(&figure) || late.is_none() {
                    true => place(name),
                    false => place(&format!("lateness[{length}].{name}")),
                }
            };
            let row = Row::Wait(Waited {
                row,
                late,
                conditions: "",
            });
            found = found.take().or_else(|| of_row(&row, Kind::Waits, &place));
        });
        found
    })
}

/// Figures of a timer that waits which are not of one length.
const OF_TIMER: [&str; 5] = [
    "floor_ns",
    "zero_ns",
    "proportional_ppm",
    "cpu_slope",
    "arm_cancel_ns",
];

/// Granularities are steps or bounds, at several scales.
fn of_steps(row: &WaitRow, place: &dyn Fn(&str) -> String) -> Option<Impossible> {
    let step = |name, granularity| {
        let (figure, range, low) = match granularity {
            Granularity::Step(step) => (step, Range::STEP, Range::EITHER),
            Granularity::AtMost(ns) => (Interval::unbounded(ns), Range::LENGTH, Range::LENGTH),
        };
        let check = Check {
            place: name,
            range,
            low,
        };
        wrong(check, Some(figure), place)
    };
    row.figures
        .iter()
        .flat_map(|figures| &figures.steps)
        .find_map(|steps| {
            let rounding = steps
                .rounding
                .and_then(|found| step("steps.rounding", found));
            rounding.or_else(|| step("steps.grid", steps.grid?))
        })
}

fn of_periods(report: &Report) -> Option<Impossible> {
    let mut seen = HashSet::new();
    report.periods.iter().enumerate().find_map(|(at, row)| {
        if !seen.insert((&row.id, &row.conditions, row.period_ns)) {
            return Some(Impossible::SameConditions(row.id.clone()));
        }
        let place = |name: &str| format!("periods[{at}] ('{}'): {name}", row.id);
        of_row(
            &Row::Period(Ticked {
                row,
                conditions: "",
            }),
            Kind::Periods,
            &place,
        )
    })
}

/// Timers of the largest report: twice what one agent may have.
pub const MOST_TIMERS: usize = 2 * crate::limits::MOST_TIMERS;
/// Values of the largest report: nearly as many as the longest one has that is written here, with
/// nine bytes each.
pub const MOST_VALUES: usize = 1 << 20;
/// A text as short as this cannot hold them.
const SHORT: usize = 1 << 20;

/// Whether it has more than any report. What is wrong with it otherwise is for others to tell.
pub(super) fn has_too_many_timers(text: &str) -> bool {
    text.len() > SHORT
        && matches!(serde_json::from_str::<Size>(text), Err(error) if error.to_string().starts_with(TOO_MANY))
}

/// Whether it has more than any report, as its commas tell.
pub(super) fn has_too_many_values(text: &str) -> bool {
    text.len() > SHORT && text.bytes().filter(|&byte| byte == b',').count() >= MOST_VALUES
}

const TOO_MANY: &str = "more timers than";

#[derive(Deserialize)]
struct Size {
    #[serde(default, rename = "timers")]
    _timers: Counted,
    #[serde(default, rename = "waits")]
    _waits: Counted,
    #[serde(default, rename = "periods")]
    _periods: Counted,
}

#[derive(Default)]
struct Counted;

impl<'de> Deserialize<'de> for Counted {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Counted)
    }
}

impl<'de> Visitor<'de> for Counted {
    type Value = Self;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a list of timers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Self, A::Error> {
        let mut count = 0;
        while sequence.next_element::<IgnoredAny>()?.is_some() {
            count += 1;
            if count > MOST_TIMERS {
                return Err(A::Error::custom(format!("{TOO_MANY} {MOST_TIMERS}")));
            }
        }
        Ok(self)
    }
}
