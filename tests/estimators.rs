//! The estimators against simulated truth, over many timers and several seeds, none of which the rules were chosen on.

use timermeter::prober::plan::Plan;
use timermeter::selftest::{Verdict, population};

const SEEDS: [u64; 3] = [11, 12, 13];
const COUNT: usize = 100;

fn verdicts(population: fn(usize, u64) -> Vec<timermeter::selftest::Case>) -> Vec<Verdict> {
    let cases = SEEDS.into_iter().flat_map(|seed| population(COUNT, seed));
    cases.map(|case| case.judge(&Plan::DEFAULT).expect("a sound reference serves")).collect()
}

#[test]
fn figures_are_right_on_nearly_all_timers() {
    let verdicts = verdicts(population::regular);
    let share = |holds: fn(&Verdict) -> bool| {
        verdicts.iter().filter(|verdict| holds(verdict)).count() as f64 / verdicts.len() as f64
    };
    // A sample of 300 scatters by a percent around what holds for the population.
    assert!(share(Verdict::accuracy_holds) >= 0.99, "accuracy: {}", share(Verdict::accuracy_holds));
    assert!(share(Verdict::cost_holds) >= 0.97, "cost: {}", share(Verdict::cost_holds));
    assert!(share(Verdict::spread_holds) >= 0.97, "spread: {}", share(Verdict::spread_holds));
    assert!(share(Verdict::quality_holds) >= 0.97, "Quality: {}", share(Verdict::quality_holds));
    assert!(share(Verdict::order_holds) >= 0.99, "order: {}", share(Verdict::order_holds));
}

#[test]
fn what_has_no_step_gets_no_number() {
    for verdict in verdicts(population::irregular) {
        assert_eq!(verdict.profile.accuracy_ns(), None, "{verdict:?}");
        assert_eq!(verdict.quality, None, "{verdict:?}");
    }
}
