//! Tests which figures and properties of a row are used for plans.

use super::*;
use estimators::model::{Cost, Estimate, TimerInfo};

/// The properties declared for the native timer with this id; none are known of others.
fn native(id: &str) -> Properties {
    timers::find(id).map_or(Properties::default(), |entry| {
        entry.info.properties.into_owned()
    })
}

/// A clock with this step and cost in nanoseconds, and with all other figures known.
pub(in crate::choice) fn clock(id: &str, step_ns: f64, cost_ns: f64) -> ClockFigures {
    ClockFigures {
        id: id.into(),
        step_ns,
        resolved: true,
        cost_ns,
        cost_error_ns: 0.02 * cost_ns,
        variation_ns: step_ns.min(0.5 * cost_ns),
        adds_ns: None,
        properties: native(id),
    }
}

pub(in crate::choice) fn row(id: &str, runtime: &str, properties: Option<Properties>) -> TimerRow {
    let timer = TimerInfo {
        id: id.into(),
        runtime: runtime.into(),
        ..TimerInfo::default()
    };
    TimerRow {
        properties,
        ..TimerRow::without_results(&timer, Status::Ok)
    }
}

#[test]
fn smaller_cost_bound_counts() {
    let variation = |spread: f64, p99_ns: Option<f64>| {
        let mut row = row("sundial", "native", None);
        row.spread = Some(Estimate::exact(spread));
        row.cost = p99_ns.map(|p99_ns| Cost {
            p99_ns: Some(p99_ns),
            single_median_ns: None,
            p90_ns: None,
            longest_ns: None,
            follows: None,
            reference: String::new(),
        });
        variation_ns(&row, 10.0, [22.0, 0.44])
    };
    for (spread, p99_ns, expected) in [
        (1.0, Some(33.0), Some(10.0)),
        (1.0, Some(24.0), Some(2.0)),
        // It may be less than 95 % in another process.
        (0.96, Some(50.0), Some(28.0)),
        (0.98, Some(50.0), Some(10.0)),
        (0.9, Some(22.0), Some(0.44)),
        (0.98, None, Some(10.0)),
        (0.9, None, None),
    ] {
        assert_eq!(variation(spread, p99_ns), expected, "{spread} {p99_ns:?}");
    }
}

#[test]
fn native_timers_declare_all_properties() {
    for entry in timers::catalogue() {
        let declared = entry.info.properties;
        let undeclared = declared.counts.is_none()
            || declared.family.is_none()
            || declared.settable.is_none()
            || declared.slewed.is_none()
            || declared.needs_fence.is_none()
            || declared.reads_by.is_none();
        assert!(!undeclared, "{}: {declared:?}", entry.info.id);
    }
}

#[test]
fn properties_that_are_not_declared_are_unknown() {
    let platform = Platform::default();
    let known = |row: TimerRow| properties(&row, &platform);
    assert_eq!(known(row("sundial", "native", None)), Properties::default());
    // This program declares it.
    let own = known(row("realtime", "native", None));
    assert_eq!(own, native("realtime"));
    // Its callers have no fence.
    let unfenced = Properties {
        needs_fence: Some(false),
        ..Properties::default()
    };
    assert_eq!(known(row("realtime", "Mine 1.0", None)), unfenced);
}

#[test]
fn only_invariant_counter_keeps_its_rate() {
    let mut platform = Platform::default();
    platform.cpu.architecture = "x86_64".into();
    let unmet = |platform: &Platform| {
        let mut clock = clock("rdtsc", 1.0, 10.0);
        clock.properties = properties(&row("rdtsc", "native", None), platform);
        (clock.properties.slewed, clock.unmet().len())
    };
    assert_eq!(unmet(&platform), (None, 0));
    platform.cpu.invariant_tsc = Some(false);
    assert_eq!(unmet(&platform), (Some(true), 1));
    platform.cpu.invariant_tsc = None;
    (platform.tsc.constant, platform.tsc.nonstop) = (Some(true), Some(true));
    assert_eq!(unmet(&platform), (Some(false), 0));
}
