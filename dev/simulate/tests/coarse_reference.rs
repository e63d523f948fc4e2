//! Tests the calibrated step of references with long steps, as in browsers, and with steps of a few ticks; and the
//! cost of calls that those of long steps time.

use simulate::Case;
use simulate::population::timed_by_small_steps;
use simulated::Model;
use timermeter::plan::Plan;

use super::calibrated;

const SEEDS: u64 = 12;
const COST_NS: f64 = 60.0;

/// Cases on different machines in which one clock with this step is both the timer and the
/// reference.
fn self_timed_cases(step: f64) -> impl Iterator<Item = Case> {
    let clock = Model::regular("coarse", step, 1.0, COST_NS);
    timed_by_small_steps(SEEDS as usize, 35)
        .into_iter()
        .map(move |case| Case {
            timer: clock.clone(),
            reference: clock.clone(),
            ..case
        })
}

#[test]
fn determines_step_of_coarse_reference() {
    for step in [
        5_000.0,
        20_000.0,
        100_000.0,
        1_000_000.0,
        15_625_000.0,
        100_000_000.0,
    ] {
        for case in self_timed_cases(step) {
            let found = calibrated(&case);
            assert!(
                found.step_at_most.is_none() && found.step == step,
                "{step}: {found:?}"
            );
        }
    }
}

/// Whole numbers of ticks or fractions, raw or in nanoseconds.
#[test]
fn detects_few_tick_reference() {
    let cases = [21, 22].map(|seed| timed_by_small_steps(60, seed)).concat();
    let wrong = cases.iter().filter(|case| {
        let found = calibrated(case);
        let ticks = case.reference.step / case.reference.unit;
        found.step_at_most.is_none() && (found.step / ticks - 1.0).abs() > 0.01
    });
    let wrong = wrong.count();
    assert!(50 * wrong <= cases.len(), "{wrong} of {}", cases.len());
}

/// The cost of a read is not mistaken for a step, however high it is.
#[test]
fn slow_reference_is_not_coarse() {
    for case in self_timed_cases(1.0) {
        let found = calibrated(&Case {
            reference: Model::regular("slow to read", 1.0, 1.0, 30_000.0),
            ..case
        });
        assert!(found.step < 100.0, "{found:?}");
    }
}

/// With any step of the reference, the cost comes from batches, and its interval contains the
/// truth.
#[test]
fn calls_are_timed_by_long_batches() {
    for step in [20_000.0, 1_000_000.0] {
        let mut close = 0;
        for case in self_timed_cases(step).take(5) {
            let cost = case.judge(&Plan::QUICK).unwrap().cost;
            assert_eq!(cost.covered(), Some(true), "{step}");
            let ratio = cost.value.zip(cost.truth).map(|(cost, truth)| cost / truth);
            close += usize::from((ratio.expect("a cost") - 1.0).abs() < 0.25);
        }
        assert!(close >= 4, "{step}: {close} of 5 are close");
    }
}
