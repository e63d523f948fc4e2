//! The profile of a timer: all figures, from its trace.

mod contradicted;
mod looks;
mod placed;

use self::looks::{Looks, Shown};
use self::placed::placed;
use crate::analysis::adds::adds;
use crate::analysis::core_frequency::{CoreFrequency, Following};
use crate::analysis::cost::never_moved;
use crate::analysis::distribution::distribution;
use crate::analysis::interval::Regimes;
use crate::analysis::order::Backward;
use crate::analysis::rate;
use crate::analysis::resolution::agreement::{Process, agreed};
use crate::analysis::resolution::{Resolution, resolve};
use crate::analysis::shape::Kind;
use crate::analysis::singles::{View, successive};
use crate::analysis::statistics::midmean;
use crate::model::{Adds, Distribution, Estimate};
use crate::trace::{Intervals, Run, Trace};

/// What a trace says about its timer.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// The step, in ticks of the timer.
    pub resolution: Resolution,
    /// Nanoseconds in a tick.
    pub ns_per_tick: Option<f64>,
    /// What that is known to, as a share.
    pub rate_uncertainty: f64,
    /// What a call costs alone: the median of single invocations, in nanoseconds.
    pub cost: Option<Estimate>,
    /// What a call costs in a row, in nanoseconds.
    pub amortised: Option<f64>,
    /// What a read adds to the code around it.
    pub adds: Option<Adds>,
    /// Why there is no cost although calls were timed.
    pub no_cost: Option<&'static str>,
    /// Median of single invocations as the reference shows them, in nanoseconds.
    pub single_median: Option<f64>,
    /// Their 99th percentile, in nanoseconds.
    pub p99: Option<f64>,
    /// Share of single invocations within ±1 accuracy of the median, over processes.
    pub spread: Option<Estimate>,
    /// Processes that were left out because the core was shared or changed its frequency while they measured.
    pub disturbed: u32,
    /// Cost in nanoseconds and spread, one pair a process that counts.
    pub processes: Vec<(f64, f64)>,
    /// What cost and spread may be instead, as far as no number of processes tells.
    pub instead: Vec<(f64, f64)>,
    /// Both by other laws that explain what was seen as well, the farthest.
    pub laws: Vec<(f64, f64)>,
    /// The shortest interval without work, in nanoseconds, where it contradicts the cost.
    pub contradicted: Option<f64>,
    /// Two groups that the processes fell into.
    pub regimes: Option<Regimes>,
    /// Whether its cost follows the frequency of the core.
    pub following: Following,
    /// What the distribution of single invocations is.
    pub distribution: Option<Distribution>,
    /// What single invocations were taken for.
    pub kind: Kind,
    /// Steps backwards in successive readings.
    pub backward: Backward,
}

impl Profile {
    /// The resolved step, in ticks of the timer.
    #[must_use]
    pub fn step(&self) -> Option<f64> {
        match &self.resolution {
            Resolution::Resolved { step, .. } => Some(step.value),
            _ => None,
        }
    }

    /// The step in nanoseconds, or what it can be at most.
    #[must_use]
    pub fn step_at_most_ns(&self) -> Option<f64> {
        Some(self.resolution.at_most()? * self.ns_per_tick?)
    }

    /// The resolved step in nanoseconds.
    #[must_use]
    pub fn accuracy_ns(&self) -> Option<Estimate> {
        match (&self.resolution, self.ns_per_tick) {
            (Resolution::Resolved { step, .. }, Some(ns)) => {
                let accuracy = step.scaled(ns);
                let rate = accuracy.value * self.rate_uncertainty;
                Some(accuracy.widened(&[accuracy.value - rate, accuracy.value + rate]))
            }
            _ => None,
        }
    }
}

/// Computes the profile.
#[must_use]
pub fn profile(trace: &Trace) -> Profile {
    let shown = Shown::all(trace);
    let resolution = resolution_of(trace, &shown);
    let step = match &resolution {
        Resolution::Resolved { step, .. } => Some(step.value),
        _ => None,
    };
    let (ns_per_tick, rate_uncertainty) = rate::tick(trace).unzip();
    let accuracy_ns = step.zip(ns_per_tick).map(|(step, ns)| step * ns);
    let measured: Vec<Shown> = shown.into_iter().filter(|shown| !never_moved(shown.run)).collect();
    let still = measured.is_empty() && !trace.runs.is_empty();
    let shown = calm(measured);
    let looks = Looks::of(trace, &shown, View::of(trace, step));
    let calm: Vec<&Run> = shown.iter().map(|shown| shown.run).collect();
    let mut found = looks.found(accuracy_ns);
    let contradicted = midmean(&found.costs)
        .zip(ns_per_tick)
        .and_then(|(cost, ns)| contradicted::by_intervals(&calm, step, ns, cost));
    // Either may be true: what holds of both is all that is known.
    let spread = midmean(&found.spreads).unwrap_or(f64::NAN);
    found.laws.extend(contradicted.map(|cost| (cost, spread)));
    let spread = found.spread();
    let shared = trace.shared > 0 && calm.iter().filter(|run| run.is_calm()).count() < FEWEST;
    let profile = Profile {
        resolution,
        ns_per_tick,
        rate_uncertainty: rate_uncertainty.unwrap_or(0.0),
        cost: found.cost(),
        amortised: midmean(&found.column(|cost| cost.in_a_row)),
        adds: adds(trace),
        no_cost: still.then_some("batches of many calls took no time by their reference"),
        single_median: midmean(&found.column(|cost| cost.single_median)),
        p99: midmean(&found.column(|cost| cost.p99)),
        processes: found.costs.iter().copied().zip(found.spreads.iter().copied()).collect(),
        instead: found.instead.clone(),
        laws: found.laws.clone(),
        contradicted,
        regimes: found.regimes,
        following: found.following,
        distribution: distribution(&looks.shapes(looks.agreed.kind), &looks.view, &found.costs),
        kind: looks.agreed.kind,
        disturbed: (trace.runs.len() - calm.len()) as u32,
        spread,
        backward: backward(trace),
    };
    if shared { on_a_shared_core(profile) } else { profile }
}

