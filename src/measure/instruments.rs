//! Ways to measure an operation with a clock whose figures are known. One is single calls, each a
//! sample of its own, of weight 1, after its set-up (macro trials of Caliper).

use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::interference::Watch;
use super::summary::Sample;
use super::trial::{Goal, Measured, Trial, TrialError};
use super::window::Timed;
use crate::method::clock_figures::DRIFT;
use crate::method::plan::{edge_crossing, within};
use crate::method::{Budget, ClockFigures, Method, Plan, Requirement};
use crate::model::Nanos;
use crate::statistics::{mean, normal_quantile};
use crate::text::numbers::time;

/// Adaptive batches (Sestoft): the calls between two reads double until they take as long as the
/// error budget of this very clock demands; then samples are taken. An operation that needs a
/// set-up before each call is timed call by call, in groups.
///
/// # Errors
/// When the limit passes or the clock does not see the operation.
pub fn adaptive(
    timed: &mut dyn Timed,
    clock: &ClockFigures,
    goal: &Goal,
) -> Result<Measured, TrialError> {
    let mut trial = Trial::new(timed, clock, goal)?;
    if trial.timed.needs_set_up() {
        return one_by_one(&mut trial);
    }
    let target_ns = trial.shortest_ns();
    let (mut calls, _) = trial.calibrate(target_ns)?;
    loop {
        let samples = trial.collect(|trial| trial.take(calls))?;
        // Not what it seemed to take at first, but what it took.
        let window_ns = valid_mean(&samples) * calls as f64;
        if window_ns >= 0.9 * target_ns || trial.is_over() {
            let budget = trial.budget(window_ns.max(f64::MIN_POSITIVE), calls == 1);
            return trial.sum_up(calls, samples, &budget);
        }
        calls = (calls as f64 * (1.1 * target_ns / window_ns.max(1e-3)).clamp(1.1, 1e6)) as u64 + 1;
    }
}

/// The mean of the samples that count, in nanoseconds a call.
fn valid_mean(samples: &[Sample]) -> f64 {
    let valid: Vec<f64> = samples
        .iter()
        .filter(|sample| sample.disturbed.is_none())
        .map(|sample| sample.ns_per_call)
        .collect();
    mean(&valid).unwrap_or(0.0)
}

/// Groups of single calls, each after its set-up; what an empty interval shows is taken off.
fn one_by_one(trial: &mut Trial) -> Result<Measured, TrialError> {
    let mut random = StdRng::seed_from_u64(trial.goal.seed);
    let mut single = |trial: &mut Trial| {
        trial.timed.set_up();
        // So that calls do not keep in step with the clock.
        pass(random.random_range(0.0..trial.clock.step_ns.clamp(1.0, 1e5)));
        trial.timed.warm_up(0);
        trial.timed.window(1) - trial.floor_ns
    };
    let one_ns = pilot(trial, &mut single)?;
    // The mean of n calls is off by what one is, by the root of n, and by what the floor is.
    let z = normal_quantile(trial.goal.confidence);
    let scatter_ns = trial.clock.step_ns.hypot(trial.floor_error_ns) / 2.0;
    let needed = (z * scatter_ns / (one_ns * (trial.goal.error - DRIFT))).powi(2);
    let affordable = trial.goal.limit.as_nanos() as f64 / 4.0 / (one_ns + trial.clock.cost_ns);
    let each = f64::from(trial.goal.samples.max(1));
    // What the limit does not allow is told by the error that is promised.
    let group = (needed.min(affordable) / each).ceil().clamp(1.0, 1e9) as u64;
    let samples = trial.collect(|trial| {
        let watch = trial.watch();
        let total: f64 = (0..group).map(|_| single(trial)).sum();
        Sample {
            weight: group,
            ns_per_call: total / group as f64,
            disturbed: watch.and_then(Watch::end),
        }
    })?;
    let n = (group as f64 * samples.len() as f64).sqrt();
    let one_ns = valid_mean(&samples);
    if one_ns <= 0.0 {
        return Err(TrialError::Unseen);
    }
    let share = |ns: f64| z * ns / 2.0 / n / one_ns;
    let budget = Budget {
        quantisation: share(trial.clock.step_ns),
        invocation_cost: share(trial.floor_error_ns) + trial.clock.cost_error_ns / one_ns,
        drift: DRIFT,
        pipeline: 0.0,
    };
    trial.sum_up(group, samples, &budget)
}

