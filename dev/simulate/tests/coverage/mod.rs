//! Whether plans keep what they promise: simulated campaigns in virtual time, a thousand for each
//! duration, clock, error and method. The error has to be kept at least as often as the confidence
//! says, less two points for chance.

mod world;

use rand::RngExt;
use timermeter::method::plan::{LONGEST_CAMPAIGN_NS, batch, edge_crossing, single};
use timermeter::method::{ClockFigures, Plan, Requirement, Shortfall};
use timermeter::model::Nanos;
use timermeter::statistics::standard_deviation;
use world::{Truth, World};

const CAMPAIGNS: u64 = 1_000;
const DURATIONS_NS: [f64; 9] = [5.0, 25.0, 250.0, 2.5e3, 1e4, 1e5, 5e5, 1e6, 1e7];
/// Some of them, where the method is not the question.
const FEW_NS: [f64; 3] = [5.0, 1e4, 1e6];
const ERRORS: [f64; 2] = [0.01, 0.05];

/// Clocks of every kind, two of which need a fence: steps of 1 and 10 ns, 1 µs, 4 ms and 10 ms,
/// with the cost of a register, a vDSO and a system call.
const CLOCKS: [Truth; 7] = [
    Truth {
        step_ns: 1.0,
        base_ns: 9.0,
        jitter_ns: 0.4,
        ordered: false,
    },
    Truth {
        step_ns: 10.0,
        base_ns: 9.0,
        jitter_ns: 0.4,
        ordered: true,
    },
    Truth {
        step_ns: 10.0,
        base_ns: 22.0,
        jitter_ns: 2.0,
        ordered: true,
    },
    Truth {
        step_ns: 10.0,
        base_ns: 500.0,
        jitter_ns: 30.0,
        ordered: true,
    },
    Truth {
        step_ns: 1e3,
        base_ns: 22.0,
        jitter_ns: 2.0,
        ordered: true,
    },
    Truth {
        step_ns: 4e6,
        base_ns: 4.3,
        jitter_ns: 0.3,
        ordered: false,
    },
    Truth {
        step_ns: 1e7,
        base_ns: 550.0,
        jitter_ns: 40.0,
        ordered: true,
    },
];

type Planner = fn(&ClockFigures, &Requirement) -> Result<Plan, Shortfall>;

/// How many of the campaigns kept the error, or `None` where the method does not promise it.
fn kept(clock: Truth, requirement: &Requirement, planner: Planner, seed: u64) -> Option<f64> {
    let plan = |world: &mut World| {
        let figures = world.figures();
        planner(&figures, requirement)
            .ok()
            .filter(|plan| {
                plan.campaign_ns < LONGEST_CAMPAIGN_NS
                    && World::can_play(clock, plan, requirement.duration_ns)
            })
            .map(|plan| (figures, plan))
    };
    plan(&mut World::new(clock, seed))?;
    let kept = (0..CAMPAIGNS)
        .filter(|number| {
            let mut world = World::new(clock, seed.wrapping_mul(1_000_003).wrapping_add(*number));
            let Some((figures, plan)) = plan(&mut world) else {
                return false;
            };
            // The user knows the duration roughly.
            let duration = requirement.duration_ns * world.random().random_range(0.9..1.1);
            world.run(&figures, &plan, duration).abs() <= requirement.error
        })
        .count();
    Some(kept as f64 / CAMPAIGNS as f64)
}

/// Runs all combinations with one method; says which broke the promise, and how many there were.
fn judge(planner: Planner, confidence: f64, durations: &[f64]) -> (Vec<String>, usize) {
    let (mut broken, mut judged) = (Vec::new(), 0);
    for (at, clock) in CLOCKS.into_iter().enumerate() {
        for &duration in durations {
            for error in ERRORS {
                let requirement =
                    Requirement::new(Nanos(duration), error, confidence).expect("a requirement");
                let Some(share) = kept(clock, &requirement, planner, at as u64 + 1) else {
                    continue;
                };
                judged += 1;
                if share < confidence - 0.02 {
                    broken.push(format!(
                        "{clock:?}, {duration} ns, {error}: kept in {share} of the campaigns"
                    ));
                }
            }
        }
    }
    (broken, judged)
}

#[track_caller]
fn keeps(planner: Planner, confidence: f64, durations: &[f64], at_least: usize) {
    let (broken, judged) = judge(planner, confidence, durations);
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(judged >= at_least, "only {judged} combinations were judged");
}

#[test]
fn single_calls_keep_their_promise() {
    keeps(single, 0.95, &DURATIONS_NS, 30);
}

#[test]
fn batches_keep_their_promise() {
    keeps(
        batch,
        0.95,
        &DURATIONS_NS,
        CLOCKS.len() * DURATIONS_NS.len() * ERRORS.len(),
    );
}

#[test]
fn edge_crossing_keeps_its_promise() {
    keeps(edge_crossing, 0.95, &DURATIONS_NS, 80);
}

#[test]
fn other_confidences_are_kept_too() {
    for confidence in [0.8, 0.99] {
        keeps(batch, confidence, &FEW_NS, 30);
    }
    keeps(edge_crossing, 0.8, &FEW_NS, 20);
}

/// The tests above can fail: a ninth of the samples, or a quarter of the batch, is not enough in
/// many places.
#[test]
fn too_few_samples_break_the_promise() {
    fn a_ninth(clock: &ClockFigures, requirement: &Requirement) -> Result<Plan, Shortfall> {
        edge_crossing(
            clock,
            &Requirement {
                error: 3.0 * requirement.error,
                ..requirement.clone()
            },
        )
    }
    fn a_quarter(clock: &ClockFigures, requirement: &Requirement) -> Result<Plan, Shortfall> {
        batch(
            clock,
            &Requirement {
                error: 4.0 * requirement.error,
                ..requirement.clone()
            },
        )
    }
    let (broken, judged) = judge(a_ninth, 0.95, &FEW_NS);
    assert!(4 * broken.len() > judged, "{} of {judged}", broken.len());
    let (broken, judged) = judge(a_quarter, 0.95, &FEW_NS);
    assert!(4 * broken.len() > judged, "{} of {judged}", broken.len());
}

/// Where many calls lie between two edges, the edges are drawn, and not each call played. Both give
/// the same.
#[test]
fn shortcut_agrees_with_full_analysis() {
    let clock = Truth {
        step_ns: 1.6e4,
        base_ns: 20.0,
        jitter_ns: 2.0,
        ordered: true,
    };
    let worlds: Vec<[f64; 2]> = (0..300)
        .map(|seed| World::new(clock, seed).both_ways(1e3, 5_000))
        .collect();
    let figures = |way: usize| {
        let values: Vec<f64> = worlds.iter().map(|both| both[way]).collect();
        (
            values.iter().sum::<f64>() / values.len() as f64,
            standard_deviation(&values).unwrap(),
        )
    };
    let ((short, short_sd), (long, long_sd)) = (figures(0), figures(1));
    assert!(
        (short / long - 1.0).abs() < 4.0 * (short_sd + long_sd) / short / 300_f64.sqrt(),
        "{short} {long}"
    );
    assert!(
        (short_sd / long_sd - 1.0).abs() < 0.25,
        "{short_sd} {long_sd}"
    );
}
