//! Promise against outcome: an operation measured by a clock and a method, beside long classic runs that tell the truth.
//!
//! Single calls are compared with calls that fences keep apart, batches with calls in a row, which overlap in the core. The two
//! take turns, as the frequency of the core wanders; each sample is compared with the runs beside it. The promise is made
//! before: by the plan, from the figures of the clock. What is added to it has nothing to do with that clock: how much the
//! operation itself varies from window to window, as a clock that is known to be good sees it.

use serde::{Deserialize, Serialize};
use timers::Deadline;

use super::instruments::pass;
use super::interference::Watch;
use super::trial::{Goal, TrialError};
use super::window::Timed;
use crate::analysis::statistics::{mean_but, median, quantile, sorted, student_quantile};
use crate::method::plan::{self, Plan};
use crate::method::{ClockFigures, Method, Requirement};
use crate::model::Nanos;

/// One promise and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rehearsed {
    /// The method.
    pub method: String,
    /// Calls between two reads, or single calls in all.
    pub calls: u64,
    /// Nanoseconds a call by the classic runs.
    pub truth_ns: f64,
    /// Nanoseconds a call by this clock and method.
    pub found_ns: f64,
    /// Found against true, as a share: how far the ratio is from 1.
    pub error: f64,
    /// What the plan promised of clock and method.
    pub clock_error: f64,
    /// What the operation itself varies by, as the clock that tells the truth sees windows as long as these.
    pub variation: f64,
    /// All that was promised.
    pub promised: f64,
}

impl Rehearsed {
    /// Whether the promise was kept.
    #[must_use]
    pub fn kept(&self) -> bool {
        self.error <= self.promised
    }
}

/// Which method to rehearse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RehearsalKind {
    /// One call between two reads.
    Single,
    /// Many.
    Batch,
    /// Single calls, averaged.
    EdgeCrossing,
}

/// Classic runs of the same operation, by a clock that is known to be good.
pub struct Truth<'a> {
    /// The operation under that clock.
    pub timed: &'a mut dyn Timed,
    /// The figures of the clock.
    pub clock: &'a ClockFigures,
}

/// Measures with the clock under rehearsal and with the one that tells the truth, in turns.
///
/// # Errors
/// Says why the method cannot be used with this clock for this operation within the limit.
pub fn rehearse(
    timed: &mut dyn Timed,
    clock: &ClockFigures,
    truth: &mut Truth,
    kind: RehearsalKind,
    goal: &Goal,
) -> Result<Rehearsed, TrialError> {
    let calls = truth.prepare(kind);
    let duration_ns = truth.ns_per_call(kind, calls).max(1e-3);
    let plan = plan(clock, goal, kind, duration_ns)?;
    let floor = floor_of(timed, clock);
    let mut pairs = Pairs::default();
    let deadline = Deadline::after(4 * goal.limit);
    while pairs.ratios.len() < goal.samples.max(3) as usize {
        if deadline.remaining().is_none() {
            return Err(TrialError::Limit {
                valid: pairs.ratios.len(),
                wanted: goal.samples,
                limit: 4 * goal.limit,
                why: "; the others were disturbed".into(),
            });
        }
        let watch = Watch::begin();
        let before = truth.ns_per_call(kind, calls);
        let found = sample(timed, clock, &plan, goal, floor, pairs.ratios.len() as u64);
        let after = truth.ns_per_call(kind, calls);
        let alike = truth.alike(&plan);
        // What takes long is disturbed now and then, and its mean bears it.
        if watch.end().is_none() || plan.campaign_ns > 5e6 {
            let beside = f64::midpoint(before, after);
            pairs.truths.push(beside);
            pairs.ratios.push(found / beside);
            pairs.short.push(alike / beside);
        }
    }
    let classic_ns = duration_ns * calls as f64;
    let true_error = (truth.clock.step_ns + 2.0 * truth.clock.cost_error_ns) / classic_ns.max(1.0);
    Ok(pairs.judged(kind, goal.confidence, &plan, plan.error + true_error))
}

/// What was found by the clock under rehearsal, each beside the truth.
#[derive(Default)]
struct Pairs {
    /// Found over true.
    ratios: Vec<f64>,
    /// Nanoseconds a call.
    truths: Vec<f64>,
    /// As the good clock sees windows as short as the plan's, over true.
    short: Vec<f64>,
}

impl Pairs {
    /// What became of the promise.
    fn judged(&self, kind: RehearsalKind, confidence: f64, plan: &Plan, clock_error: f64) -> Rehearsed {
        let Self { ratios, truths, short } = self;
        let count = ratios.len() as f64;
        let quantile = student_quantile(confidence, ratios.len() - 1);
        // Of single calls one is looked at, the first; of the others the middle one, whose error is a quarter more than that of a mean.
        let (ratio, by) = match kind {
            RehearsalKind::Single => (ratios[0], (1.0 + 1.0 / count).sqrt()),
            _ => (median(ratios).unwrap_or(f64::NAN), 1.25 / count.sqrt()),
        };
        let variation = quantile * by * scatter(short);
        let truth_ns = median(truths).unwrap_or(f64::NAN);
        Rehearsed {
            method: plan.method.name().into(),
            calls: match plan.method {
                Method::Single => 1,
                Method::Batch { calls } => calls,
                Method::EdgeCrossing { samples, .. } => samples,
            },
            truth_ns,
            found_ns: ratio * truth_ns,
            error: (ratio - 1.0).abs(),
            clock_error,
            variation,
            promised: clock_error + variation,
        }
    }
}

