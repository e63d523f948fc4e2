//! Defines the fields of sleep primitives and of periodic timers.

use super::{Field, Kind, Range, Read, Visibility, field_table};
use crate::model::Granularity;
use crate::table::CellValue;

/// The kind of the rows that have the fields of sleep primitives only.
const WAITS: &[Kind] = &[Kind::Waits];
/// The kind of the rows that have the fields of periodic timers only.
const PERIODS: &[Kind] = &[Kind::Periods];
/// The kinds of the rows that have the fields of sleep primitives and of periodic timers.
const WAITS_AND_PERIODS: &[Kind] = &[Kind::Waits, Kind::Periods];

pub(super) fn fields() -> Vec<Field> {
    let mut all = condition_fields();
    all.extend(timer_fields());
    all.extend(rate_and_jitter_fields());
    all.extend(lateness_fields());
    all.extend(length_fields());
    all.extend(expiration_fields());
    all
}

/// The conditions of the measurement.
fn condition_fields() -> Vec<Field> {
    field_table! { Read::Row, WAITS_AND_PERIODS, |row| row;
        conditions: Text = Some(row.conditions_in_words(false)).filter(|text| !text.is_empty()),
            "The conditions in which the rows of a report differ", in_tables(Visibility::Always);
        slack: Nanoseconds = row.conditions()?.slack_ns? as f64, "Delay that the kernel may add to a wake-up to combine it with others (timer slack)", range(Range::INTEGER);
        policy: Text = &row.conditions()?.policy, "Scheduling policy of the waiting thread";
        on_cpu: Count = row.conditions()?.cpu, "The CPU that the process was pinned to", column("on-cpu", "on CPU");
    }
}

/// The fields of a sleep primitive that do not depend on the length.
fn timer_fields() -> Vec<Field> {
    field_table! { Read::Row, WAITS, |row| row.wait()?.figures.as_ref()?;
        rounding: Nanoseconds = granularity(row.steps.first()?.rounding?),
            "Unit to which short requests are rounded", interval(), range(Range::STEP), in_tables(Visibility::Wide);
        grid: Nanoseconds = granularity(row.steps.first()?.grid?),
            "Interval at which the system wakes threads, whatever was requested (a tick, as of 4 ms)", interval(), range(Range::STEP), in_tables(Visibility::Wide);
        granularity: Nanoseconds = row.granularities().find_map(Granularity::step)?,
            "Step of the lengths of waits or of the wake-ups", derived(), compared("granularity");
        floor: Nanoseconds = row.floor_ns, "Duration of the shortest wait",
            interval(), range(Range::ANY), in_tables(Visibility::Wide), metric("shortest"), compared("floor");
        proportional: Ppm = row.proportional_ppm, "Increase of lateness with the length of the wait",
            interval(), metric("proportional");
        cpu_slope: Number = row.cpu_slope, "CPU time divided by the length", more("0 if it blocks, 1 if it spins"),
            interval();
    }
}

/// The lateness of waits and of periodic timers.
fn lateness_fields() -> Vec<Field> {
    let latenesses = field_table! { Read::Row, WAITS_AND_PERIODS, |row| row;
        late_p50: Nanoseconds = row.wait_or_period(|late| late.p50_ns, |found| found.lateness_p50_ns), "Median lateness", more("of waits, observed minus requested; of wake-ups, from when they were due"),
            in_tables(Visibility::Always), quantile("lateness", "50"), compared("lateness");
        late_p99: Nanoseconds = row.wait_or_period(|late| late.p99_ns, |found| found.lateness_p99_ns),
            "99th percentile of lateness", in_tables(Visibility::Always), quantile("lateness", "99"), compared("p99");
    };
    let mut all = field_table! { Read::Row, WAITS_AND_PERIODS, |row| row;
        request: Nanoseconds = row.request_ns()? as f64, "The requested length, or the period",
            column("request", "asked"), in_tables(Visibility::Always);
        waits: Count = row.lateness().map(|late| late.waits).or(row.period().map(|found| found.wakeups)),
            "Number of waits or wake-ups";
    };
    all.extend(
        latenesses
            .into_iter()
            .map(|field| field.interval().range(Range::ANY)),
    );
    all.extend(field_table! { Read::Row, WAITS_AND_PERIODS, |row| row;
        late_max: Nanoseconds = row.lateness().map(|late| late.max_ns).or(row.period().and_then(|found| found.max_ns)),
            "Largest lateness of a wait or wake-up", range(Range::ANY), in_tables(Visibility::Wide), metric("lateness_max");
    });
    all
}

/// The fields of waits of one length.
fn length_fields() -> Vec<Field> {
    field_table! { Read::Row, WAITS, |row| row.lateness()?;
        early: Share = row.early, "Share of waits that returned too early", metric("early");
        earliest: Nanoseconds = row.earliest_ns, "Largest earliness";
        cpu: Nanoseconds = row.cpu_ns, "CPU time of the thread per wait", column("cpu-time", "CPU time"),
            interval(), range(Range::ANY), in_tables(Visibility::Always), metric("cpu"), compared("cpu");
    }
}

/// The rate and the jitter of periodic timers.
fn rate_and_jitter_fields() -> Vec<Field> {
    let figures = field_table! { Read::Row, PERIODS, |row| row.period()?;
        rate_error: Ppm = row.rate_error_ppm, "Relative difference of the period from the requested one",
            column("rate", "rate error (ppm)"), in_tables(Visibility::Always), metric("rate_error"), compared("rate");
        jitter_p50: Nanoseconds = row.jitter_p50_ns, "Median of |interval − period|",
            in_tables(Visibility::Wide), quantile("jitter", "50");
        jitter_p99: Nanoseconds = row.jitter_p99_ns, "99th percentile of |interval − period|", quantile("jitter", "99");
    };
    figures
        .into_iter()
        .map(|field| field.interval().range(Range::ANY))
        .collect()
}

/// The expirations of periodic timers.
fn expiration_fields() -> Vec<Field> {
    field_table! { Read::Row, PERIODS, |row| row.period()?;
        expirations: Count = row.expirations, "Number of expirations", metric("expirations");
        missed: Count = row.missed, "Due times without a wake-up",
            in_tables(Visibility::Wide), metric("missed_expirations");
        due: Count = row.expirations.saturating_add(row.missed).saturating_sub(row.missed_reported), "Number of due times, with or without a wake-up",
            column("due", "of due"), in_tables(Visibility::Wide);
        missed_reported: Count = row.missed_reported, "Missed expirations that the timer reports",
            column("missed-reported", "of which reported");
    }
}

/// The step with its interval, or its upper limit.
fn granularity(granularity: Granularity) -> CellValue {
    match granularity {
        Granularity::Step(step) => step.into(),
        Granularity::AtMost(ns) => CellValue::bounded(Some(ns), true),
    }
}
