//! Fields of periodic timers.

use super::{Comparable, Field, FieldSource, Of, Part, Range, Room, Ticked};
use crate::model::{Interval, MissedPolicy, PeriodFigures};
use crate::table::{Notation, Type, Value};

fn tick(
    key: &'static str,
    kind: Type,
    about: &'static str,
    of: impl Fn(&Ticked) -> Value + Send + Sync + 'static,
) -> Field {
    Field::new(key, kind, about, FieldSource::Row(Of::period(of)))
}

/// A number of things.
fn count(key: &'static str, about: &'static str, of: fn(&PeriodFigures) -> u64) -> Field {
    let counted = move |tick: &Ticked| {
        tick.row
            .figures
            .as_ref()
            .map(|found| of(found) as f64)
            .into()
    };
    tick(key, Type::Count, about, counted).notation(Notation::Fixed(0))
}

/// A figure with its interval, and its place in the document.
fn figure(
    key: &'static str,
    about: &'static str,
    place: &'static str,
    of: fn(&PeriodFigures) -> Option<Interval>,
) -> Field {
    let of = Of::period(move |tick| tick.row.figures.as_ref().and_then(of));
    Field::new(
        key,
        Type::Figure,
        about,
        FieldSource::Figure(of, Part::Value),
    )
    .notation(Notation::Time)
    .check(place, Range::EITHER)
}

pub(super) fn fields() -> Vec<Field> {
    [lateness(), intervals(), expirations()]
        .into_iter()
        .flatten()
        .collect()
}

fn lateness() -> Vec<Field> {
    let metric = |field: Field, percentile| {
        field
            .metric(
                "timermeter_period_lateness",
                "seconds",
                "How late wake-ups are to their own grid",
            )
            .percentile(percentile)
    };
    let p50 = figure(
        "late_p50_ns",
        "Of timers that wait: median lateness",
        "lateness_p50_ns",
        |found| found.lateness_p50_ns,
    );
    let p99 = figure(
        "late_p99_ns",
        "Of timers that wait: 99th percentile of lateness",
        "lateness_p99_ns",
        |found| found.lateness_p99_ns,
    );
    vec![
        tick(
            "request_ns",
            Type::Figure,
            "Of timers that wait: the length asked for, or the period",
            |tick| (tick.row.period_ns as f64).into(),
        )
        .column("request", "asked")
        .notation(Notation::Time)
        .by_default(3, Room::Always)
        .check("period_ns", Range::STEP),
        count(
            "waits",
            "Of timers that wait: how many waits, or wake-ups",
            |found| found.wakeups,
        )
        .column("waits", "waits"),
        metric(p50, "50")
            .column("late-p50", "late p50")
            .by_default(6, Room::Always)
            .compared(Comparable::LATENESS),
        metric(p99, "99")
            .column("late-p99", "late p99")
            .by_default(7, Room::Always)
            .compared(Comparable::TAIL),
        tick(
            "late_max_ns",
            Type::Figure,
            "Of timers that wait: the latest",
            |tick| {
                tick.row
                    .figures
                    .as_ref()
                    .and_then(|found| found.max_ns)
                    .into()
            },
        )
        .column("late-max", "late max")
        .notation(Notation::Time)
        .by_default(8, Room::Wide)
        .check("max_ns", Range::EITHER)
        .metric(
            "timermeter_period_lateness_max",
            "seconds",
            "How late the latest wake-up was that no stall was injected before",
        ),
    ]
}

fn intervals() -> Vec<Field> {
    let metric = |field: Field, percentile| {
        field
            .metric(
                "timermeter_period_jitter",
                "seconds",
                "How far intervals are from the period",
            )
            .percentile(percentile)
    };
    let rate = figure(
        "rate_error_ppm",
        "Of periodic timers: by how much the period is too long",
        "rate_error_ppm",
        |found| found.rate_error_ppm,
    );
    let p50 = figure(
        "jitter_p50_ns",
        "Of periodic timers: median of the distance between interval and period",
        "jitter_p50_ns",
        |found| found.jitter_p50_ns,
    );
    let p99 = figure(
        "jitter_p99_ns",
        "Of periodic timers: 99th percentile of the distance between interval and period",
        "jitter_p99_ns",
        |found| found.jitter_p99_ns,
    );
    vec![
        rate.column("rate", "rate error (ppm)")
            .notation(Notation::Significant)
            .by_default(4, Room::Always)
            .metric(
                "timermeter_period_rate_error",
                "ratio",
                "How much longer the period is than the one asked for, as a share of it",
            )
            .compared(Comparable::RATE),
        metric(p50, "50")
            .column("jitter-p50", "jitter p50")
            .by_default(5, Room::Wide),
        metric(p99, "99").column("jitter-p99", "jitter p99"),
    ]
}

fn expirations() -> Vec<Field> {
    vec![
        count("expirations", "Expirations", |found| found.expirations).metric(
            "timermeter_period_expirations",
            "",
            "Expirations in the measurement",
        ),
        count(
            "missed",
            "Of periodic timers: expirations that were missed",
            |found| found.missed,
        )
        .column("missed", "missed")
        .by_default(9, Room::Wide)
        .metric(
            "timermeter_period_missed_expirations",
            "",
            "Points of the grid at which nothing woke up, in the measurement",
        ),
        count(
            "missed_reported",
            "Of periodic timers: those that the timer reports",
            |found| found.missed_reported,
        )
        .column("missed-reported", "of which reported"),
        count("stalls", "Stalls that were injected", |found| {
            found.stalls.into()
        }),
        tick(
            "after_stall",
            Type::Text,
            "Of periodic timers: what they do after a stall",
            |tick| {
                let policy = tick.row.figures.as_ref().and_then(|found| found.policy);
                policy.map(MissedPolicy::name).map(Value::Word).into()
            },
        )
        .column("after-stall", "after a stall")
        .by_default(10, Room::Always),
    ]
}
