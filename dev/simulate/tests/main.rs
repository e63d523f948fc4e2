//! Tests of the estimators on simulated timers, in addition to the command `simulate`: one module
//! for each subject.

mod adds;
mod calls;
mod coarse_reference;
mod command;
mod coverage;
mod estimators;
mod library;
mod steps;
mod waits;

use ::estimators::trace::{Reference, Trace};
use probe::prober::calibrate;
use rand::SeedableRng;
use rand::rngs::StdRng;
use simulate::Case;
use simulated::{Model, REFERENCE_ID, Role, Surroundings, World};
use timermeter::plan::Plan;

/// A timer next to a reference of short steps, on a usual machine.
fn case(timer: Model, seed: u64) -> Case {
    Case {
        timer,
        reference: Model::regular("fine", 0.385, 0.385, 12.0),
        surroundings: Surroundings::default(),
        cut: None,
        seed,
    }
}

/// The trace of a case.
fn probe(case: &Case, plan: &Plan) -> Trace {
    case.probe(plan).unwrap().0
}

/// What one process finds of the reference of a case.
fn calibrated(case: &Case) -> Reference {
    let world = World::new(&case.timer, &case.reference, &case.surroundings, case.seed).share();
    let mut random = StdRng::seed_from_u64(case.seed);
    let mut subject = world.subject(Role::Reference);
    let unit = case.reference.unit;
    let found = calibrate(REFERENCE_ID, subject.as_mut(), unit, &mut random);
    found.unwrap()
}
