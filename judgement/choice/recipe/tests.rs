//! Tests the plans for clocks of several resolutions and costs.

use super::super::clock_figures::tests::clock;
use super::*;
use estimators::model::Nanos;

fn requirement(duration_ns: f64, error: f64) -> Requirement {
    Requirement::new(Nanos(duration_ns), error)
}

/// The mean of calls that can be repeated, each by itself.
fn plan_singly(clock: &ClockFigures, requirement: &Requirement) -> Recipe {
    plan_mean(clock, requirement, f64::INFINITY)
}

#[test]
fn long_call_needs_no_batch() {
    let fine = clock("monotonic", 10.0, 22.0);
    assert_eq!(
        plan_fastest(&fine, &requirement(1e5, 0.01)).method,
        RecipeMethod::Single
    );
    let RecipeMethod::Batch { calls } = plan_fastest(&fine, &requirement(250.0, 0.01)).method
    else {
        panic!()
    };
    // Step 10 ns, variation 10 ns, uncertainty of the cost 0.44 ns, pipeline 50 ns: the sum of
    // 70.44 ns is 0.95 % of 33.0 calls of 225 ns.
    assert_eq!(calls, 33);
}

#[test]
fn budgets_add_up_to_error() {
    for (step, cost) in [(10.0, 9.0), (1e3, 22.0), (4e6, 4.5), (1e7, 550.0)] {
        let clock = clock("monotonic", step, cost);
        for duration in [5.0, 250.0, 1e4, 1e7] {
            for (error, by_code) in [(0.01, false), (0.05, false), (0.01, true), (0.05, true)] {
                let requirement = Requirement {
                    by_code,
                    ..requirement(duration, error)
                };
                for plan in [
                    plan_single(&clock, &requirement),
                    plan_batch(&clock, &requirement),
                    plan_singly(&clock, &requirement),
                ] {
                    if !plan.suffices {
                        continue;
                    }
                    assert!(plan.error <= error * (1.0 + 1e-6), "{plan:?}");
                    let Budget {
                        quantisation,
                        invocation_cost,
                        drift,
                        pipeline,
                        frame,
                    } = plan.budget;
                    let sum = quantisation + invocation_cost + drift + pipeline + frame;
                    assert!((sum - plan.error).abs() < 1e-12, "{plan:?}");
                    let is_code = by_code && !matches!(plan.method, RecipeMethod::Mean { .. });
                    assert_eq!(frame > 0.0, is_code, "{plan:?}");
                    assert!(
                        quantisation > 0.0 && invocation_cost >= 0.0 && plan.campaign_ns > duration
                    );
                }
                // The turns of a loop around calls of 5 ns take more than 1 % of them.
                let suffices = plan_batch(&clock, &requirement).suffices;
                assert_eq!(suffices, !(by_code && duration < 10.0 && error < 0.02));
            }
        }
    }
}

#[test]
fn code_pays_for_its_frame() {
    let fine = clock("monotonic", 10.0, 22.0);
    let by_code = |duration, error| Requirement {
        by_code: true,
        ..requirement(duration, error)
    };
    // The sum of `long_call_needs_no_batch`, 70.44 ns, is 0.928 % of 33.7 calls of 225 ns; a turn
    // of 0.05 ns takes the rest of 0.95 %.
    let plan = plan_fastest(&fine, &by_code(250.0, 0.01));
    assert_eq!(plan.method, RecipeMethod::Batch { calls: 34 });
    let nearest = plan_fastest(&fine, &by_code(5.0, 0.01));
    let cause = nearest.largest_cause();
    assert!(
        !nearest.suffices && cause.contains("loop around the calls"),
        "{cause}"
    );
}

#[test]
fn edge_counts_are_binomial() {
    // 0.009 ms under a clock of 1 ms: nine calls in a thousand cross an edge. An error of 4.84 % (5
    // % less drift and pipeline) at 95 % needs about 1 640 × 0.991 edges, hence a bit more than 180
    // 000 calls.
    let coarse = clock("monotonic-coarse", 1e6, 0.1);
    let RecipeMethod::Mean { requests } = plan_singly(&coarse, &requirement(1e4, 0.05)).method
    else {
        panic!()
    };
    assert!((179_000..184_000).contains(&requests), "{requests}");
}

#[test]
fn rate_excludes_batches() {
    let coarse = clock("monotonic-coarse", 4e6, 4.0);
    let requirement = Requirement {
        rate_hz: Some(1e4),
        ..requirement(1e4, 0.05)
    };
    let plan = plan_fastest(&coarse, &requirement);
    assert!(matches!(plan.method, RecipeMethod::Mean { .. }), "{plan:?}");
    assert!(
        plan.single_error.is_some_and(|error| error > 1.0),
        "{plan:?}"
    );
    // Two reads of 4 ns, each with a fence of up to 20 ns.
    assert!((plan.overhead - 4.8e-4).abs() < 1e-9, "{plan:?}");
}

/// Two reads suffice where the error allows; otherwise a mean of at least 30 requests does, until the
/// effect of the reads alone, 10 ns, is too large.
#[test]
fn rate_plans_single_requests_or_mean() {
    let fine = clock("monotonic", 1.0, 22.0);
    for (duration_ns, error, name) in [
        (2e3, 0.02, "single"),
        (1.3e3, 0.01, "mean"),
        (1e5, 0.01, "single"),
        (1e3, 0.01, "none"),
    ] {
        let requirement = Requirement {
            rate_hz: Some(1e6),
            ..requirement(duration_ns, error)
        };
        let plan = plan_fastest(&fine, &requirement);
        let found = match plan.method {
            _ if !plan.suffices => "none",
            RecipeMethod::Single => "single",
            _ => "mean",
        };
        assert_eq!(found, name, "{duration_ns} ns, {error}: {plan:?}");
        assert_eq!(plan.suffices, plan.error <= error, "{plan:?}");
        assert!((plan.overhead - 0.044).abs() < 1e-9);
    }
}

#[test]
fn unfenced_read_pays_for_fence() {
    let [fenced, bare] = ["rdtscp", "rdtsc"].map(|id| clock(id, 1.0, 10.0));
    for planner in [plan_single, plan_batch] {
        let [fenced, bare] = [&fenced, &bare].map(|clock| planner(clock, &requirement(1e5, 0.05)));
        let more = bare.budget.invocation_cost - fenced.budget.invocation_cost;
        assert!((more - 20.0 / 0.9e5).abs() < 1e-9, "{bare:?}");
        assert!(bare.overhead > fenced.overhead && bare.campaign_ns > fenced.campaign_ns);
    }
}

#[test]
fn single_call_may_be_too_short() {
    let fine = clock("monotonic", 1.0, 22.0);
    // The pipeline effect of 10 ns is 11 % of 0.9 × 100 ns.
    for planner in [plan_single, plan_singly] {
        let nearest = planner(&fine, &requirement(100.0, 0.05));
        assert!(!nearest.suffices);
        assert!(
            (nearest.budget.pipeline - 1.0 / 9.0).abs() < 1e-9,
            "{nearest:?}"
        );
    }
    let cause = plan_singly(&fine, &requirement(100.0, 0.05)).largest_cause();
    assert!(cause.contains("effect of the reads on the core"), "{cause}");
    let plan = plan_fastest(&fine, &requirement(100.0, 0.05));
    assert!(
        matches!(plan.method, RecipeMethod::Batch { .. }),
        "{plan:?}"
    );
}
