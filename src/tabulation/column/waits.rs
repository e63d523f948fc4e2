//! The columns of timers that wait, and of periodic ones.

use super::{Column, SHARE, Source, Spec, figure, text};
use crate::model::{BriefWaitRow, Granularity, Known, Lateness, MissedPolicy, PeriodFigures, PeriodRow};

use crate::table::{Cell, Notation};
use crate::text::numbers::short_time;
use serde::de::IgnoredAny;

/// A timer that waits, at one length.
pub struct Waited<'a> {
    /// The timer.
    pub row: &'a BriefWaitRow,
    /// None where it has no figures.
    pub late: Option<&'a Lateness<IgnoredAny>>,
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

type OfWait = fn(&Waited) -> Cell;
type OfPeriod = fn(&Ticked) -> Cell;

fn waits(wait: OfWait) -> Source {
    Source::Row { clock: None, wait: Some(wait), period: None }
}

fn periods(period: OfPeriod) -> Source {
    Source::Row { clock: None, wait: None, period: Some(period) }
}

fn both(wait: OfWait, period: OfPeriod) -> Source {
    Source::Row { clock: None, wait: Some(wait), period: Some(period) }
}

fn time(heading: &'static str, key: &'static str, source: Source) -> Spec {
    figure(heading, key, Notation::Time, source)
}

fn count(heading: &'static str, key: &'static str, source: Source) -> Spec {
    figure(heading, key, Notation::Fixed(0), source)
}

fn value(known: Option<Known>) -> Cell {
    known.map(|known| known.value).into()
}

/// A quantile of the lateness of a wait, and that of a periodic timer.
macro_rules! late {
    ($quantile:ident, $of_period:expr) => {
        both(|wait| value(wait.late.and_then(|late| late.$quantile)), |tick| ticked(tick, $of_period))
    };
    ($quantile:ident) => {
        waits(|wait| value(wait.late.and_then(|late| late.$quantile)))
    };
}

fn ticked<T: Into<Cell>>(tick: &Ticked, of: fn(&PeriodFigures) -> T) -> Cell {
    tick.row.figures.as_ref().map_or(Cell::Nothing, |figures| of(figures).into())
}

fn granularity(wait: &Waited, of: fn(&crate::model::Steps) -> Option<Granularity>) -> Cell {
    match wait.row.figures.as_ref().and_then(|figures| figures.steps.first()).and_then(of) {
        Some(Granularity::Step(known)) => known.value.into(),
        Some(Granularity::AtMost(ns)) => Cell::AtMost(ns),
        None => Cell::Nothing,
    }
}

fn known(text: &str) -> Cell {
    if text.is_empty() { Cell::Nothing } else { text.into() }
}

