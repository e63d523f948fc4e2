//! Estimates the cost of a call (its median duration) and its spread (the share of calls whose
//! duration is within one resolution of that median) from timed single calls, for each process and
//! over all processes.
//!
//! A *bracket* is two reads of the reference with nothing between them. A *shape* is the
//! distribution that was fitted to the durations of single calls.

use crate::cost::singles::MeasuringClock;
use crate::cost::{CommonFrequency, Following, ObservedCalls, ProcessCost, cost, floor, following};
use crate::distribution::cells::interruption_share;
use crate::distribution::shape::{CostShape, Fits, ModelChoice, ModelKind};
use crate::model::{Estimate, Nanos, ProcessFigures};
use crate::resolution::KnownDurations;
use crate::statistics::{Regimes, Z, find_regimes, mean_over_processes, median, midmean};
use crate::trace::{Observations, Trace};

/// A process with the distributions fitted to its single calls, which the reference timed.
pub struct FittedProcess<'a> {
    /// The observations of the process.
    pub run: &'a Observations,
    /// The fitted distributions; `None` if the process has too few calls for a fit.
    fits: Option<Fits>,
}

impl<'a> FittedProcess<'a> {
    /// Fits distributions to the single calls of a process.
    pub fn new(trace: &Trace, run: &'a Observations) -> Self {
        Self {
            run,
            fits: MeasuringClock::by_reference(trace).fits(run, trace),
        }
    }

    /// Fits distributions to the single calls of each process of a trace.
    pub fn all(trace: &'a Trace) -> Vec<Self> {
        trace.runs.iter().map(|run| Self::new(trace, run)).collect()
    }
}

/// The single calls of all processes that have fitted distributions. Each list has one element for
/// each of these processes.
pub struct SingleCalls<'a> {
    pub trace: &'a Trace,
    /// The clock that timed the calls: the reference, or the timer itself.
    pub clock: MeasuringClock,
    pub runs: Vec<&'a Observations>,
    /// The distributions fitted to the durations that `clock` measured.
    pub fits: Vec<Fits>,
    /// The kind of distribution that suits all `fits` best.
    pub model: ModelChoice,
    /// The distributions fitted to the durations that the reference measured.
    pub by_reference: Vec<Fits>,
    /// The kind of distribution that suits all of `by_reference` best.
    pub reference_kind: ModelKind,
    /// The share of calls in which a read of the reference before or after the call was
    /// interrupted, not the call itself; and the standard error of that share.
    interrupted_brackets: (f64, f64),
}

