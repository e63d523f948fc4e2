//! Defines the fields of sleep primitives and of periodic timers: one list, in which each kind leaves
//! empty what it lacks.

use super::{Field, Kind, LabelOf, Range, Read, Visibility, field_table};
use crate::table::CellValue;
use estimators::model::Granularity;

pub(super) fn fields() -> Vec<Field> {
    use Visibility::{Always, InFull};
    field_table! { Read::Row, &[Kind::Waits, Kind::Periods], |row| row;
        slack: Nanoseconds = row.conditions()?.slack_ns? as f64, "Delay that the kernel may add to a wake-up to combine it with others (timer slack)", range(Range::INTEGER), label(LabelOf::Timer, "slack_seconds");
        policy: Text = &row.conditions()?.policy, "Scheduling policy of the waiting thread", label(LabelOf::Timer, "policy");
        on_cpu: Count = row.conditions()?.cpu, "The CPU that the process was pinned to", column("on-cpu", "on CPU"), label(LabelOf::Timer, "cpu");
        request: Nanoseconds = row.request_ns()? as f64, "The requested length, or the period",
            column("request", "asked"), in_tables(Always);
        late_p50: Nanoseconds = row.lateness()?.p50_ns?,
            "Median lateness", more("of waits, observed minus requested; of periodic timers, from when a wake-up was due"),
            in_tables(Always), interval(), range(Range::ANY), quantile("lateness", "50"), compared("lateness");
        late_p99: Nanoseconds = row.lateness()?.p99_ns?,
            "99th percentile of lateness", titled("p99"), in_tables(Always), interval(), range(Range::ANY),
            quantile("lateness", "99"), compared("p99");
        late_max: Nanoseconds = row.lateness()?.max_ns,
            "Largest lateness", titled("longest"), in_tables(Always), range(Range::ANY), metric("lateness_max");
        waits: Count = row.lateness()?.waits,
            "Number of waits or wake-ups", titled("of"), in_tables(Always);
        cpu: Nanoseconds = row.lateness()?.cpu_ns?, "CPU time of the thread per wait or wake-up", column("cpu-time", "CPU time"),
            in_tables(Always), interval(), range(Range::ANY), metric("cpu"), compared("cpu");
        missed: Count = row.period()?.missed, "Due times without a wake-up", in_tables(Always), metric("missed_expirations");
        due: Count = row.period()?.due(), "Number of due times, with or without a wake-up", titled("of due"), in_tables(Always);
        rate_error: Ppm = row.period()?.rate_error_ppm?, "Relative difference of the period from the requested one",
            column("rate", "drift (ppm)"), in_tables(Always), interval(), range(Range::ANY), metric("rate_error"), compared("rate");
        early: Share = row.lateness()?.early, "Share of waits that returned too early", metric("early");
        earliest: Nanoseconds = row.lateness()?.earliest_ns, "Largest earliness";
        rounding: Nanoseconds = granularity(row.wait()?.figures.as_ref()?.steps.first()?.rounding?),
            "Unit to which short requests are rounded", in_tables(InFull), interval(), range(Range::STEP), compared("rounding");
        grid: Nanoseconds = granularity(row.wait()?.figures.as_ref()?.steps.first()?.grid?),
            "Interval at which the system wakes threads, whatever was requested (a tick, as of 4 ms)",
            in_tables(InFull), interval(), range(Range::STEP), compared("grid");
    }
}

/// The step with its interval, or its upper limit.
fn granularity(granularity: Granularity) -> CellValue {
    match granularity {
        Granularity::Step(step) => step.into(),
        Granularity::AtMost(ns) => CellValue::bounded(Some(ns), true),
    }
}
