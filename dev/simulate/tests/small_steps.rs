//! Tests counters whose step is a few ticks, whole numbers or fractions, raw or in nanoseconds: as
//! timers, and as references.

use rand::SeedableRng;
use rand::rngs::StdRng;
use rayon::prelude::*;
use simulate::population::{
    SMALL_STEP_REFERENCES, fractional_steps, small_steps, timed_by_small_steps,
};
use simulate::{Case, Verdict};
use simulated::{REFERENCE_ID, Role, World};
use timermeter::campaign::calibrate::calibrate;
use timermeter::campaign::sampling::Plan;

const SEEDS: [u64; 2] = [21, 22];
const COUNT: usize = 60;

/// Draws cases from a population and judges them.
fn judge_population(population: fn(usize, u64) -> Vec<Case>) -> Vec<(Case, Verdict)> {
    let cases: Vec<Case> = SEEDS
        .into_iter()
        .flat_map(|seed| population(COUNT, seed))
        .collect();
    let judge = |case: Case| {
        (
            case.clone(),
            case.judge(&Plan::DEFAULT).expect("the reference is sound"),
        )
    };
    cases.into_par_iter().map(judge).collect()
}

#[test]
fn few_ticks_are_counted_correctly() {
    let all = judge_population(small_steps);
    for reference in SMALL_STEP_REFERENCES {
        let verdicts: Vec<&Verdict> = all
            .iter()
            .filter(|(case, _)| case.reference.name == reference)
            .map(|(_, verdict)| verdict)
            .collect();
        let determined: Vec<&Verdict> = verdicts
            .iter()
            .copied()
            .filter(|verdict| verdict.resolution.value.is_some())
            .collect();
        let is_wrong = |verdict: &&&Verdict| {
            verdict.resolution.error() > verdict.resolution.truth.map(|truth| 0.05 * truth)
        };
        let wrong = determined.iter().filter(is_wrong).count();
        let covered = determined
            .iter()
            .filter(|verdict| verdict.resolution.covered() == Some(true))
            .count();
        // 1 % of about 40 timers may be wrong, plus chance.
        assert!(
            wrong <= 2,
            "{reference}: {wrong} of {} are wrong",
            determined.len()
        );
        assert!(
            5 * determined.len() >= 4 * verdicts.len(),
            "{reference}: {} of {} are determined",
            determined.len(),
            verdicts.len()
        );
        assert!(
            10 * covered >= 9 * determined.len(),
            "{reference}: {covered} of {} are covered",
            determined.len()
        );
    }
}

#[test]
fn fractional_steps_are_not_rounded() {
    let all = judge_population(fractional_steps);
    for kind in ["longer than a read", "multiples of 10"] {
        let of_kind: Vec<_> = all
            .iter()
            .filter(|(case, _)| case.timer.name.starts_with(kind))
            .collect();
        let resolutions = of_kind.iter().map(|(_, verdict)| verdict.resolution);
        let determined: Vec<_> = resolutions
            .filter(|resolution| resolution.value.is_some())
            .collect();
        let covered = determined
            .iter()
            .filter(|resolution| resolution.covered() == Some(true))
            .count();
        let wrong = determined.iter().filter(|resolution| {
            resolution.covered() == Some(false)
                && resolution.error() > resolution.truth.map(|truth| 0.05 * truth)
        });
        let wrong = wrong.count();
        let all = determined.len();
        assert!(wrong <= 2, "{kind}: {wrong} of {all} are wrong");
        assert!(
            10 * covered >= 9 * all,
            "{kind}: {covered} of {all} are covered"
        );
        assert!(
            10 * all >= 8 * of_kind.len(),
            "{kind}: {all} are determined"
        );
    }
}

#[test]
fn covers_cost_with_few_tick_reference() {
    let all = judge_population(timed_by_small_steps);
    let covered = all
        .iter()
        .filter(|(_, verdict)| verdict.cost.covered() == Some(true))
        .count();
    assert!(
        100 * covered >= 92 * all.len(),
        "{covered} of {} are covered",
        all.len()
    );
}

#[test]
fn detects_few_tick_reference() {
    let cases: Vec<Case> = SEEDS
        .into_iter()
        .flat_map(|seed| timed_by_small_steps(COUNT, seed))
        .collect();
    let wrong = cases.iter().filter(|case| {
        let world = World::new(&case.timer, &case.reference, &case.surroundings, case.seed).share();
        let mut random = StdRng::seed_from_u64(case.seed);
        let mut subject = world.subject(Role::Reference);
        let found = calibrate(
            REFERENCE_ID,
            subject.as_mut(),
            case.reference.unit,
            &mut random,
        );
        let found = found.expect("the reference is sound");
        let ticks = case.reference.step / case.reference.unit;
        found.step_at_most.is_none() && (found.step / ticks - 1.0).abs() > 0.01
    });
    let wrong = wrong.count();
    assert!(50 * wrong <= cases.len(), "{wrong} of {}", cases.len());
}