impl<'a> SingleCalls<'a> {
    /// Collects the processes with fitted distributions; `clock` timed their calls.
    pub fn new(trace: &'a Trace, processes: &[FittedProcess<'a>], clock: MeasuringClock) -> Self {
        let (mut runs, mut fits, mut by_reference) = (Vec::new(), Vec::new(), Vec::new());
        for process in processes {
            let Some(reference) = &process.fits else {
                continue;
            };
            let own = match clock.self_measured {
                true => clock.fits(process.run, trace),
                false => Some(reference.clone()),
            };
            if let Some(own) = own {
                runs.push(process.run);
                fits.push(own);
                by_reference.push(reference.clone());
            }
        }
        // Successive readings of the timer itself have no reads of the reference around them.
        let interrupted_brackets = match clock.self_measured {
            true => (0.0, 0.0),
            false => bracket_interruptions(&runs, trace.calls_reference().step),
        };
        Self {
            trace,
            clock,
            model: Fits::choose_model(&fits),
            reference_kind: Fits::choose_model(&by_reference).kind,
            runs,
            fits,
            by_reference,
            interrupted_brackets,
        }
    }

    /// Returns the distribution of this kind that was fitted to each process.
    pub fn shapes(&self, kind: ModelKind) -> Vec<CostShape> {
        self.fits.iter().map(|fits| fits.shape(kind)).collect()
    }

    /// Returns the cost of each process and, if the resolution of the timer is known, the spread.
    /// Single calls determine the cost only to within one step of the reference, because they may
    /// all begin at the same phase of that step. Within the step, the cost is the mean of the
    /// estimates from single calls and from batches of calls, weighted by the inverse of their
    /// variances.
    pub fn estimate_processes(
        &self,
        kind: ModelKind,
        core_frequency: CommonFrequency,
        resolution_ns: Option<f64>,
    ) -> ProcessEstimates<'a> {
        let reference = self.trace.calls_reference();
        let floor = floor(&self.trace.runs, reference, core_frequency);
        let (mut measured, mut details, mut spreads) = (Vec::new(), Vec::new(), Vec::new());
        for ((run, fits), by_reference) in self.runs.iter().zip(&self.fits).zip(&self.by_reference)
        {
            let (shape, by_reference) = (fits.shape(kind), by_reference.shape(self.reference_kind));
            let observed = ObservedCalls {
                run,
                reference,
                clock: &self.clock,
                shape: &shape,
                by_reference: &by_reference,
            };
            if let Some(cost) = cost(&observed, floor, core_frequency) {
                measured.push(*run);
                details.push(cost);
                let ns = self.ns_per_tick(run, core_frequency);
                let spread = |resolution| self.share_within(&shape, resolution / ns);
                spreads.extend(resolution_ns.map(spread));
            }
        }
        let step = reference.step * reference.ns_per_tick;
        let mean_over_processes = |details: &[ProcessCost], figure: fn(&ProcessCost) -> f64| {
            midmean(details.iter().map(figure)).unwrap_or(0.0)
        };
        let phase_error = PHASE_DEVIATION_STEPS * step;
        let batch_error = mean_over_processes(&details, |cost| cost.error);
        let batch_weight = if phase_error > 0.0 {
            phase_error * phase_error / (phase_error * phase_error + batch_error * batch_error)
        } else {
            0.0
        };
        let combined = |cost: &ProcessCost| {
            let difference = (cost.isolated - cost.batch_median).clamp(-step, step);
            (cost.isolated - batch_weight * difference).min(cost.median_limit)
        };
        let costs: Vec<f64> = details.iter().map(combined).collect();
        for (cost, combined) in details.iter_mut().zip(&costs) {
            for figure in [&mut cost.p90, &mut cost.p99, &mut cost.longest] {
                *figure = figure.max(*combined);
            }
        }
        ProcessEstimates {
            combination_shift_ns: mean_over_processes(&details, |cost| cost.isolated)
                - midmean(&costs).unwrap_or(0.0),
            model_half_ns: Z * mean_over_processes(&details, |cost| cost.model_error),
            runs: measured,
            details,
            costs,
            spreads,
        }
    }

    /// Returns the figures of each process, by the distribution of this kind.
    pub fn process_figures(
        &self,
        kind: ModelKind,
        resolution_ns: Option<f64>,
    ) -> Vec<ProcessFigures> {
        let [at_one_frequency, measured] = [self.trace.core_hz, None]
            .map(|hertz| self.estimate_processes(kind, CommonFrequency(hertz), resolution_ns));
        let rounded = |cost: f64| {
            let scale = 10_f64.powi(COST_DECIMALS);
            (cost * scale).round() / scale
        };
        let figures = |(at, run): (usize, &&Observations)| {
            let full_width = self.trace.full_width;
            let hertz = run.batches.core_hz;
            let amortised = measured.details[at].amortised;
            ProcessFigures {
                process: run.place.map(|place| place.process),
                cpu: run.place.and_then(|place| place.cpu),
                core: run.core(full_width),
                width: run
                    .width()
                    .zip(full_width)
                    .map(|(width, full)| rounded(width / full)),
                cost_ns: Some(rounded(at_one_frequency.costs[at])),
                p99_ns: Some(rounded(at_one_frequency.details[at].p99)),
                amortised_ns: rounded(amortised),
                amortised_cycles: hertz.map(|hertz| rounded(Nanos(amortised).cycles(hertz).0)),
                spread: at_one_frequency.spreads.get(at).copied().map(rounded),
            }
        };
        at_one_frequency
            .runs
            .iter()
            .enumerate()
            .map(figures)
            .collect()
    }

    /// Returns the nanoseconds in a tick of the clock that timed the calls of a process, scaled to
    /// the core frequency of the campaign.
    fn ns_per_tick(&self, run: &Observations, core_frequency: CommonFrequency) -> f64 {
        let hertz = if self.clock.self_measured {
            run.readings.core_hz
        } else {
            run.singles.core_hz
        };
        self.clock.ns_per_tick * core_frequency.scale(hertz)
    }

    /// Returns cost and spread over all processes, and the alternative pairs of cost and spread
    /// that the samples do not exclude.
    pub fn estimate(&self, resolution_ns: Option<f64>) -> Estimates<'a> {
        let kind = self.model.kind;
        let mut core_frequency = CommonFrequency(self.trace.core_hz);
        let mut processes = self.estimate_processes(kind, core_frequency, resolution_ns);
        let measured = (core_frequency.0)
            .map(|_| self.estimate_processes(kind, CommonFrequency(None), resolution_ns));
        let core_hz = self.runs.iter().filter_map(|run| run.batches.core_hz);
        let core_hz: Vec<f64> = core_hz.map(|hertz| hertz.0).collect();
        let (mut follows, mut unscaled) = (Following::Unknown, None);
        if let Some(other) = measured {
            follows = following(&processes.costs, &other.costs, &core_hz);
            match follows {
                Following::Device => (processes, core_frequency) = (other, CommonFrequency(None)),
                Following::Unknown => unscaled = Some(other),
                Following::Core => {}
            }
        }
        let samples = |run: &&Observations| self.clock.samples(run).len() as f64;
        let mut estimates = Estimates {
            regimes: find_regimes(&processes.costs),
            alternatives: Vec::new(),
            model_alternatives: Vec::new(),
            following: follows,
            samples: self.runs.iter().map(samples).sum(),
            processes,
        };
        let Some(best) = estimates.processes.cost_and_spread() else {
            return estimates;
        };
        let (cost, spread) = best;
        estimates.model_alternatives = match self.bounds_for_any_distribution(resolution_ns) {
            Some(ends) => ends.map(|(shift, share)| (cost + shift, share)).to_vec(),
            None => {
                let others = self.model.alternatives.iter().filter_map(|kind| {
                    self.estimate_processes(*kind, core_frequency, resolution_ns)
                        .cost_and_spread()
                });
                extreme_pairs(others.collect(), best)
            }
        };
        let (model, (_, share_error)) =
            (estimates.processes.model_half_ns, self.interrupted_brackets);
        let shapes = self.shapes(kind);
        let alternatives = &mut estimates.alternatives;
        let with_median = |median: fn(&CostShape) -> f64| {
            let shift = midmean(shapes.iter().map(|shape| median(shape) - shape.median()));
            let share = |(run, shape): (&&Observations, &CostShape)| {
                let reach = resolution_ns? / self.ns_per_tick(run, core_frequency);
                Some(self.not_interrupted(shape.share_around(median(shape), reach)))
            };
            let shares: Option<Vec<f64>> = self.runs.iter().zip(&shapes).map(share).collect();
            let shift_ns = shift.unwrap_or(0.0) * self.clock.ns_per_tick;
            (cost + shift_ns, shares.and_then(midmean).unwrap_or(spread))
        };
        alternatives.push(with_median(CostShape::median_above_gap));
        let of_equal_costs = with_median(CostShape::median_of_equal_costs);
        estimates.model_alternatives.push(of_equal_costs);
        alternatives.extend(unscaled.and_then(|unscaled| unscaled.cost_and_spread()));
        let shifts = [estimates.processes.combination_shift_ns, -model, model];
        alternatives.extend(shifts.map(|shift| (cost + shift, spread)));
        alternatives.extend([-share_error, share_error].map(|error| (cost, spread + Z * error)));
        let spread_within = |reach_ns: f64| {
            self.spread_within(kind, core_frequency, reach_ns)
                .unwrap_or(spread)
        };
        // A timer that measures its own calls may count in finer steps than the units of its
        // readings, which are then rounded. A single true cost then appears as two costs, which
        // differ by one finer step.
        if self.clock.self_measured && self.trace.declared && self.clock.step.round() == 1.0 {
            let shift = ROUNDING_ERROR_UNITS * self.clock.step * self.clock.ns_per_tick;
            alternatives.extend([-1.0, 1.0].map(|side| {
                let reach = resolution_ns.map(|ns| ns * (1.0 + side * ROUNDING_REACH_SHARE));
                (cost + side * shift, reach.map_or(spread, spread_within))
            }));
        }
        if let (ModelKind::Interpolated, Some(resolution)) = (kind, resolution_ns) {
            let uncertainty = REACH_PER_MODEL_ERROR * model;
            let ends = [resolution - uncertainty, resolution + uncertainty];
            alternatives.extend(ends.map(|reach| (cost, spread_within(reach.max(0.0)))));
        }
        if let (Some(two), Some(spread)) =
            (estimates.regimes, midmean(&estimates.processes.spreads))
        {
            alternatives.extend([(two.low, spread), (two.high, spread)]);
        }
        estimates
    }

    /// Returns two pairs: the lowest and the highest cost and spread with which some distribution
    /// explains the samples. A cost is given as its difference from the estimated cost, in
    /// nanoseconds. `None` if the resolution is unknown or the samples do not determine the bounds.
    fn bounds_for_any_distribution(&self, resolution_ns: Option<f64>) -> Option<[(f64, f64); 2]> {
        let ns = self.clock.ns_per_tick;
        let bounds = Fits::feasible_range(&self.fits, resolution_ns? / ns)?;
        let shapes = self.shapes(self.model.kind);
        let midmean_cost = midmean(shapes.iter().filter_map(CostShape::median_above_main_mean))?;
        let (interrupted, _) = self.interrupted_brackets;
        let bound = |end: usize| {
            let share = (bounds.share[end] / (1.0 - interrupted)).min(1.0);
            (
                (bounds.above_mean[end] * self.clock.step - midmean_cost) * ns,
                share,
            )
        };
        Some([bound(0), bound(1)])
    }

    /// Returns the share of calls whose duration is within `reach_ns` nanoseconds of the median,
    /// over all processes. `None` without processes.
    fn spread_within(
        &self,
        kind: ModelKind,
        core_frequency: CommonFrequency,
        reach_ns: f64,
    ) -> Option<f64> {
        let fitted = self.runs.iter().zip(self.shapes(kind));
        midmean(fitted.map(|(run, shape)| {
            self.share_within(&shape, reach_ns / self.ns_per_tick(run, core_frequency))
        }))
    }

    /// Returns the share of calls whose duration is within `reach` ticks of the median, among the
    /// calls without an interruption in the reads of the reference around them.
    fn share_within(&self, shape: &CostShape, reach: f64) -> f64 {
        self.not_interrupted(shape.share_within(reach))
    }

    fn not_interrupted(&self, share: f64) -> f64 {
        let (interrupted, _) = self.interrupted_brackets;
        (share / (1.0 - interrupted)).min(1.0)
    }

    /// Returns how the cost of a call varies, in ticks of the timer. The search for the resolution
    /// of the timer needs it, because the intervals that it examines vary by the same amount.
    pub fn resolution_context(&self) -> KnownDurations {
        let Some(ns) = self.trace.ns_per_tick else {
            return KnownDurations::default();
        };
        let (reference, kind) = (self.trace.calls_reference(), self.model.kind);
        let shapes = self.shapes(kind);
        let width = |shape: &CostShape| shape.quantile(0.5) - shape.quantile(0.02);
        let widths = shapes
            .iter()
            .map(|shape| width(shape) * self.clock.ns_per_tick);
        let costs = self
            .estimate_processes(kind, CommonFrequency(self.trace.core_hz), None)
            .details;
        let costs = costs.iter().map(|cost| cost.batch_median);
        KnownDurations {
            cost_width: median(widths).unwrap_or(0.0) / ns,
            reference_step: reference.step * reference.ns_per_tick / ns,
            cost: median(costs).unwrap_or(0.0) / ns,
            work_unit: reference.ns_per_work / ns,
            is_rounded: false,
        }
    }
}

