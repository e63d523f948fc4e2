//! What fields are of, what comparisons know them by, and what a figure can be.

use clap::ValueEnum;

use crate::model::{Lateness, PeriodRow, TimerRow, WaitRow};
use crate::table::Value;
use crate::text::numbers::short_time;

/// A figure that is compared.
#[derive(Debug, PartialEq)]
pub struct Comparable {
    /// Its name, in sentences and in conditions.
    pub name: &'static str,
    /// In what it is told, and when it is better.
    pub measure: Measure,
    /// What runs of an unchanged machine differ by.
    pub scatter: Scatter,
    /// Whether it is of clocks, or of timers that wait.
    pub of_clocks: bool,
}

/// In what a figure is told, and when it is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// In percent, differences in points; more is better.
    Points,
    /// As a share; more is better.
    Share,
    /// In nanoseconds, differences in percent too; less is better.
    Time,
    /// In ppm; what is nearer to 0 is better.
    Ppm,
}

/// What runs of an unchanged machine differ by, beyond what processes of one run do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scatter {
    /// As costs of such reads do.
    Cost,
    /// As spreads do.
    Spread,
    /// As cost and spread together make of it.
    Quality,
    /// By how the kernel slews its clock.
    Slew,
    /// As latenesses do.
    Lateness,
    /// By nothing.
    None,
}

macro_rules! compared {
    ($($(#[$about:meta])* $id:ident = $name:literal, $measure:ident, $scatter:ident, $of_clocks:literal;)*) => {
        impl Comparable {
            $($(#[$about])* pub const $id: &'static Self = &Self {
                name: $name, measure: Measure::$measure, scatter: Scatter::$scatter, of_clocks: $of_clocks,
            };)*

            /// All of them, Quality first, those of timers that wait last.
            pub const ALL: &'static [&'static Self] = &[$(Self::$id),*];
        }
    };
}

compared! {
    /// Formula (1).
    QUALITY = "Quality", Points, Quality, true;
    /// What a call costs alone.
    COST = "cost", Time, Cost, true;
    /// One step.
    RESOLUTION = "resolution", Time, Slew, true;
    /// The share of calls within a step of the median cost.
    SPREAD = "spread", Share, Spread, true;
    /// How much faster than its reference a clock runs.
    DRIFT = "drift", Ppm, Slew, true;
    /// The step of lengths or wake-ups.
    GRANULARITY = "granularity", Time, Slew, false;
    /// The shortest wait.
    FLOOR = "floor", Time, Lateness, false;
    /// Median lateness.
    LATENESS = "lateness", Time, Lateness, false;
    /// The 99th percentile of that.
    TAIL = "p99", Time, Lateness, false;
    /// CPU time a wait.
    CPU = "cpu", Time, Lateness, false;
    /// By how much a period is too long.
    RATE = "rate", Ppm, None, false;
}

impl Comparable {
    /// How many are of clocks.
    pub const OF_CLOCKS: usize = {
        let (mut count, mut at) = (0, 0);
        while at < Self::ALL.len() {
            count += Self::ALL[at].of_clocks as usize;
            at += 1;
        }
        count
    };
}

/// What a figure can be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    least: f64,
    most: f64,
    /// Whether it is more than the least.
    more: bool,
    /// In words.
    pub name: &'static str,
}

impl Range {
    /// A share.
    pub const SHARE: Self = Self {
        least: 0.0,
        most: 1.0,
        more: false,
        name: "0 to 1",
    };
    /// A time in nanoseconds, up to thirty years, or in cycles or ticks as many.
    pub const LENGTH: Self = Self {
        least: 0.0,
        most: 1e18,
        more: false,
        name: "0 to 1e18",
    };
    /// The same where 0 is none.
    pub const STEP: Self = Self {
        more: true,
        name: "more than 0, up to 1e18",
        ..Self::LENGTH
    };
    /// Events in a second.
    pub const RATE: Self = Self {
        least: 0.0,
        most: 1e12,
        more: true,
        name: "more than 0, up to 1e12",
    };
    /// A time that may be below zero, as that of a wait which returned early and the ends of
    /// intervals, or a number of ppm.
    pub const EITHER: Self = Self {
        least: -1e18,
        name: "-1e18 to 1e18",
        ..Self::LENGTH
    };

    /// Whether it can be that.
    #[must_use]
    pub fn holds(&self, figure: f64) -> bool {
        (self.least..=self.most).contains(&figure) && !(self.more && figure <= self.least)
    }
}

/// What rows are of. They are never in one table: what clocks and waits cost has nothing in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Timers that are read
    #[default]
    Clocks,
    /// Timers that wait, a row a length and set of conditions
    Waits,
    /// Periodic timers
    Periods,
}

impl Kind {
    /// What its rows are called.
    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Clocks => "clocks",
            Self::Waits => "timers that wait",
            Self::Periods => "periodic timers",
        }
    }
}

/// What a row is of.
pub enum Row<'a> {
    /// A timer that is read.
    Clock(&'a TimerRow),
    /// A timer that waits, at one length.
    Wait(Waited<'a>),
    /// A periodic timer.
    Period(Ticked<'a>),
}

/// A timer that waits, at one length.
pub struct Waited<'a> {
    /// The timer.
    pub row: &'a WaitRow,
    /// None where it has no figures.
    pub late: Option<&'a Lateness>,
    /// The conditions by which it differs from others of its report.
    pub conditions: &'a str,
}

/// A periodic timer.
pub struct Ticked<'a> {
    /// The timer.
    pub row: &'a PeriodRow,
    /// As above.
    pub conditions: &'a str,
}

/// What a row is told apart by where each has one line: id, length and conditions.
#[must_use]
pub fn in_a_line(row: &Row) -> Value {
    let (id, ns, conditions) = match row {
        Row::Clock(row) => (&row.id, None, ""),
        Row::Wait(wait) => (
            &wait.row.id,
            wait.late.map(|late| late.request_ns),
            wait.conditions,
        ),
        Row::Period(tick) => (&tick.row.id, Some(tick.row.period_ns), tick.conditions),
    };
    let length = ns.map_or_else(String::new, |ns| format!(" {}", short_time(ns as f64)));
    let conditions = if conditions.is_empty() {
        String::new()
    } else {
        format!(" ({conditions})")
    };
    format!("{id}{length}{conditions}").into()
}