impl Column {
    /// What it is, if it is one of timers that wait.
    pub(super) fn of_waits(self) -> Option<Spec> {
        Some(match self {
            Self::Conditions => text(
                "conditions",
                "conditions",
                both(|wait| known(wait.conditions), |tick| known(tick.conditions)),
            ),
            Self::Slack => time(
                "slack",
                "slack_ns",
                both(
                    |wait| wait.row.conditions.slack_ns.map(|ns| ns as f64).into(),
                    |tick| tick.row.conditions.slack_ns.map(|ns| ns as f64).into(),
                ),
            ),
            Self::Policy => text(
                "policy",
                "policy",
                both(|wait| known(&wait.row.conditions.policy), |tick| known(&tick.row.conditions.policy)),
            ),
            Self::Load => text(
                "load",
                "load",
                both(
                    |wait| wait.row.conditions.load.name().into(),
                    |tick| tick.row.conditions.load.name().into(),
                ),
            ),
            Self::OnCpu => count(
                "on CPU",
                "on_cpu",
                both(
                    |wait| wait.row.conditions.cpu.map(f64::from).into(),
                    |tick| tick.row.conditions.cpu.map(f64::from).into(),
                ),
            ),
            Self::Request => time(
                "asked",
                "request_ns",
                both(
                    |wait| wait.late.map(|late| late.request_ns as f64).into(),
                    |tick| (tick.row.period_ns as f64).into(),
                ),
            ),
            Self::Waits => count(
                "waits",
                "waits",
                both(
                    |wait| wait.late.map(|late| late.waits as f64).into(),
                    |tick| ticked(tick, |figures| figures.wakeups as f64),
                ),
            ),
            Self::Rounding => {
                time("rounding", "rounding_ns", waits(|wait| granularity(wait, |steps| steps.rounding)))
            }
            Self::Grid => time("grid", "grid_ns", waits(|wait| granularity(wait, |steps| steps.grid))),
            Self::Floor => time(
                "floor",
                "floor_ns",
                waits(|wait| value(wait.row.figures.as_ref().and_then(|figures| figures.floor_ns))),
            ),
            Self::LateP50 => {
                time("late p50", "late_p50_ns", late!(p50_ns, |figures| value(figures.lateness_p50_ns)))
            }
            Self::LateP90 => time("late p90", "late_p90_ns", late!(p90_ns)),
            Self::LateP99 => {
                time("late p99", "late_p99_ns", late!(p99_ns, |figures| value(figures.lateness_p99_ns)))
            }
            Self::LateP999 => time("late p99.9", "late_p999_ns", late!(p999_ns)),
            Self::LateMax => time(
                "late max",
                "late_max_ns",
                both(
                    |wait| wait.late.map(|late| late.max_ns).into(),
                    |tick| ticked(tick, |figures| figures.max_ns),
                ),
            ),
            Self::Early => {
                figure("early", "early", SHARE, waits(|wait| wait.late.map(|late| late.early).into()))
            }
            Self::CpuTime => time("CPU time", "cpu_ns", late!(cpu_ns)),
            Self::CpuTimeCycles => figure(
                "CPU cycles",
                "cpu_cycles",
                Notation::Count,
                waits(|wait| wait.late.and_then(|late| late.cpu_cycles).into()),
            ),
            Self::WaitQuality => Spec {
                largest_first: true,
                ..figure(
                    "F(1) of waits (%)",
                    "wait_quality_percent",
                    Notation::Fixed(1),
                    waits(|wait| Cell::percent(wait.late.and_then(|late| late.quality))),
                )
            },
            Self::Rate => figure(
                "rate error (ppm)",
                "rate_error_ppm",
                Notation::Significant,
                periods(|tick| ticked(tick, |figures| value(figures.rate_error_ppm))),
            ),
            Self::JitterP50 => time(
                "jitter p50",
                "jitter_p50_ns",
                periods(|tick| ticked(tick, |figures| value(figures.jitter_p50_ns))),
            ),
            Self::JitterP99 => time(
                "jitter p99",
                "jitter_p99_ns",
                periods(|tick| ticked(tick, |figures| value(figures.jitter_p99_ns))),
            ),
            Self::Missed => {
                count("missed", "missed", periods(|tick| ticked(tick, |figures| figures.missed as f64)))
            }
            Self::MissedReported => count(
                "of which reported",
                "missed_reported",
                periods(|tick| ticked(tick, |figures| figures.missed_reported as f64)),
            ),
            Self::AfterStall => text(
                "after a stall",
                "after_stall",
                periods(|tick| {
                    ticked(tick, |figures| {
                        figures.policy.map(MissedPolicy::name).map_or(Cell::Nothing, Cell::from)
                    })
                }),
            ),
            _ => return None,
        })
    }
}

/// What a row is told apart by where each has one line: id, length and conditions.
pub(in crate::tabulation) fn in_a_line(id: &str, ns: Option<u64>, conditions: &str) -> Cell {
    let length = ns.map_or_else(String::new, |ns| format!(" {}", short_time(ns as f64)));
    let conditions = if conditions.is_empty() { String::new() } else { format!(" ({conditions})") };
    format!("{id}{length}{conditions}").into()
}