/// The uncertainty of the largest distance from the median at which calls count for the spread, as
/// a multiple of the uncertainty of the median, if no model determines the distribution within a
/// step of the clock that timed the calls. The uncertainty of the median is about 0.4 steps if all
/// calls have the same cost, and almost 0 if costs vary smoothly. *Computed*: half a step at either
/// end of a single cost.
const REACH_PER_MODEL_ERROR: f64 = 2.0;

/// Returns the share of interrupted brackets, and its standard error. The share is counted in
/// brackets without a call, because interruptions at random times are equally frequent in the two
/// reads of the reference around a call. `step` is the step of the reference, in ticks.
fn bracket_interruptions(runs: &[&Observations], step: f64) -> (f64, f64) {
    let counted = runs.iter().filter_map(|run| {
        let (deltas, all) = (&run.bracket.deltas, run.bracket.deltas.len() as f64);
        Some((interruption_share(deltas, step)? * all, all))
    });
    let (rare, all) = counted.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let share = rare / f64::max(all, 1.0);
    (share, (share / f64::max(all, 1.0)).sqrt())
}

/// The error of a median due to rounding to whole units, in units: 1.96 standard deviations of a
/// median that is uniformly distributed between two costs that differ by a finer step, over all
/// finer steps up to a unit. *Computed*.
const ROUNDING_ERROR_UNITS: f64 = 0.2;
/// The change, due to rounding to whole units, of the largest distance from the median at which
/// calls count for the spread, as a share of that distance. *Default*: moves no figure.
const ROUNDING_REACH_SHARE: f64 = 0.25;