/// In which steps the timer moves: what is known of it without its other figures.
#[must_use]
pub fn resolution(trace: &Trace) -> Resolution {
    resolution_of(trace, &Shown::all(trace))
}

fn resolution_of(trace: &Trace, shown: &[Shown]) -> Resolution {
    let tight: Vec<Vec<i64>> = trace.runs.iter().map(|run| successive(&run.readings.values)).collect();
    let context = Looks::of(trace, shown, View::by_reference(trace)).context();
    let processes: Vec<Process> = Process::all(trace).collect();
    agreed(resolve(&groups(trace), &tight, &context), &processes, context.work_unit)
}

/// What the cost may be off by beyond what processes differ by, where all of them were disturbed throughout, as a share of it.
/// *Seen*: `rdtsc` at 40 cycles instead of 45.8; both sides.
const SHARED: f64 = 0.1;

/// With intervals that reach over all processes, and on: what disturbed them all shows in none. No core of its own would have spread
/// costs farther.
fn on_a_shared_core(mut profile: Profile) -> Profile {
    let costs = || profile.processes.iter().map(|process| process.0);
    let (least, most) = (costs().fold(f64::INFINITY, f64::min), costs().fold(f64::NEG_INFINITY, f64::max));
    let unsteadiest = profile.processes.iter().map(|process| process.1).fold(1.0, f64::min);
    let (Some(cost), Some(spread)) = (&mut profile.cost, &mut profile.spread) else { return profile };
    (cost.low, cost.high) = (cost.low.min(least * (1.0 - SHARED)), cost.high.max(most * (1.0 + SHARED)));
    (spread.low, spread.high) = (spread.low.min(unsteadiest), 1.0);
    profile.laws.extend([(cost.low, spread.high), (cost.high, spread.low)]);
    profile
}

/// Cost in nanoseconds and spread as the only process of a trace has them, once it is known what single invocations are to be
/// taken for and what the timer's accuracy is: `step` in its ticks where the step is known. `None` where it was disturbed.
#[must_use]
pub fn one_more(trace: &Trace, kind: Kind, step: Option<f64>, accuracy_ns: f64) -> Option<(f64, f64)> {
    let calm = trace.runs.iter().filter(|run| run.is_calm() && !never_moved(run));
    let shown: Vec<Shown> = calm.map(|run| Shown::of(trace, run)).collect();
    let looks = Looks::of(trace, &shown, View::of(trace, step));
    let figures = looks.figures(kind, CoreFrequency(trace.core_hz), Some(accuracy_ns));
    let placed = placed(figures, trace.reference.step * trace.reference.ns_per_tick);
    Some((*placed.costs.first()?, *placed.spreads.first()?))
}

/// Fewest processes that figures are taken from, where there are as many.
/// *Default*: moves no figure; the fewest that show a scatter.
pub const FEWEST: usize = 3;

/// The processes that had a core of their own while they measured; all of them where those are too few.
fn calm(all: Vec<Shown>) -> Vec<Shown> {
    let count = all.iter().filter(|shown| shown.run.is_calm()).count();
    all.into_iter().filter(|shown| count < FEWEST || shown.run.is_calm()).collect()
}

/// All intervals, those of long observations included.
fn groups(trace: &Trace) -> Vec<Intervals> {
    trace.runs.iter().flat_map(|run| &run.intervals).chain(&trace.slow).cloned().collect()
}

fn backward(trace: &Trace) -> Backward {
    let intervals = trace.runs.iter().flat_map(|run| &run.intervals).chain(&trace.slow);
    let between_reads = Backward::among(intervals.flat_map(|group| &group.deltas).copied());
    let readings = trace.runs.iter().map(|run| &run.readings.values);
    readings.fold(between_reads, |so_far, readings| so_far.and(Backward::among(successive(readings))))
}
