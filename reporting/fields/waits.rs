//! Defines the fields of sleep primitives and of periodic timers.

use super::{Field, Found, Kind, Range, Read, Room, Scatter, field_table};
use crate::model::{Granularity, MissedPolicy};

const WAITS: &[Kind] = &[Kind::Waits];
const PERIODS: &[Kind] = &[Kind::Periods];
const BOTH: &[Kind] = &[Kind::Waits, Kind::Periods];

pub(super) fn fields() -> Vec<Field> {
    let mut all = conditions();
    all.extend(timer_fields());
    all.extend(intervals());
    all.extend(lateness());
    all.extend(length_fields());
    all.extend(expirations());
    all
}

fn conditions() -> Vec<Field> {
    field_table! { Read::Row, BOTH, |row| row;
        conditions: Text = Some(row.conditions_in_words(false)).filter(|text| !text.is_empty()),
            "The conditions by which rows of a report differ", in_tables(Room::Always);
        slack: Nanoseconds = row.conditions()?.slack_ns? as f64, "Timer slack of the thread", range(Range::INTEGER);
        policy: Text = &row.conditions()?.policy, "Scheduling policy of the thread";
        load: Text = row.conditions()?.load.name(), "What else ran";
        on_cpu: Count = row.conditions()?.cpu, "The CPU", column("on-cpu", "on CPU");
    }
}

/// The fields of a sleep primitive that do not depend on the length.
fn timer_fields() -> Vec<Field> {
    field_table! { Read::Row, WAITS, |row| row.wait()?.figures.as_ref()?;
        rounding: Nanoseconds = granularity(row.steps.first()?.rounding?),
            "To what short requests are rounded", interval(), range(Range::STEP), in_tables(Room::Wide);
        grid: Nanoseconds = granularity(row.steps.first()?.grid?),
            "Grid of absolute time that wake-ups lie on", interval(), range(Range::STEP), in_tables(Room::Wide);
        granularity: Nanoseconds = row.granularities().find_map(Granularity::step)?,
            "The step of lengths or wake-ups", derived(), compared("granularity", Scatter::Slew);
        floor: Nanoseconds = row.floor_ns, "How long the shortest wait takes",
            interval(), range(Range::ANY), in_tables(Room::Wide), metric("shortest"), compared("floor", Scatter::Lateness);
        zero: Nanoseconds = row.zero_ns, "How long a wait of 0 takes", interval(), range(Range::ANY);
        arm_cancel: Nanoseconds = row.arm_cancel_ns, "What arming and cancelling takes together",
            interval(), range(Range::ANY), metric("arm_cancel");
        proportional: Ppm = row.proportional_ppm, "How much later longer waits are",
            interval(), metric("proportional");
        cpu_slope: Number = row.cpu_slope, "CPU time over length: 0 where it blocks, 1 where it spins",
            interval();
    }
}

fn lateness() -> Vec<Field> {
    let latenesses = field_table! { Read::Row, BOTH, |row| row;
        late_p50: Nanoseconds = row.wait_or_period(|late| late.p50_ns, |found| found.lateness_p50_ns),
            "Lateness of waits (observed less asked) and of wake-ups to their grid: the percentile of the name",
            in_tables(Room::Always), quantile("lateness", "50"), compared("lateness", Scatter::Lateness);
        late_p90: Nanoseconds = row.lateness()?.p90_ns, "The 90th percentile",
            in_tables(Room::Wide), quantile("lateness", "90");
        late_p99: Nanoseconds = row.wait_or_period(|late| late.p99_ns, |found| found.lateness_p99_ns),
            "The 99th percentile", in_tables(Room::Always), quantile("lateness", "99"), compared("p99", Scatter::Lateness);
        late_p999: Nanoseconds = row.lateness()?.p999_ns, "The 99.9th percentile",
            column("late-p999", "late p99.9"), quantile("lateness", "99.9");
    };
    let mut all = field_table! { Read::Row, BOTH, |row| row;
        request: Nanoseconds = row.request_ns()? as f64, "The length asked for, or the period",
            column("request", "asked"), in_tables(Room::Always);
        waits: Count = row.lateness().map(|late| late.waits).or(row.period().map(|found| found.wakeups)),
            "How many waits or wake-ups";
    };
    all.extend(
        latenesses
            .into_iter()
            .map(|field| field.interval().range(Range::ANY)),
    );
    all.extend(field_table! { Read::Row, BOTH, |row| row;
        late_max: Nanoseconds = row.lateness().map(|late| late.max_ns).or(row.period().and_then(|found| found.max_ns)),
            "Lateness of the latest wait or wake-up", range(Range::ANY), in_tables(Room::Wide), metric("lateness_max");
    });
    all
}

/// The fields of waits of one length.
fn length_fields() -> Vec<Field> {
    field_table! { Read::Row, WAITS, |row| row.lateness()?;
        timers_part: Nanoseconds = row.timers_part_ns, "Median of what is not waiting for a CPU",
            interval(), range(Range::ANY);
        early: Share = row.early, "Share of waits that returned before their time", metric("early");
        earliest: Nanoseconds = row.earliest_ns, "By how much the earliest did";
        cpu: Nanoseconds = row.cpu_ns, "CPU time of the thread a wait", column("cpu-time", "CPU time"),
            interval(), range(Range::ANY), in_tables(Room::Always), metric("cpu"), compared("cpu", Scatter::Lateness);
        cpu: Cycles = row.cpu_cycles, "CPU time a wait, in cycles", column("cpu-cycles", "CPU (cycles)"), range(Range::ANY);
        error: Nanoseconds = row.error_ns, "Median of |observed − asked|";
        wait_spread: Share = row.spread, "Share of waits within that of the median";
        wait_quality: Percent = row.quality, "Formula (1) of waits; not to be compared with the Quality of clocks",
            column("wait-quality", "F(1) of waits %"), in_tables(Room::Wide);
    }
}

fn intervals() -> Vec<Field> {
    let figures = field_table! { Read::Row, PERIODS, |row| row.period()?;
        rate_error: Ppm = row.rate_error_ppm, "How much longer the period is than the one asked for",
            column("rate", "rate error (ppm)"), in_tables(Room::Always), metric("rate_error"), compared("rate", Scatter::None);
        jitter_p50: Nanoseconds = row.jitter_p50_ns, "How far intervals are from the period: the percentile of the name",
            in_tables(Room::Wide), quantile("jitter", "50");
        jitter_p99: Nanoseconds = row.jitter_p99_ns, "The 99th percentile", quantile("jitter", "99");
    };
    figures
        .into_iter()
        .map(|field| field.interval().range(Range::ANY))
        .collect()
}

fn expirations() -> Vec<Field> {
    field_table! { Read::Row, PERIODS, |row| row.period()?;
        expirations: Count = row.expirations, "Expirations in the measurement", metric("expirations");
        missed: Count = row.missed, "Points of the grid at which nothing woke up",
            in_tables(Room::Wide), metric("missed_expirations");
        missed_reported: Count = row.missed_reported, "Those that the timer reports",
            column("missed-reported", "of which reported");
        stalls: Count = row.stalls, "Stalls that were injected";
        after_stall: Text = row.policy.map(MissedPolicy::name), "What it does after a stall: `burst`, `skip`, `delay`",
            column("after-stall", "after a stall"), in_tables(Room::Always);
    }
}

fn granularity(known: Granularity) -> Found {
    match known {
        Granularity::Step(step) => Found::Figure(step),
        Granularity::AtMost(ns) => Found::AtMost(ns),
    }
}