/// Returns two pairs of cost and spread: the smallest cost with the smallest spread, and the
/// largest cost with the largest spread, that occur in `best` and the other pairs.
fn extreme_pairs(others: Vec<(f64, f64)>, best: (f64, f64)) -> Vec<(f64, f64)> {
    let ends = |part: fn(&(f64, f64)) -> f64| {
        let order = |a: &&(f64, f64), b: &&(f64, f64)| part(a).total_cmp(&part(b));
        [others.iter().min_by(order), others.iter().max_by(order)]
            .map(|end| end.map_or(part(&best), part))
    };
    let ([least_cost, most_cost], [least_spread, most_spread]) =
        (ends(|pair| pair.0), ends(|pair| pair.1));
    vec![
        (least_cost.min(best.0), least_spread.min(best.1)),
        (most_cost.max(best.0), most_spread.max(best.1)),
    ]
}

/// The standard deviation of the error of the median of single calls that all begin at the same
/// phase of a step of the reference, in steps: that of a uniform distribution over a step.
/// *Computed*: 1/√12.
const PHASE_DEVIATION_STEPS: f64 = 0.289;

/// Cost and spread of each process. Each list has one element for each process.
pub struct ProcessEstimates<'a> {
    /// The observations of the processes.
    runs: Vec<&'a Observations>,
    /// The estimates of the cost by single calls and by batches, with their errors.
    pub details: Vec<ProcessCost>,
    /// Costs that combine the estimates from single calls and batches, in nanoseconds.
    pub costs: Vec<f64>,
    /// Shares of calls within one resolution of the median; empty if the resolution is unknown.
    pub spreads: Vec<f64>,
    /// The cost from single calls alone minus the combined cost, in nanoseconds, over all
    /// processes.
    combination_shift_ns: f64,
    /// Half the width of the 95 % interval of the cost from the uncertainty of the fitted
    /// distributions, in nanoseconds.
    model_half_ns: f64,
}

