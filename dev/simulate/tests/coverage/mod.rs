//! Tests whether plans keep their promised errors: a thousand campaigns in virtual time for each
//! duration, clock, error and method. The share of campaigns within the error has to reach the
//! confidence, less two points for chance.

mod world;

use estimators::model::Nanos;
use estimators::statistics::CONFIDENCE;
use judgement::choice::recipe::{LONGEST_CAMPAIGN_NS, plan_batch, plan_mean, plan_single};
use judgement::choice::{ClockFigures, Recipe, Requirement};
use rand::RngExt;
use world::{Truth, World};

const CAMPAIGNS: u64 = 1_000;
const DURATIONS_NS: [f64; 9] = [5.0, 25.0, 250.0, 2.5e3, 1e4, 1e5, 5e5, 1e6, 1e7];
/// Some of the durations, for tests that do not compare methods.
const SELECTED_DURATIONS_NS: [f64; 3] = [5.0, 1e4, 1e6];
/// The relative errors that plans aim for.
const TARGET_ERRORS: [f64; 2] = [0.01, 0.05];

/// Clocks with steps of 1 and 10 ns, 1 µs, 4 ms and 10 ms, and with the costs of a register, a vDSO
/// and a system call. Two of them need a fence.
const CLOCKS: [Truth; 7] = [
    Truth::new(1.0, [9.0, 0.4], false),
    Truth::new(10.0, [9.0, 0.4], true),
    Truth::new(10.0, [22.0, 2.0], true),
    Truth::new(10.0, [500.0, 30.0], true),
    Truth::new(1e3, [22.0, 2.0], true),
    Truth::new(4e6, [4.3, 0.3], false),
    Truth::new(1e7, [550.0, 40.0], true),
];

type Planner = fn(&ClockFigures, &Requirement) -> Recipe;

/// Returns the share of campaigns whose error is within the required one; `None` if the planner
/// makes no plan that can be simulated.
fn share_within_error(
    clock: Truth,
    requirement: &Requirement,
    planner: Planner,
    seed: u64,
) -> Option<f64> {
    let make_plan = |world: &mut World| {
        let figures = world.figures();
        Some(planner(&figures, requirement))
            .filter(|plan| {
                plan.suffices
                    && plan.campaign_ns < LONGEST_CAMPAIGN_NS
                    && World::can_simulate(clock, plan, requirement)
            })
            .map(|plan| (figures, plan))
    };
    make_plan(&mut World::new(clock, seed))?;
    let kept = (0..CAMPAIGNS)
        .filter(|number| {
            let mut world = World::new(clock, seed.wrapping_mul(1_000_003).wrapping_add(*number));
            let Some((figures, plan)) = make_plan(&mut world) else {
                return false;
            };
            // The user knows the duration roughly.
            let duration = requirement.duration_ns * world.random().random_range(0.9..1.1);
            let requirement = &Requirement {
                duration_ns: duration,
                ..requirement.clone()
            };
            world.relative_error(&figures, &plan, requirement).abs() <= requirement.error
        })
        .count();
    Some(kept as f64 / CAMPAIGNS as f64)
}

/// Runs all combinations of clock, duration and error with one method. Returns a description of
/// each broken promise, and the number of combinations.
fn judge_combinations(
    planner: Planner,
    rate_hz: Option<f64>,
    durations: &[f64],
) -> (Vec<String>, usize) {
    let (mut broken, mut judged) = (Vec::new(), 0);
    for (at, clock) in CLOCKS.into_iter().enumerate() {
        for &duration in durations {
            for error in TARGET_ERRORS {
                let requirement = Requirement {
                    rate_hz,
                    ..Requirement::new(Nanos(duration), error)
                };
                let Some(share) = share_within_error(clock, &requirement, planner, at as u64 + 1)
                else {
                    continue;
                };
                judged += 1;
                if share < CONFIDENCE - 0.02 {
                    broken.push(format!(
                        "{clock:?}, {duration} ns, error {error}: kept in a share of {share} of the campaigns"
                    ));
                }
            }
        }
    }
    (broken, judged)
}

#[track_caller]
fn assert_promises_kept(
    planner: Planner,
    rate_hz: Option<f64>,
    durations: &[f64],
    min_judged: usize,
) {
    let (broken, judged) = judge_combinations(planner, rate_hz, durations);
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(
        judged >= min_judged,
        "only {judged} combinations were judged"
    );
}

#[test]
fn single_calls_keep_their_promise() {
    assert_promises_kept(plan_single, None, &DURATIONS_NS, 30);
}

#[test]
fn batches_keep_their_promise() {
    assert_promises_kept(
        plan_batch,
        None,
        &DURATIONS_NS,
        CLOCKS.len() * DURATIONS_NS.len() * TARGET_ERRORS.len(),
    );
}

fn plan_mean_at_will(clock: &ClockFigures, requirement: &Requirement) -> Recipe {
    plan_mean(clock, requirement, f64::INFINITY)
}

#[test]
fn edge_crossing_keeps_its_promise() {
    assert_promises_kept(plan_mean_at_will, None, &DURATIONS_NS, 80);
}

#[test]
fn means_of_requests_keep_their_promise() {
    assert_promises_kept(plan_mean_at_will, Some(1e6), &SELECTED_DURATIONS_NS, 12);
}

/// The tests above can fail: with a ninth of the samples, or a quarter of the batch, more than a
/// quarter of the promises are broken.
#[test]
fn too_few_samples_break_the_promise() {
    fn aiming(times: f64, requirement: &Requirement) -> Requirement {
        Requirement {
            error: times * requirement.error,
            ..requirement.clone()
        }
    }
    let planners: [Planner; 2] = [
        |clock, requirement| plan_mean_at_will(clock, &aiming(3.0, requirement)),
        |clock, requirement| plan_batch(clock, &aiming(4.0, requirement)),
    ];
    for planner in planners {
        let (broken, judged) = judge_combinations(planner, None, &SELECTED_DURATIONS_NS);
        assert!(4 * broken.len() > judged, "{} of {judged}", broken.len());
    }
}
