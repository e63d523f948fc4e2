//! Figures of timers that wait, and of periodic ones, that cannot be.

use std::collections::HashSet;

use super::{Impossible, LENGTH, Range, SHARE, STEP, outside};
use crate::model::{Granularity, Known, Lateness, PeriodRow, Report, WaitFigures, WaitRow};
use crate::text::clipped;

/// A time that may be below zero, as that of a wait which returned early and the ends of intervals, or a number of ppm.
const EITHER: Range = Range { least: -1e18, name: "-1e18 to 1e18", ..LENGTH };

/// The first thing in its timers that wait that cannot be.
pub(super) fn impossible_waits<F, V, H, P>(report: &Report<F, V, H, P>) -> Option<Impossible> {
    let mut seen = HashSet::new();
    let waits = report.waits.iter().enumerate().find_map(|(at, row)| {
        let check = Check::new("waits", at, &row.id);
        check.unique(seen.insert((&row.id, &row.conditions, None))).or_else(|| of_row(row, &check))
    });
    waits.or_else(|| {
        report.periods.iter().enumerate().find_map(|(at, row)| {
            let check = Check::new("periods", at, &row.id);
            let first = seen.insert((&row.id, &row.conditions, Some(row.period_ns)));
            check.unique(first).or_else(|| of_period(row, &check))
        })
    })
}

/// Whether the figures of a row can be.
struct Check<'a> {
    list: &'static str,
    at: usize,
    id: &'a str,
    /// The length that the figures are of.
    part: Option<usize>,
}

impl<'a> Check<'a> {
    fn new(list: &'static str, at: usize, id: &'a str) -> Self {
        Self { list, at, id, part: None }
    }

    fn place(&self, name: &str) -> String {
        let part = self.part.map_or_else(String::new, |at| format!("lateness[{at}]."));
        format!("{}[{}] ('{}'): {part}{name}", self.list, self.at, clipped(self.id, 80))
    }

    fn unique(&self, first: bool) -> Option<Impossible> {
        (!first).then(|| Impossible::SameConditions(clipped(self.id, 80)))
    }

    fn figure(&self, name: &'static str, figure: Option<f64>, range: Range) -> Option<Impossible> {
        let (_, value, range) = outside(name, figure, range)?;
        Some(Impossible::Figure { place: self.place(name), value, range })
    }

    /// A figure and its interval, whose lower end may be below what is possible.
    fn known(&self, name: &'static str, known: Option<Known>, range: Range) -> Option<Impossible> {
        let Known { value, low, high } = known?;
        self.figure(name, Some(value), range)
            .or_else(|| self.figure(name, low, EITHER))
            .or_else(|| self.figure(name, high, EITHER))
            .or_else(|| {
                let (low, high) = low.zip(high).filter(|(low, high)| low > high)?;
                Some(Impossible::Interval { place: self.place(name), low, high })
            })
    }

    fn granularity(&self, name: &'static str, of: Option<Granularity>) -> Option<Impossible> {
        match of? {
            Granularity::Step(known) => self.known(name, Some(known), STEP),
            Granularity::AtMost(ns) => self.figure(name, Some(ns), LENGTH),
        }
    }
}

fn of_row<H, P>(row: &WaitRow<H, P>, check: &Check) -> Option<Impossible> {
    let figures = row.figures.as_ref()?;
    let lateness = |(at, late): (usize, &Lateness<H>)| {
        of_lateness(late, &Check { part: Some(at), id: check.id, ..*check })
    };
    of_figures(figures, check).or_else(|| figures.lateness.iter().enumerate().find_map(lateness))
}

fn of_figures<H, P>(figures: &WaitFigures<H, P>, check: &Check) -> Option<Impossible> {
    let steps = figures.steps.iter().find_map(|steps| {
        check
            .granularity("steps.rounding", steps.rounding)
            .or_else(|| check.granularity("steps.grid", steps.grid))
    });
    let all = [
        ("floor_ns", figures.floor_ns),
        ("zero_ns", figures.zero_ns),
        ("proportional_ppm", figures.proportional_ppm),
        ("cpu_slope", figures.cpu_slope),
        ("arm_cancel_ns", figures.arm_cancel_ns),
    ];
    steps.or_else(|| all.into_iter().find_map(|(name, known)| check.known(name, known, EITHER)))
}

fn of_lateness<H>(late: &Lateness<H>, check: &Check) -> Option<Impossible> {
    let known = [
        ("p50_ns", late.p50_ns),
        ("p90_ns", late.p90_ns),
        ("p99_ns", late.p99_ns),
        ("p999_ns", late.p999_ns),
        ("timers_part_ns", late.timers_part_ns),
        ("cpu_ns", late.cpu_ns),
    ];
    let figures = [
        ("request_ns", Some(late.request_ns as f64), LENGTH),
        ("max_ns", Some(late.max_ns), EITHER),
        ("early", Some(late.early), SHARE),
        ("earliest_ns", Some(late.earliest_ns), LENGTH),
        ("cpu_cycles", late.cpu_cycles, EITHER),
        ("accuracy_ns", Some(late.accuracy_ns), LENGTH),
        ("spread", late.spread, SHARE),
        ("quality", late.quality, SHARE),
    ];
    let known = known.into_iter().find_map(|(name, known)| check.known(name, known, EITHER));
    known.or_else(|| figures.into_iter().find_map(|(name, figure, range)| check.figure(name, figure, range)))
}

fn of_period(row: &PeriodRow, check: &Check) -> Option<Impossible> {
    let period = check.figure("period_ns", Some(row.period_ns as f64), STEP);
    period.or_else(|| {
        let figures = row.figures.as_ref()?;
        let all = [
            ("rate_error_ppm", figures.rate_error_ppm),
            ("jitter_p50_ns", figures.jitter_p50_ns),
            ("jitter_p99_ns", figures.jitter_p99_ns),
            ("lateness_p50_ns", figures.lateness_p50_ns),
            ("lateness_p99_ns", figures.lateness_p99_ns),
        ];
        let known = all.into_iter().find_map(|(name, known)| check.known(name, known, EITHER));
        known.or_else(|| check.figure("max_ns", figures.max_ns, EITHER))
    })
}
