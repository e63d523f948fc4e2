//! Tests what the crate `probe` finds in one process: against the truth of simulated timers, and
//! against what the program finds in many processes.

use probe::prober::calibrate;
use probe::{Characteristics, Estimate, observe};
use rand::SeedableRng;
use rand::rngs::StdRng;
use simulate::{Case, FREQUENCY, Truth, population};
use simulated::{REFERENCE_ID, Role, World};
use timermeter::plan::Plan;
use timers::Answer;

/// The figures of a simulated timer in one process, and the frequency of the core meanwhile.
fn in_one_process(case: &Case) -> Answer<(Characteristics, Estimate)> {
    let Case {
        timer,
        reference,
        surroundings,
        seed,
        ..
    } = case;
    let world = World::new(timer, reference, surroundings, *seed).share();
    let (mut random, mut clock) = (StdRng::seed_from_u64(*seed), world.subject(Role::Reference));
    let found = calibrate(REFERENCE_ID, clock.as_mut(), reference.unit, &mut random)?;
    let clocks = [world.subject(Role::Timer), clock];
    let tick = timer.declared.then_some(timer.unit);
    let mut frequency = || Some(FREQUENCY * world.speed());
    let (trace, hertz) = observe(clocks, tick, found, &mut frequency, &mut random)?;
    let figures = Characteristics::from_trace(&trace, hertz);
    Ok((figures, hertz.expect("the frequency is known")))
}

/// Ninety of a hundred intervals of the cost hold the mean over processes, of which each saw one,
/// and touch the interval that the program finds in many.
#[test]
fn one_process_finds_the_truth() {
    let mut cases = population::regular(30, 4);
    cases
        .iter_mut()
        .for_each(|case| case.surroundings.unrolled = true);
    let (mut steps, mut costs) = (Vec::new(), Vec::new());
    for case in &cases {
        let (found, hertz) = in_one_process(case).unwrap();
        let truth = Truth::of_timer(&case.timer, &case.surroundings);
        let step = truth.resolution.expect("it has a step");
        let is_right =
            |found: Estimate| found.contains(step) || (found.value / step - 1.0).abs() < 0.01;
        steps.extend(found.resolution.map(is_right));
        let program = case.judge(&Plan::QUICK).unwrap().row;
        let (cost, program) = (found.cost.expect("calls"), program.cost_ns.expect("calls"));
        let slowdown = if case.timer.follows_core {
            FREQUENCY / hertz.value
        } else {
            1.0
        };
        let agrees = cost.low <= program.high && program.low <= cost.high;
        costs.push(agrees && cost.contains(truth.cost * slowdown));
    }
    let share = |right: &[bool], all: usize| {
        right.iter().filter(|right| **right).count() as f64 / all as f64
    };
    assert!(share(&steps, cases.len()) >= 0.8, "{steps:?}");
    assert!(share(&steps, steps.len()) >= 0.98, "{steps:?}");
    assert!(share(&costs, cases.len()) >= 0.9, "{costs:?}");
}

#[test]
fn irregular_clock_has_no_step() {
    let cases = population::irregular(20, 5);
    let found = cases
        .iter()
        .map(|case| in_one_process(case).expect("sound").0);
    let resolved = found.filter(|found| found.resolution.is_some()).count();
    assert!(resolved <= 1, "{resolved} of 20 have a step");
}
