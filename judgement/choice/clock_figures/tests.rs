//! Tests which figures of a row are used for plans.

use super::*;

/// A clock with this step and cost in nanoseconds, and with all other figures known.
pub(in crate::choice) fn clock(id: &str, step_ns: f64, cost_ns: f64) -> ClockFigures {
    ClockFigures {
        id: id.into(),
        runtime: "native".into(),
        step_ns,
        resolved: true,
        cost_ns,
        cost_error_ns: 0.02 * cost_ns,
        adds_ns: None,
        cost_p99_ns: Some(1.5 * cost_ns),
        spread: Some(1.0),
        facts: timers::find(id).map_or(Facts::default(), |entry| {
            Facts::from_declared(&entry.info.properties)
        }),
    }
}

#[test]
fn smaller_cost_bound_counts() {
    let fine = clock("monotonic", 10.0, 22.0);
    assert_eq!(fine.cost_variation_ns(), Some(10.0));
    let coarse = clock("monotonic-coarse", 4e6, 4.0);
    assert_eq!(coarse.cost_variation_ns(), Some(2.0));
    let almost = ClockFigures {
        spread: Some(0.96),
        cost_p99_ns: Some(50.0),
        ..fine.clone()
    };
    assert_eq!(
        almost.cost_variation_ns(),
        Some(28.0),
        "it may be less than 95 % in another process"
    );
    let enough = ClockFigures {
        spread: Some(0.98),
        ..almost
    };
    assert_eq!(enough.cost_variation_ns(), Some(10.0));
    let scattered = ClockFigures {
        spread: Some(0.9),
        cost_p99_ns: Some(50.0),
        ..fine
    };
    assert_eq!(scattered.cost_variation_ns(), Some(28.0));
}
