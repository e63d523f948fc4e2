//! Tests clocks whose value grows with each call, and clocks of two precisions.

use estimators::figures::{Figures, figures};
use estimators::resolution::Step;
use simulate::population;
use simulated::{Model, Updates};
use timermeter::plan::Plan;

use super::case;

fn probe(timer: Model, seed: u64) -> Figures {
    figures(&super::probe(&case(timer, seed), &Plan::QUICK))
}

/// Logical clocks, clocks that make readings unique in a coarse unit, and clocks that move by each
/// call.
#[test]
fn growth_with_calls_is_found() {
    let clock = |step: f64, unit: f64| Model::regular("", step, unit, 30.0);
    let unique = |ticks, model| Model {
        unique: ticks,
        ..model
    };
    let moved = |ticks, model| Model {
        per_call: ticks,
        ..model
    };
    let stuck = Model {
        updates: Updates::Stuck,
        ..clock(1.0, 1.0)
    };
    for (number, model) in [
        moved(100_000, clock(1.0, 1.0)),
        moved(100, clock(1e6, 1e3)),
        moved(400, clock(1.0, 1.0)),
        unique(1, clock(1e6, 1e3)),
        unique(100_000, clock(1.0, 1.0)),
        unique(1, clock(1e6, 244.140625)),
        unique(1, clock(4e6, 1e5)),
        moved(1_000, stuck),
    ]
    .into_iter()
    .enumerate()
    {
        let truth = (model.per_call + model.unique) as f64;
        let found = probe(model.clone(), number as u64);
        let growth = found.growth_per_call;
        assert!(
            growth.is_some_and(|growth| (growth / truth - 1.0).abs() < 0.2),
            "{growth:?} of {model:?}"
        );
        assert!(
            matches!(&found.resolution, Step::AtMost { bound, .. } if bound.is_infinite()),
            "{:?}",
            found.resolution
        );
    }
}

#[test]
fn two_precisions_are_found() {
    for (number, (share, unit, step)) in [
        (0.1, 1_000, 1.0),
        (0.5, 1_000, 1.0),
        (0.1, 100, 1.0),
        (0.9, 1_000_000, 1.0),
        (0.5, 1_000, 41.667),
    ]
    .into_iter()
    .enumerate()
    {
        let model = Model {
            rounded: Some((share, unit)),
            ..Model::regular("", step, 1.0, 37.0)
        };
        match probe(model, number as u64).resolution {
            Step::AtMost { reason, .. } => {
                assert!(reason.contains("two precisions"), "{reason}");
                assert!(reason.contains(&format!("of {unit} ticks")), "{reason}");
            }
            other => panic!("{share} {unit}: {other:?}"),
        }
    }
}

/// Coarse, fine, fractional, slow and irregular clocks, and all of the population.
#[test]
fn usual_clocks_are_not_blamed() {
    let regular = |step: f64, cost: f64| Model::regular("", step, 1.0, cost);
    let moved = |step: f64, multiple: i64| Model {
        multiple,
        updates: Updates::Moved(1.0),
        ..regular(step, 50.0)
    };
    let mut models = vec![
        regular(1.0, 20.0),
        regular(4e6, 20.0),
        regular(1e3, 20.0),
        regular(1e3 / 24.0, 125.0),
        regular(1e6, 6e5),
        regular(1.0, 1e3),
        Model::regular("", 1e9 / 60.0, 1e3, 50.0),
        moved(5e3, 5_000),
        moved(1e5, 100_000),
        Model {
            updates: Updates::Random,
            ..regular(700.0, 20.0)
        },
    ];
    let population = population::regular(60, 653).into_iter();
    models.extend(population.map(|case| case.timer));
    for (number, model) in models.into_iter().enumerate() {
        let found = probe(model.clone(), number as u64);
        assert_eq!(found.growth_per_call, None, "{model:?}");
        if let Step::AtMost { reason, .. } = &found.resolution {
            assert!(!reason.contains("precisions"), "{reason}: {model:?}");
        }
    }
}
