//! Instruments: methods of measuring an operation with a clock whose figures are known.

use clap::ValueEnum;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};

use super::interference::Watch;
use super::summary::{Measured, Sample, valid_mean};
use super::trial::{Goal, Trial, TrialError};
use super::window::Timed;
use crate::method::clock_figures::DRIFT;
use crate::method::plan::{edge_crossing, within};
use crate::method::{Budget, ClockFigures, Method, Plan, Requirement};
use crate::model::Nanos;
use crate::text::numbers::time;

/// The method by which an operation is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Instrument {
    /// Batches that double until they are long enough for the clock (Sestoft)
    #[default]
    Adaptive,
    /// How often in a given time (Kabutz)
    Throughput,
    /// Edge-crossing: single calls under a coarse clock, averaged
    Discrete,
    /// Memory that a call allocates (Caliper)
    Allocations,
    /// Weighted samples, whose length varies about the same (Caliper)
    Micro,
    /// Single calls, each a sample (Caliper)
    Macro,
}

/// Measures with an instrument. `Adaptive` and `Micro` measure an operation that needs a set-up
/// before each call like `Discrete`: call by call, in groups.
///
/// # Errors
/// When the time limit passes, the clock does not move during the operation, or the clock is too
/// coarse for the goal.
pub fn measure(
    instrument: Instrument,
    timed: &mut dyn Timed,
    clock: &ClockFigures,
    goal: &Goal,
) -> Result<Measured, TrialError> {
    let mut trial = Trial::new(timed, clock, goal)?;
    match instrument {
        Instrument::Macro => macro_trial(&mut trial),
        Instrument::Throughput => throughput(&mut trial),
        Instrument::Discrete => discrete(&mut trial),
        _ if trial.timed.needs_set_up() => discrete(&mut trial),
        Instrument::Micro => micro(&mut trial),
        Instrument::Adaptive => adaptive(&mut trial),
        Instrument::Allocations => Err(TrialError("allocations are not timed".into())),
    }
}

/// Measures with adaptive batches (Sestoft). The number of calls between two reads doubles until a
/// batch is long enough for the error budget of the clock; then samples are taken.
fn adaptive(trial: &mut Trial) -> Result<Measured, TrialError> {
    let target_ns = trial.shortest_ns();
    let (mut calls, _) = trial.calibrate(target_ns)?;
    loop {
        let samples = trial.collect(|trial| trial.take(calls))?;
        // The samples may be shorter than the batches of the calibration were.
        let window_ns = valid_mean(&samples) * calls as f64;
        if window_ns >= 0.9 * target_ns || trial.is_over() {
            let budget = trial.budget(window_ns.max(f64::MIN_POSITIVE), calls == 1);
            return trial.sum_up(calls, samples, &budget);
        }
        calls = (calls as f64 * (1.1 * target_ns / window_ns.max(1e-3)).clamp(1.1, 1e6)) as u64 + 1;
    }
}

/// Measures how many calls fit into a given time (Kabutz). Each run has the number of calls that
/// should fill the span of the goal. A run is repeated if its length differs from the span by more
/// than 2 %, one step and one call. Only three runs are repeated; later runs count whatever their
/// length is, and the deviation shows the difference.
fn throughput(trial: &mut Trial) -> Result<Measured, TrialError> {
    const MAX_REPEATS: u32 = 3;
    const MAX_MISS: f64 = 0.02;
    let span_ns = trial.goal.span.as_nanos() as f64;
    if trial.timed.needs_set_up() {
        return Err(TrialError(
            "the operation needs a set-up before each call: it cannot be repeated for a given time"
                .into(),
        ));
    }
    let budget = trial.budget(span_ns, false);
    let step_ns = trial.clock.step_ns;
    if budget.total() > trial.goal.error {
        let [step, run, least] = [step_ns, span_ns, trial.shortest_ns()].map(|ns| time(Some(ns)));
        return Err(TrialError(format!(
            "the clock moves in steps of {step}: runs of {run} are too short for it; give --time {least} or more"
        )));
    }
    let (calls, one_ns) = trial.calibrate((span_ns / 4.0).max(step_ns))?;
    let mut calls = (span_ns / one_ns).max(calls as f64).max(1.0) as u64;
    let near_ns = MAX_MISS * span_ns + step_ns + one_ns;
    let mut missed = 0;
    let samples = trial.collect(|trial| {
        let mut sample = trial.take(calls);
        let run_ns = sample.ns_per_call * sample.weight as f64;
        if (run_ns - span_ns).abs() > near_ns && sample.disturbed.is_none() {
            missed += 1;
            // The duration of the operation has changed: adapt the next run.
            if sample.ns_per_call > 0.0 {
                calls = (span_ns / sample.ns_per_call).max(1.0) as u64;
            }
            // After three misses, runs count with their actual length; otherwise the loop might not
            // end.
            if missed <= MAX_REPEATS {
                sample.disturbed = Some(format!("the run took {}", time(Some(run_ns))));
            }
        }
        sample
    })?;
    trial.sum_up(calls, samples, &budget)
}

