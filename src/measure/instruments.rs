//! Instruments: methods of measuring an operation with a clock whose figures are known.

use clap::ValueEnum;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};

use super::interference::WindowWatch;
use super::summary::{CallSample, mean_valid_ns};
use super::trial::{Goal, Trial, TrialError, TrialResult};
use super::window::TimedOperation;
use estimators::model::Nanos;
use judgement::choice::clock_figures::DRIFT;
use judgement::choice::recipe::plan_mean;
use judgement::choice::{Budget, ClockFigures, Recipe, RecipeMethod, Requirement};
use reporting::text::numbers::time;

/// The method by which an operation is measured.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Instrument {
    /// Batches that double until they are long enough for the clock (Sestoft)
    #[default]
    Adaptive,
    /// Number of calls in a given time (Kabutz)
    Throughput,
    /// Mean of single calls that are shorter than a step of the clock (edge-crossing)
    Discrete,
    /// Batches of varied length, weighted by their number of calls (Caliper)
    Micro,
    /// Single calls, each a sample (Caliper)
    Macro,
}

/// Measures an operation with an instrument. If the operation needs a set-up before each call,
/// `Adaptive` and `Micro` cannot form batches and measure it as `Discrete` does.
///
/// # Errors
/// When the time limit passes, the clock does not move during the operation, or the clock is too
/// coarse for the goal.
pub fn measure(
    instrument: Instrument,
    timed: &mut dyn TimedOperation,
    clock: &ClockFigures,
    goal: &Goal,
) -> TrialResult {
    let mut trial = Trial::new(timed, clock, goal)?;
    let measured = match instrument {
        Instrument::Macro => measure_single_calls(&mut trial),
        Instrument::Throughput => measure_throughput(&mut trial),
        Instrument::Discrete => measure_edge_crossing(&mut trial),
        _ if trial.timed.needs_set_up() => measure_edge_crossing(&mut trial),
        Instrument::Micro => measure_varied_batches(&mut trial),
        Instrument::Adaptive => measure_adaptive_batches(&mut trial),
    };
    match timers::failure(&clock.id) {
        Some(why) => Err(TrialError(why.to_string())),
        None => measured,
    }
}

/// Measures with adaptive batches (Sestoft). The number of calls between two reads doubles until a
/// batch is long enough for the error budget of the clock; then samples are taken.
fn measure_adaptive_batches(trial: &mut Trial) -> TrialResult {
    let target_ns = trial.shortest_ns();
    let (mut calls, _) = trial.calibrate(target_ns)?;
    loop {
        let samples = trial.collect_samples(|trial| trial.take_sample(calls))?;
        // The calls may take less time now than during the calibration, so that the windows are too
        // short.
        let window_ns = mean_valid_ns(&samples) * calls as f64;
        if window_ns >= 0.9 * target_ns || trial.is_over() {
            let budget = trial.budget(window_ns.max(f64::MIN_POSITIVE), calls == 1);
            return trial.summarise(calls, samples, &budget);
        }
        calls = (calls as f64 * (1.1 * target_ns / window_ns.max(1e-3)).clamp(1.1, 1e6)) as u64 + 1;
    }
}

/// Measures how many calls fit into a given time, the `span` of the goal (Kabutz). Each run makes
/// the number of calls that should fill the span. A run is repeated if its length differs from the
/// span by more than the sum of 2 %, one step of the clock and one call. Only three runs are
/// repeated; later runs count whatever their length is, and their variation shows in the standard
/// deviation.
fn measure_throughput(trial: &mut Trial) -> TrialResult {
    /// Largest number of runs that are repeated because of their length.
    const MAX_REPEATS: u32 = 3;
    /// Largest difference between the length of a run and the span, relative to the span.
    const MAX_LENGTH_ERROR: f64 = 0.02;
    let span_ns = trial.goal.span.as_nanos() as f64;
    if trial.timed.needs_set_up() {
        return Err(TrialError(
            "the operation needs a set-up before each call, so its throughput cannot be measured; use another instrument"
                .into(),
        ));
    }
    let budget = trial.budget(span_ns, false);
    let step_ns = trial.clock.step_ns;
    if budget.total() > trial.goal.error {
        let [step, run, min_run] = [step_ns, span_ns, trial.shortest_ns()].map(|ns| time(Some(ns)));
        return Err(TrialError(format!(
            "the clock moves in steps of {step}, so runs of {run} are too short for it; give --time {min_run} or more"
        )));
    }
    let (calls, call_ns) = trial.calibrate((span_ns / 4.0).max(step_ns))?;
    let mut calls = (span_ns / call_ns).max(calls as f64).max(1.0) as u64;
    let tolerance_ns = MAX_LENGTH_ERROR * span_ns + step_ns + call_ns;
    let mut missed = 0;
    let samples = trial.collect_samples(|trial| {
        let mut sample = trial.take_sample(calls);
        let run_ns = sample.ns_per_call * sample.weight as f64;
        if (run_ns - span_ns).abs() > tolerance_ns && sample.disturbed.is_none() {
            missed += 1;
            // The duration of a call has changed, so the next run gets another number of calls.
            if sample.ns_per_call > 0.0 {
                calls = (span_ns / sample.ns_per_call).max(1.0) as u64;
            }
            // The number of repeated runs is limited because the loop might not end otherwise.
            if missed <= MAX_REPEATS {
                sample.disturbed = Some(format!("the run took {}", time(Some(run_ns))));
            }
        }
        sample
    })?;
    trial.summarise(calls, samples, &budget)
}

