//! Counters that move by a few ticks at once, whole and broken, raw and in nanoseconds: as timers,
//! and as what times others.

use rand::SeedableRng;
use rand::rngs::StdRng;
use rayon::prelude::*;
use simulate::population::{SMALL_STEP_REFERENCES, small_steps, timed_by_small_steps};
use simulate::{Case, Verdict};
use simulated::{REFERENCE_ID, Role, World};
use timermeter::campaign::calibrate::calibrate;
use timermeter::campaign::sampling::Plan;

const SEEDS: [u64; 2] = [21, 22];
const COUNT: usize = 60;

fn verdicts(population: fn(usize, u64) -> Vec<Case>) -> Vec<(Case, Verdict)> {
    let cases: Vec<Case> = SEEDS
        .into_iter()
        .flat_map(|seed| population(COUNT, seed))
        .collect();
    let judged = |case: Case| {
        (
            case.clone(),
            case.judge(&Plan::DEFAULT)
                .expect("a sound reference serves"),
        )
    };
    cases.into_par_iter().map(judged).collect()
}

#[test]
fn few_ticks_are_counted_correctly() {
    let all = verdicts(small_steps);
    for reference in SMALL_STEP_REFERENCES {
        let found: Vec<&Verdict> = all
            .iter()
            .filter(|(case, _)| case.reference.name == reference)
            .map(|(_, verdict)| verdict)
            .collect();
        let determined: Vec<&Verdict> = found
            .iter()
            .copied()
            .filter(|verdict| verdict.resolution.value.is_some())
            .collect();
        let off = |verdict: &&&Verdict| {
            verdict.resolution.error() > verdict.resolution.truth.map(|truth| 0.05 * truth)
        };
        let wrong = determined.iter().filter(off).count();
        let covered = determined
            .iter()
            .filter(|verdict| verdict.resolution.covered() == Some(true))
            .count();
        // One in a hundred, and what chance does to that number.
        assert!(
            wrong <= 2,
            "{reference}: {wrong} of {} are wrong",
            determined.len()
        );
        assert!(
            5 * determined.len() >= 4 * found.len(),
            "{reference}: {} of {} are determined",
            determined.len(),
            found.len()
        );
        assert!(
            10 * covered >= 9 * determined.len(),
            "{reference}: {covered} of {} are covered",
            determined.len()
        );
    }
}

#[test]
fn covers_cost_with_few_tick_reference() {
    let all = verdicts(timed_by_small_steps);
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
        let found = found.expect("a sound reference serves");
        let ticks = case.reference.step / case.reference.unit;
        found.step_at_most.is_none() && (found.step / ticks - 1.0).abs() > 0.01
    });
    let wrong = wrong.count();
    assert!(50 * wrong <= cases.len(), "{wrong} of {}", cases.len());
}
