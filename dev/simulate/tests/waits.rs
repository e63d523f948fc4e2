//! Tests the estimators of sleep primitives and periodic timers against simulated truth, over many
//! timers; no rule was chosen on these timers.

use rayon::prelude::*;
use simulate::waits::population;
use simulate::waits::score::{Counts, Judged, Score};
use timermeter::campaign::sampling::Plan;

const SEED: u64 = 170;
const COUNT: usize = 150;

#[test]
fn wait_steps_right_and_intervals_cover() {
    let plan = &Plan::DEFAULT;
    let mut waits = population::waits(COUNT, SEED);
    waits.extend(population::coarse_references(COUNT / 2, SEED));
    let waits = waits
        .par_iter()
        .map(|case| Judged::wait(case, &case.figures(plan).expect("simulated timers answer")));
    let ticks = population::ticks(COUNT, SEED);
    let ticks = ticks.par_iter().map(|case| {
        let (figures, missed) = case.figures(plan).expect("simulated timers answer");
        Judged::ticks(case, &figures, missed).expect("simulated timers answer")
    });
    let mut score = Score::default();
    waits
        .chain(ticks)
        .collect::<Vec<_>>()
        .iter()
        .for_each(|judged| score.add(judged));
    // The standard error of a share of 97 % among 150 timers is 1.4 points.
    let (steps, policies) = (Counts::sum(&score.steps), Counts::sum(&score.policies));
    assert!(
        steps.right * 100 >= 95 * steps.timers && steps.wrong <= 1,
        "{:?}",
        score.steps
    );
    assert!(
        policies.right as usize * 100 >= 96 * COUNT,
        "{:?}",
        score.policies
    );
    for (name, figure) in score.summary() {
        // Four standard errors below 95 %.
        let min_coverage = 0.95 - 4.0 * (0.95 * 0.05 / f64::from(figure.intervals)).sqrt();
        assert!(figure.covered >= Some(min_coverage), "{name}: {figure:?}");
    }
}