/// Roughly what a call takes: of twice as many calls each time, until the clock saw several steps
/// of them.
fn pilot(trial: &mut Trial, single: &mut impl FnMut(&mut Trial) -> f64) -> Result<f64, TrialError> {
    /// Steps that make a rough figure.
    const STEPS: f64 = 8.0;
    let mut calls = 4_u32;
    loop {
        let total: f64 = (0..calls).map(|_| single(trial)).sum();
        if total >= STEPS * trial.clock.step_ns {
            return Ok(total / f64::from(calls));
        }
        if trial.is_over() || calls > 1 << 24 {
            return Err(TrialError::Unseen);
        }
        calls *= 2;
    }
}

/// How often in a given time (Kabutz): as many calls as should fill `span`, timed as one; counts a
/// second. A run whose length misses the span by more than 2 % and a step is repeated up to three
/// times; from then on misses count, and the deviation tells of them.
///
/// # Errors
/// When the clock is too coarse for the span.
pub fn throughput(
    timed: &mut dyn Timed,
    clock: &ClockFigures,
    goal: &Goal,
    span: Duration,
) -> Result<Measured, TrialError> {
    const ATTEMPTS: u32 = 3;
    const MISS: f64 = 0.02;
    let span_ns = span.as_nanos() as f64;
    let mut trial = Trial::new(timed, clock, goal)?;
    if trial.timed.needs_set_up() {
        return Err(TrialError::Clock(
            "the operation needs a set-up before each call: it cannot be repeated for a given time"
                .into(),
        ));
    }
    let budget = trial.budget(span_ns, false);
    if budget.total() > goal.error {
        let [step, run, least] =
            [clock.step_ns, span_ns, trial.shortest_ns()].map(|ns| time(Some(ns)));
        return Err(TrialError::Clock(format!(
            "the clock moves in steps of {step}: runs of {run} are too short for it; give --time {least} or more"
        )));
    }
    let (calls, one_ns) = trial.calibrate((span_ns / 4.0).max(trial.clock.step_ns))?;
    let mut calls = (span_ns / one_ns).max(calls as f64).max(1.0) as u64;
    let off_by = |sample: &Sample| (sample.ns_per_call * sample.weight as f64 - span_ns).abs();
    let near_ns = MISS * span_ns + clock.step_ns + one_ns;
    let mut missed = 0;
    let samples = trial.collect(|trial| {
        let mut sample = trial.take(calls);
        if off_by(&sample) > near_ns && sample.disturbed.is_none() {
            missed += 1;
            let took = time(Some(sample.ns_per_call * sample.weight as f64));
            // The operation was faster or slower than before: the next run is made to fit it.
            if sample.ns_per_call > 0.0 {
                calls = (span_ns / sample.ns_per_call).max(1.0) as u64;
            }
            // What always misses is told by the deviation rather than repeated for ever.
            if missed <= ATTEMPTS {
                sample.disturbed = Some(format!("the run took {took}"));
            }
        }
        sample
    })?;
    trial.sum_up(calls, samples, &budget)
}

/// Single calls under the clock, averaged, in groups (edge-crossing), of an operation that takes
/// roughly `duration_ns`. Takes as many as the error needs, or as the limit allows; the error that
/// is promised is that of what was taken.
///
/// # Errors
/// When the clock is no good for it at all.
pub fn discrete(
    timed: &mut dyn Timed,
    clock: &ClockFigures,
    goal: &Goal,
    duration_ns: f64,
) -> Result<(Plan, Measured), TrialError> {
    let plan = discrete_plan(clock, goal, duration_ns)?;
    let Method::EdgeCrossing {
        samples,
        floor_samples,
        ..
    } = plan.method
    else {
        return Err(TrialError::Unseen);
    };
    let trial = Trial::new(timed, clock, goal)?;
    let mut random = StdRng::seed_from_u64(goal.seed);
    let wait = (duration_ns + 2.0 * clock.cost_ns)
        .min(clock.step_ns)
        .max(1.0);
    let groups = u64::from(goal.samples.max(2));
    let mut mean_of = |count: u64, calls: u64| {
        let mut total = 0.0;
        trial.timed.warm_up(calls);
        for _ in 0..count {
            pass(random.random_range(0.0..wait));
            if calls > 0 && trial.timed.needs_set_up() {
                trial.timed.set_up();
            }
            total += trial.timed.window(calls);
        }
        total / count as f64
    };
    let [each, floor_each] = [samples, floor_samples].map(|count| count.div_ceil(groups));
    let collected = (0..groups)
        .map(|_| {
            let ns_per_call = mean_of(each, 1) - mean_of(floor_each, 0);
            Sample {
                weight: each,
                ns_per_call,
                disturbed: None,
            }
        })
        .collect();
    let measured = trial.sum_up(each, collected, &plan.budget)?;
    Ok((plan, measured))
}