/// Measures operations that are shorter than a step of the clock (edge-crossing). A single call
/// shows 0 or one step, but the mean of many calls shows their duration, because the probability of
/// crossing an edge of the clock is proportional to it. Subtracts the mean of empty intervals.
/// Makes as many calls as the goal needs, or as fit into the time limit; the reported error is that
/// of the calls that were made. The calls are divided into groups, each of which is a sample.
fn measure_edge_crossing(trial: &mut Trial) -> TrialResult {
    /// Length of a group, in nanoseconds, above which disturbed groups are not rejected, because
    /// every such group contains interruptions.
    /// *Judgement*: some ticks of the scheduler.
    const MAX_WATCHED_GROUP_NS: f64 = 1e7;
    let mut random = SmallRng::seed_from_u64(trial.goal.seed);
    let call_ns = estimate_call_ns(trial, &mut random)?;
    let groups = u64::from(trial.goal.samples.max(2));
    let plan = plan_single_calls(trial, call_ns)?;
    let RecipeMethod::Mean { requests } = plan.method else {
        return Err(TrialError::clock_did_not_move());
    };
    let calls_per_group = requests.div_ceil(groups);
    let watched = trial.goal.watched && plan.campaign_ns / groups as f64 <= MAX_WATCHED_GROUP_NS;
    let mut measure_group = |trial: &mut Trial| {
        // The mean of windows that contain `calls` calls each: 1 or 0.
        let mut mean_window_ns = |calls: u64| {
            trial.timed.warm_up(calls);
            let total: f64 = (0..calls_per_group)
                .map(|_| measure_window(trial, &mut random, calls))
                .sum();
            total / calls_per_group as f64
        };
        let watch = watched.then(WindowWatch::begin);
        CallSample {
            weight: calls_per_group,
            ns_per_call: mean_window_ns(1) - mean_window_ns(0),
            disturbed: watch.and_then(WindowWatch::end),
        }
    };
    let samples = if watched {
        trial.collect_samples(measure_group)?
    } else {
        (0..groups).map(|_| measure_group(trial)).collect()
    };
    // The plan states its error relative to `planned_ns`; the result needs it relative to the mean.
    let found_ns = mean_valid_ns(&samples).max(f64::MIN_POSITIVE);
    let relative_to_mean = |share: f64| share * planned_ns(call_ns) / found_ns;
    let budget = Budget {
        quantisation: relative_to_mean(plan.budget.quantisation),
        invocation_cost: relative_to_mean(plan.budget.invocation_cost),
        pipeline: relative_to_mean(plan.budget.pipeline),
        drift: DRIFT,
        ..Budget::default()
    };
    trial.summarise(calls_per_group, samples, &budget)
}

/// Returns the duration of a call, in nanoseconds, that the error of a plan is relative to: 90 % of
/// `call_ns`, the duration that the plan was made for ([`Requirement::shortest_ns`]).
fn planned_ns(call_ns: f64) -> f64 {
    0.9 * call_ns
}

