//! Figures of a report that cannot be.

mod waits;

use std::collections::HashSet;

use crate::model::{Accuracy, Cost, Distribution, Report, TimerRow};
use crate::text::clipped;

use waits::impossible_waits;

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
    #[error("has an interval that cannot be: {place} ends at {high:?}, below its beginning at {low:?}")]
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
    #[error("has two timers that wait with the id '{0}' under the same conditions; a report has one")]
    SameConditions(String),
}

/// What a figure can be.
#[derive(Clone, Copy)]
struct Range {
    least: f64,
    most: f64,
    /// Whether it is more than the least.
    more: bool,
    name: &'static str,
}

const SHARE: Range = Range { least: 0.0, most: 1.0, more: false, name: "0 to 1" };
/// A time in nanoseconds, up to thirty years, or in cycles or ticks as many.
const LENGTH: Range = Range { least: 0.0, most: 1e18, more: false, name: "0 to 1e18" };
const STEP: Range = Range { more: true, name: "more than 0, up to 1e18", ..LENGTH };
const RATE: Range = Range { least: 0.0, most: 1e12, more: true, name: "more than 0, up to 1e12" };

/// The first thing in a report that cannot be.
#[must_use]
pub fn impossible<F, V, H, P>(report: &Report<F, V, H, P>) -> Option<Impossible> {
    let frequency = &report.frequency;
    let rates = [
        ("nominal_hz", frequency.nominal_hz),
        ("tsc_hz", frequency.tsc_hz),
        ("effective_hz", frequency.effective_hz),
        ("effective_hz_low", frequency.effective_hz_low),
        ("effective_hz_high", frequency.effective_hz_high),
        ("cycles_hz", frequency.cycles_hz),
        ("cycles_hz_low", frequency.cycles_hz_low),
        ("cycles_hz_high", frequency.cycles_hz_high),
    ];
    let wrong = rates.into_iter().find_map(|(name, rate)| outside(name, rate, RATE));
    if let Some((name, value, range)) = wrong {
        return Some(Impossible::Figure { place: format!("frequency.{name}"), value, range });
    }
    let mut seen = HashSet::new();
    let timers = report.timers.iter().enumerate().find_map(|(at, row)| {
        if !seen.insert(row.id.as_str()) {
            return Some(Impossible::DuplicateId(clipped(&row.id, 80)));
        }
        let place = |name: &str| format!("timers[{at}] ('{}'): {name}", clipped(&row.id, 80));
        if let Some((name, value, range)) = outside_of(row) {
            return Some(Impossible::Figure { place: place(name), value, range });
        }
        let (name, low, high) = crossed(row)?;
        Some(Impossible::Interval { place: place(name), low, high })
    });
    timers.or_else(|| impossible_waits(report))
}

type Outside = (&'static str, f64, &'static str);

fn outside(name: &'static str, figure: Option<f64>, range: Range) -> Option<Outside> {
    let possible =
        |figure: f64| (range.least..=range.most).contains(&figure) && !(range.more && figure <= range.least);
    figure.filter(|figure| !possible(*figure)).map(|figure| (name, figure, range.name))
}

fn of_distribution(costs: &Distribution) -> impl Iterator<Item = (&'static str, Option<f64>, Range)> {
    let modes = costs.modes.iter().flat_map(|mode| {
        [
            ("distribution.modes.ns", Some(mode.ns), LENGTH),
            ("distribution.modes.share", Some(mode.share), SHARE),
        ]
    });
    let whole = [
        ("distribution.within_ns", Some(costs.within_ns), LENGTH),
        ("distribution.between_ns", costs.between_ns, LENGTH),
        ("distribution.tail_share", Some(costs.tail_share), SHARE),
    ];
    whole.into_iter().chain(modes)
}

fn outside_of<F, V>(row: &TimerRow<F, V>) -> Option<Outside> {
    let step = |part: fn(&Accuracy) -> Option<f64>| row.accuracy.as_ref().and_then(part);
    let cost = |part: fn(&Cost) -> Option<f64>| row.cost.as_ref().and_then(part);
    [
        ("ns_per_tick", row.ns_per_tick, STEP),
        ("spread", row.spread, SHARE),
        ("spread_low", row.spread_low, SHARE),
        ("spread_high", row.spread_high, SHARE),
        ("quality", row.quality, SHARE),
        ("quality_low", row.quality_low, SHARE),
        ("quality_high", row.quality_high, SHARE),
        ("printed_quality", row.printed_quality, SHARE),
        ("accuracy.ns", step(|step| step.ns), STEP),
        ("accuracy.low_ns", step(|step| step.low_ns), LENGTH),
        ("accuracy.high_ns", step(|step| step.high_ns), STEP),
        ("accuracy.ticks", step(|step| Some(step.ticks)), STEP),
        ("accuracy.cycles", step(|step| step.cycles), STEP),
        ("cost.median_ns", cost(|cost| cost.median_ns), LENGTH),
        ("cost.low_ns", cost(|cost| cost.low_ns), LENGTH),
        ("cost.high_ns", cost(|cost| cost.high_ns), LENGTH),
        ("cost.median_cycles", cost(|cost| cost.median_cycles), LENGTH),
        ("cost.amortised_ns", cost(|cost| cost.amortised_ns), LENGTH),
        ("cost.single_median_ns", cost(|cost| cost.single_median_ns), LENGTH),
        ("cost.p99_ns", cost(|cost| cost.p99_ns), LENGTH),
    ]
    .into_iter()
    .chain(row.distribution.iter().flat_map(of_distribution))
    .find_map(|(name, figure, range)| outside(name, figure, range))
}

/// An interval that ends before it begins.
fn crossed<F, V>(row: &TimerRow<F, V>) -> Option<(&'static str, f64, f64)> {
    let (accuracy, cost) = (row.accuracy.as_ref(), row.cost.as_ref());
    let intervals = [
        ("quality", row.quality_low, row.quality_high),
        ("spread", row.spread_low, row.spread_high),
        ("accuracy", accuracy.and_then(|a| a.low_ns), accuracy.and_then(|a| a.high_ns)),
        ("cost", cost.and_then(|cost| cost.low_ns), cost.and_then(|cost| cost.high_ns)),
    ];
    let both = intervals.into_iter().filter_map(|(name, low, high)| Some((name, low?, high?)));
    both.into_iter().find(|(_, low, high)| low > high)
}