/// The standard deviation of figures that are normal but for a few: from what the middle half lies between.
fn scatter(figures: &[f64]) -> f64 {
    const OF_NORMAL: f64 = 1.349;
    let sorted = sorted(figures);
    let at = |share| quantile(&sorted, share).unwrap_or(0.0);
    (at(0.75) - at(0.25)) / OF_NORMAL
}

impl Truth<'_> {
    /// As many calls as fill a quarter of a millisecond: a thousandfold of any step, and short enough not to be interrupted
    /// each time.
    fn prepare(&mut self, kind: RehearsalKind) -> u64 {
        const LONG_NS: f64 = 2.5e5;
        let mut calls = 1;
        while self.ns_per_call(kind, calls) * (calls as f64) < LONG_NS && calls < 1 << 40 {
            calls *= 2;
        }
        calls
    }

    /// A classic run: of calls in a row for batches, else of calls that fences keep apart.
    fn ns_per_call(&mut self, kind: RehearsalKind, calls: u64) -> f64 {
        let ns = match kind {
            RehearsalKind::Batch => self.timed.window(calls) - self.timed.window(0),
            RehearsalKind::Single | RehearsalKind::EdgeCrossing => self.timed.apart(calls),
        };
        ns / calls as f64
    }

    /// Nanoseconds a call by a window like those of the plan. Of single calls that are averaged the mean of as many.
    fn alike(&mut self, plan: &Plan) -> f64 {
        /// More of them tell no more.
        const MOST: u64 = 64;
        let (calls, times) = match plan.method {
            Method::Single => (1, 1),
            Method::Batch { calls } => (calls, 1),
            Method::EdgeCrossing { samples, .. } => (1, samples.min(MOST)),
        };
        self.timed.warm_up(calls);
        let total: f64 = (0..times).map(|_| self.timed.window(calls) - self.timed.window(0)).sum();
        total / (times * calls) as f64
    }
}

/// The plan of that method that keeps the error, or what the limit allows.
fn plan(
    clock: &ClockFigures,
    goal: &Goal,
    kind: RehearsalKind,
    duration_ns: f64,
) -> Result<Plan, TrialError> {
    let refused = |why: String| TrialError::Clock(why);
    let requirement = Requirement::new(Nanos(duration_ns), goal.error, goal.confidence)
        .map_err(|error| refused(error.to_string()))?;
    let planned = match kind {
        RehearsalKind::Single => plan::single(clock, &requirement),
        RehearsalKind::Batch => plan::batch(clock, &requirement),
        RehearsalKind::EdgeCrossing => plan::edge_crossing(clock, &requirement),
    };
    let limit_ns = goal.limit.as_nanos() as f64;
    let share_ns = if kind == RehearsalKind::EdgeCrossing {
        limit_ns
    } else {
        limit_ns / f64::from(goal.samples.max(1))
    };
    match planned {
        Ok(plan) if plan.campaign_ns <= share_ns => Ok(plan),
        Ok(plan) => plan::within(clock, &requirement, plan.method, share_ns).ok_or_else(|| {
            refused(format!(
                "it would take {}",
                crate::text::numbers::time(Some(plan.campaign_ns * limit_ns / share_ns))
            ))
        }),
        Err(shortfall) => Err(refused(shortfall.reason)),
    }
}

/// What an empty interval shows: measured where the steps are fine enough for that.
fn floor_of(timed: &mut dyn Timed, clock: &ClockFigures) -> f64 {
    if clock.step_ns > clock.cost_ns {
        return clock.cost_ns;
    }
    let floors: Vec<f64> = (0..501).map(|_| timed.window(0)).collect();
    mean_but(&floors, 0.02).unwrap_or(clock.cost_ns)
}

/// One sample by the plan: nanoseconds a call.
fn sample(
    timed: &mut dyn Timed,
    clock: &ClockFigures,
    plan: &Plan,
    goal: &Goal,
    floor: f64,
    turn: u64,
) -> f64 {
    match plan.method {
        Method::Single => {
            timed.warm_up(0);
            timed.window(1) - floor
        }
        Method::Batch { calls } => {
            timed.warm_up(calls);
            (timed.window(calls) - floor) / calls as f64
        }
        Method::EdgeCrossing { samples, floor_samples, .. } => {
            let parts = u64::from(goal.samples.max(3));
            let wait = (plan.campaign_ns / (samples + floor_samples) as f64).min(clock.step_ns).max(1.0);
            let mut state = 2 * turn + 1;
            let mut mean_of = |count: u64, calls: u64| {
                let count = count.div_ceil(parts);
                let total: f64 = (0..count)
                    .map(|_| {
                        state = state.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(0x9e37_79b9_7f4a_7c15);
                        pass((state >> 32) as f64 / 2_f64.powi(32) * wait);
                        timed.window(calls)
                    })
                    .sum();
                total / count as f64
            };
            mean_of(samples, 1) - mean_of(floor_samples, 0)
        }
    }
}
