//! Tests counters whose step is a few ticks, whole numbers or fractions, raw or in nanoseconds: as
//! timers, and as references.

use rayon::prelude::*;
use simulate::population::{per_kind, timed_by_small_steps};
use simulate::{Case, FoundFigure};
use timermeter::campaign::plan::Plan;

use super::calibrated;

const SEEDS: [u64; 2] = [21, 22];
const COUNT: usize = 60;

#[test]
fn few_and_fractional_ticks_are_counted_correctly() {
    // Two kinds each, by either of two references.
    for names in [
        ["a few ticks, raw", "a few ticks, ns"],
        ["longer than a read", "multiples of 10"],
    ] {
        let mut cases: Vec<Case> = SEEDS.map(|seed| per_kind(COUNT / 4, seed)).concat();
        cases.retain(|case| names.contains(&&*case.timer.name));
        let judged = cases.into_par_iter().map(|case| {
            let verdict = case.judge(&Plan::DEFAULT).unwrap();
            verdict.resolution
        });
        let determined: Vec<_> = judged.filter(|figure| figure.value.is_some()).collect();
        let count = determined.len();
        let is_covered = |figure: &&FoundFigure| figure.covered() == Some(true);
        let covered = determined.iter().filter(is_covered).count();
        let is_wrong = |figure: &&FoundFigure| {
            figure.covered() == Some(false)
                && figure.error() > figure.truth.map(|truth| 0.05 * truth)
        };
        let wrong = determined.iter().filter(is_wrong).count();
        // 1 % may be wrong, plus chance.
        assert!(
            wrong <= 4 && 10 * covered >= 9 * count,
            "{wrong} wrong, {covered} covered of {count}"
        );
        assert!(
            10 * count >= 8 * SEEDS.len() * COUNT,
            "{count} are determined"
        );
    }
}

#[test]
fn detects_few_tick_reference() {
    let cases = SEEDS.map(|seed| timed_by_small_steps(COUNT, seed)).concat();
    let wrong = cases.iter().filter(|case| {
        let found = calibrated(case);
        let ticks = case.reference.step / case.reference.unit;
        found.step_at_most.is_none() && (found.step / ticks - 1.0).abs() > 0.01
    });
    let wrong = wrong.count();
    assert!(50 * wrong <= cases.len(), "{wrong} of {}", cases.len());
}