/// Measures averaged single calls in groups (edge-crossing) and subtracts the mean of empty
/// intervals. Takes the number of samples that the error needs, or the largest number that fits
/// into the time limit. The reported error is computed for the samples that were taken.
fn discrete(trial: &mut Trial) -> Result<Measured, TrialError> {
    /// Groups that take longer, in nanoseconds, contain interruptions in any case, so they are not
    /// rejected.
    /// *Judgement*: some ticks of the scheduler.
    const MAX_QUIET_GROUP_NS: f64 = 1e7;
    let mut random = StdRng::seed_from_u64(trial.goal.seed);
    let one_ns = estimate_call_ns(trial, &mut random)?;
    let groups = u64::from(trial.goal.samples.max(2));
    let plan = discrete_plan(trial, one_ns)?;
    let Method::EdgeCrossing {
        samples,
        floor_samples,
        ..
    } = plan.method
    else {
        return Err(TrialError::clock_did_not_move());
    };
    let [each, floor_each] = [samples, floor_samples].map(|count| count.div_ceil(groups));
    let watched = trial.goal.watched && plan.campaign_ns / groups as f64 <= MAX_QUIET_GROUP_NS;
    let mut group = |trial: &mut Trial| {
        let mut mean_of = |count: u64, calls: u64| {
            trial.timed.warm_up(calls);
            let total: f64 = (0..count).map(|_| single(trial, &mut random, calls)).sum();
            total / count as f64
        };
        let watch = watched.then(Watch::begin);
        Sample {
            weight: each,
            ns_per_call: mean_of(each, 1) - mean_of(floor_each, 0),
            disturbed: watch.and_then(Watch::end),
        }
    };
    let samples = if watched {
        trial.collect(group)?
    } else {
        (0..groups).map(|_| group(trial)).collect()
    };
    // The plan states its error relative to the shortest duration that it was made for.
    let found_ns = valid_mean(&samples).max(f64::MIN_POSITIVE);
    let scaled = |share: f64| share * planned_ns(one_ns) / found_ns;
    let budget = Budget {
        quantisation: scaled(plan.budget.quantisation),
        invocation_cost: scaled(plan.budget.invocation_cost),
        pipeline: scaled(plan.budget.pipeline),
        drift: DRIFT,
    };
    trial.sum_up(each, samples, &budget)
}

/// The duration in nanoseconds for which the plan for an operation of `one_ns` nanoseconds states
/// its error.
fn planned_ns(one_ns: f64) -> f64 {
    0.9 * one_ns
}