/// Plans how many calls, and as many empty intervals, edge-crossing needs for a call of about `call_ns`
/// nanoseconds.
fn plan_single_calls(trial: &Trial, call_ns: f64) -> Result<Recipe, TrialError> {
    /// Largest error of a result.
    /// *Chance*: that of the mean of intervals of which thirty cross an edge.
    const MAX_ROUGH_ERROR: f64 = 0.36;
    let goal = &trial.goal;
    let requirement = Requirement::new(Nanos(call_ns), goal.error)
        .checked()
        .map_err(|error| TrialError(error.to_string()))?;
    let limit_ns = goal.limit.as_nanos() as f64;
    let plan = plan_mean(trial.clock, &requirement, f64::INFINITY);
    if !plan.suffices {
        return Err(TrialError(plan.largest_cause()));
    }
    let possible = plan_mean(trial.clock, &requirement, limit_ns);
    if possible.error <= goal.error.max(MAX_ROUGH_ERROR) {
        return Ok(possible);
    }
    Err(TrialError(format!(
        "with this clock, an error of {} % needs single calls for {}, and not even a rough result is possible in {}; \
         allow more time or use another clock",
        goal.error * 100.0,
        time(Some(plan.campaign_ns)),
        time(Some(limit_ns))
    )))
}

/// Measures a window of 0 or 1 calls and returns its length in nanoseconds. Before the window,
/// computes for a random time of up to one step of the clock (at most 0.1 ms), so that windows
/// begin at random points of a step, and makes the set-up.
fn measure_window(trial: &mut Trial, random: &mut SmallRng, calls: u64) -> f64 {
    let delay_ns = random.random_range(0.0..trial.clock.step_ns.clamp(1.0, 1e5));
    std::hint::black_box(timers::run_chain(1, delay_ns as u64));
    if trial.timed.needs_set_up() {
        trial.timed.set_up();
        trial.timed.warm_up(0);
    }
    trial.timed.window(calls)
}

/// Estimates the duration of a call in nanoseconds. Doubles the number of single calls until they
/// take `MIN_STEPS` steps of the clock together.
fn estimate_call_ns(trial: &mut Trial, random: &mut SmallRng) -> Result<f64, TrialError> {
    /// Total length of the calls, in steps of the clock, at which the estimate is rarely off by a
    /// third.
    const MIN_STEPS: f64 = 32.0;
    let mut calls = 4_u32;
    loop {
        let singles = (0..calls).map(|_| measure_window(trial, random, 1) - trial.floor_ns);
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

/// Measures batches whose number of calls varies at random; each sample is weighted by its number
/// of calls (micro trials of Caliper).
fn measure_varied_batches(trial: &mut Trial) -> TrialResult {
    /// Standard deviation of the number of calls, relative to its mean.
    const LENGTH_DEVIATION: f64 = 0.2;
    // The shortest batches, half as long as the target, must still be long enough for the clock.
    let target_ns = 2.0 * trial.shortest_ns();
    let (_, mut call_ns) = trial.calibrate(target_ns)?;
    let mut random = SmallRng::seed_from_u64(trial.goal.seed);
    let mut fewest_calls = u64::MAX;
    let samples = trial.collect_samples(|trial| {
        let factor = (1.0 + LENGTH_DEVIATION * draw_gaussian(&mut random)).clamp(0.5, 2.0);
        let calls = (factor * target_ns / call_ns).ceil().max(1.0) as u64;
        let mut sample = trial.take_sample(calls);
        if sample.disturbed.is_none() && sample.ns_per_call > 0.0 {
            call_ns = f64::midpoint(call_ns, sample.ns_per_call);
            // If the operation has become faster, the batch is too short and does not count.
            let is_short = sample.ns_per_call * (calls as f64) < trial.shortest_ns();
            sample.disturbed = is_short.then(|| "the batch was too short for the clock".into());
        }
        if sample.disturbed.is_none() {
            fewest_calls = fewest_calls.min(calls);
        }
        sample
    })?;
    let budget = trial.budget(fewest_calls as f64 * call_ns, fewest_calls == 1);
    trial.summarise((target_ns / call_ns).ceil() as u64, samples, &budget)
}

/// Returns a random number with approximately the standard normal distribution: the sum of twelve
/// uniform random numbers.
fn draw_gaussian(random: &mut SmallRng) -> f64 {
    (0..12).map(|_| random.random_range(0.0..1.0)).sum::<f64>() - 6.0
}

/// Measures single calls, each after its set-up; each call is a sample (macro trials of Caliper).
fn measure_single_calls(trial: &mut Trial) -> TrialResult {
    let samples = trial.collect_samples(|trial| {
        trial.timed.set_up();
        trial.take_sample(1)
    })?;
    let call_ns = mean_valid_ns(&samples);
    let budget = trial.budget(call_ns, true);
    let error = trial.goal.error;
    if !(call_ns > 0.0 && budget.total() <= error) {
        return Err(TrialError(format!(
            "one call takes {}, which is too short to be measured alone with this clock within {} %; use the instrument micro or adaptive",
            time(Some(call_ns.max(0.0))),
            error * 100.0
        )));
    }
    trial.summarise(1, samples, &budget)
}