impl ProcessEstimates<'_> {
    /// Returns cost and spread over all processes; the spread is NaN if it is unknown. `None`
    /// without processes.
    fn cost_and_spread(&self) -> Option<(f64, f64)> {
        let spread = midmean(&self.spreads).unwrap_or(f64::NAN);
        Some((midmean(&self.costs)?, spread))
    }
}

/// The decimals to which costs of single processes are rounded in a report, in nanoseconds and in
/// cycles. *Judgement*: batches determine a cost to about 0.001 ns, and more digits would lengthen
/// the report.
const COST_DECIMALS: i32 = 4;

/// Cost and spread over all processes, with alternative pairs of them.
pub struct Estimates<'a> {
    /// Cost and spread of each process.
    pub processes: ProcessEstimates<'a>,
    /// Pairs that result if systematic errors are as large as they may be; the intervals include
    /// them all.
    pub alternatives: Vec<(f64, f64)>,
    /// Pairs that result from other distributions that suit the samples equally well.
    pub model_alternatives: Vec<(f64, f64)>,
    /// The two groups of costs that the processes form, if any.
    pub regimes: Option<Regimes>,
    /// Whether the cost follows the frequency of the core.
    pub following: Following,
    /// The number of single calls of all processes.
    samples: f64,
}

impl Estimates<'_> {
    /// Returns the midmean over all processes (the mean of the middle half) of the value that
    /// `part` selects.
    pub fn midmean_of(&self, part: fn(&ProcessCost) -> f64) -> Option<f64> {
        midmean(self.processes.details.iter().map(part))
    }

    /// Returns the cost with its interval, in nanoseconds.
    pub fn cost(&self) -> Option<Estimate> {
        self.interval(&self.processes.costs, |pair| pair.0)
    }

    /// Returns the spread with its interval; `None` if the resolution is unknown.
    pub fn spread(&self) -> Option<Estimate> {
        let known = self.interval(&self.processes.spreads, |pair| pair.1)?;
        Some(known.with_counting_error(self.samples).within(0.0, 1.0))
    }

    fn interval(&self, values: &[f64], part: fn(&(f64, f64)) -> f64) -> Option<Estimate> {
        let known = mean_over_processes(values)?.widened(self.alternatives.iter().map(part));
        Some(known.covering_alternatives(self.model_alternatives.iter().map(part)))
    }
}