fn discrete_plan(trial: &Trial, one_ns: f64) -> Result<Plan, TrialError> {
    let goal = &trial.goal;
    // Operations with a set-up cannot be measured in batches, so an upper bound of the step is
    // accepted for them: it overestimates the variance.
    let clock = &ClockFigures {
        resolved: trial.clock.resolved || trial.timed.needs_set_up(),
        ..trial.clock.clone()
    };
    let requirement =
        Requirement::new(Nanos(one_ns), goal.error, goal.confidence).map_err(TrialError)?;
    let limit_ns = goal.limit.as_nanos() as f64;
    let plan = edge_crossing(clock, &requirement).map_err(|why| TrialError(why.reason))?;
    if plan.campaign_ns <= limit_ns {
        return Ok(plan);
    }
    within(clock, &requirement, plan.method, limit_ns).ok_or_else(|| {
        TrialError(format!(
            "edge-crossing under this clock takes {} for {} %, and not even a rough figure comes out of {}",
            time(Some(plan.campaign_ns)),
            goal.error * 100.0,
            time(Some(limit_ns))
        ))
    })
}

/// Measures one window of 0 or 1 calls, after the set-up and a random delay of up to one step of
/// the clock (at least 1 ns, at most 0.1 ms), so that windows do not synchronise with the clock.
fn single(trial: &mut Trial, random: &mut StdRng, calls: u64) -> f64 {
    let ns = random.random_range(0.0..trial.clock.step_ns.clamp(1.0, 1e5));
    std::hint::black_box(timers::links(1, ns as u64));
    if trial.timed.needs_set_up() {
        trial.timed.set_up();
        trial.timed.warm_up(0);
    }
    trial.timed.window(calls)
}

/// Estimates the duration of a call in nanoseconds. The number of single calls doubles until they
/// add up to `MIN_STEPS` steps of the clock.
fn estimate_call_ns(trial: &mut Trial, random: &mut StdRng) -> Result<f64, TrialError> {
    /// Total length of the calls, in steps of the clock, at which the estimate is rarely off by a
    /// third.
    const MIN_STEPS: f64 = 32.0;
    let mut calls = 4_u32;
    loop {
        let singles = (0..calls).map(|_| single(trial, random, 1) - trial.floor_ns);
        let total: f64 = singles.sum();
        if total >= MIN_STEPS * trial.clock.step_ns {
            return Ok(total / f64::from(calls));
        }
        if trial.is_over() || calls > 1 << 24 {
            return Err(TrialError::clock_did_not_move());
        }
        calls *= 2;
    }
}

/// Measures batches of varied length; each sample is weighted by its number of calls (micro trials
/// of Caliper).
fn micro(trial: &mut Trial) -> Result<Measured, TrialError> {
    const LENGTH_DEVIATION: f64 = 0.2;
    // The shortest batches, half as long as the target, must still be long enough for the clock.
    let target_ns = 2.0 * trial.shortest_ns();
    let (_, mut one_ns) = trial.calibrate(target_ns)?;
    let mut random = StdRng::seed_from_u64(trial.goal.seed);
    let mut fewest = u64::MAX;
    let samples = trial.collect(|trial| {
        let varied = (1.0 + LENGTH_DEVIATION * gaussian(&mut random)).clamp(0.5, 2.0);
        let calls = (varied * target_ns / one_ns).ceil().max(1.0) as u64;
        let mut sample = trial.take(calls);
        if sample.disturbed.is_none() && sample.ns_per_call > 0.0 {
            one_ns = f64::midpoint(one_ns, sample.ns_per_call);
            // The operation has become faster, so the batch was too short: the next one gets more
            // calls.
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

/// A normal deviate, approximated by the sum of twelve uniform deviates.
fn gaussian(random: &mut StdRng) -> f64 {
    (0..12).map(|_| random.random_range(0.0..1.0)).sum::<f64>() - 6.0
}

/// Measures single calls, each after its set-up; each call is a sample (macro trials of Caliper).
fn macro_trial(trial: &mut Trial) -> Result<Measured, TrialError> {
    let samples = trial.collect(|trial| {
        trial.timed.set_up();
        trial.take(1)
    })?;
    let one_ns = valid_mean(&samples);
    let budget = trial.budget(one_ns, true);
    let error = trial.goal.error;
    if !(one_ns > 0.0 && budget.total() <= error) {
        return Err(TrialError(format!(
            "one call takes {}, too short for single measurements with this clock within {} %: use micro, or adaptive",
            time(Some(one_ns.max(0.0))),
            error * 100.0
        )));
    }
    trial.sum_up(1, samples, &budget)
}