fn discrete_plan(clock: &ClockFigures, goal: &Goal, duration_ns: f64) -> Result<Plan, TrialError> {
    let requirement = Requirement::new(Nanos(duration_ns), goal.error, goal.confidence)
        .map_err(|error| TrialError::Clock(error.to_string()))?;
    let limit_ns = goal.limit.as_nanos() as f64;
    match edge_crossing(clock, &requirement) {
        Ok(plan) if plan.campaign_ns <= limit_ns => Ok(plan),
        Ok(plan) => within(clock, &requirement, plan.method, limit_ns).ok_or_else(|| {
            TrialError::Clock(format!(
                "edge-crossing under this clock takes {} for {} %, and not even a rough figure comes out of {}",
                time(Some(plan.campaign_ns)),
                goal.error * 100.0,
                time(Some(limit_ns))
            ))
        }),
        Err(shortfall) => Err(TrialError::Clock(shortfall.reason)),
    }
}

/// Lets roughly that many nanoseconds pass, so that samples do not keep in step with the clock.
fn pass(ns: f64) {
    std::hint::black_box(timers::links(1, ns as u64));
}

/// A micro trial (Caliper): every sample aims at the same length with as many calls as should fill
/// it, varied at random by a fifth; disturbed samples do not count; the estimate is refined by
/// each.
///
/// # Errors
/// When the limit passes before enough samples are valid.
pub fn micro(
    timed: &mut dyn Timed,
    clock: &ClockFigures,
    goal: &Goal,
) -> Result<Measured, TrialError> {
    const VARIED: f64 = 0.2;
    let mut trial = Trial::new(timed, clock, goal)?;
    if trial.timed.needs_set_up() {
        return one_by_one(&mut trial);
    }
    // The shortest of the varied intervals has to be long enough, too.
    let target_ns = 2.0 * trial.shortest_ns();
    let (_, mut one_ns) = trial.calibrate(target_ns)?;
    let mut random = StdRng::seed_from_u64(goal.seed);
    let mut fewest = u64::MAX;
    let samples = trial.collect(|trial| {
        let varied = (1.0 + VARIED * gaussian(&mut random)).clamp(0.5, 2.0);
        let calls = (varied * target_ns / one_ns).ceil().max(1.0) as u64;
        let mut sample = trial.take(calls);
        if sample.disturbed.is_none() && sample.ns_per_call > 0.0 {
            one_ns = f64::midpoint(one_ns, sample.ns_per_call);
            // The operation became faster than it seemed at first: the next one takes more calls.
            let is_short = sample.ns_per_call * (calls as f64) < trial.shortest_ns();
            sample.disturbed = is_short.then(|| "too short for the clock".into());
        }
        if sample.disturbed.is_none() {
            fewest = fewest.min(calls);
        }
        sample
    })?;
    let budget = trial.budget(fewest as f64 * one_ns, fewest == 1);
    trial.sum_up((target_ns / one_ns).ceil() as u64, samples, &budget)
}

/// Normally distributed, nearly: the sum of twelve uniform numbers.
fn gaussian(random: &mut StdRng) -> f64 {
    (0..12).map(|_| random.random_range(0.0..1.0)).sum::<f64>() - 6.0
}

/// Single calls, each a sample, as long as the caller wants another one: `wanted` is asked with how
/// many there are.
///
/// # Errors
/// When one call is too short for the clock.
pub fn single_calls(
    timed: &mut dyn Timed,
    clock: &ClockFigures,
    goal: &Goal,
    mut wanted: impl FnMut(u32) -> bool,
) -> Result<Measured, TrialError> {
    let mut trial = Trial::new(timed, clock, goal)?;
    let samples = (0..)
        .take_while(|taken| wanted(*taken))
        .map(|_| one(&mut trial))
        .collect();
    sum_up_singles(&trial, samples)
}

/// As many as have to be valid.
///
/// # Errors
/// When one call is too short for the clock, or the limit passes.
pub fn macro_trial(
    timed: &mut dyn Timed,
    clock: &ClockFigures,
    goal: &Goal,
) -> Result<Measured, TrialError> {
    let mut trial = Trial::new(timed, clock, goal)?;
    let samples = trial.collect(one)?;
    sum_up_singles(&trial, samples)
}

fn one(trial: &mut Trial) -> Sample {
    trial.timed.set_up();
    trial.take(1)
}

fn sum_up_singles(trial: &Trial, samples: Vec<Sample>) -> Result<Measured, TrialError> {
    let one_ns = valid_mean(&samples);
    let budget = trial.budget(one_ns, true);
    let error = trial.goal.error;
    if !(one_ns > 0.0 && budget.total() <= error) {
        return Err(TrialError::Clock(format!(
            "one call takes {}, too short for single measurements with this clock within {} %: use micro, or adaptive",
            time(Some(one_ns.max(0.0))),
            error * 100.0
        )));
    }
    trial.sum_up(1, samples, &budget)
}
