//! Estimates cost and spread for each process and over all processes from the distribution of
//! single invocations.

use crate::cost::singles::MeasuringClock;
use crate::cost::{
    CoreFrequency, Cost, Following, ObservedCalls, cost, deviation, floor, following,
};
use crate::distribution::cells::interruption_share;
use crate::distribution::shape::{Fits, ModelChoice, ModelKind, Shape};
use crate::model::Interval;
use crate::resolution::Context;
use crate::statistics::{Regimes, Z, mean_over_processes, median, midmean, regimes};
use crate::trace::{Run, Trace};

/// A process with the fitted distributions of its single invocations as measured by the reference.
pub struct FittedProcess<'a> {
    pub run: &'a Run,
    fits: Option<Fits>,
}

impl<'a> FittedProcess<'a> {
    pub fn new(trace: &Trace, run: &'a Run) -> Self {
        Self {
            run,
            fits: MeasuringClock::by_reference(trace).fits(run, trace),
        }
    }

    pub fn all(trace: &'a Trace) -> Vec<Self> {
        trace.runs.iter().map(|run| Self::new(trace, run)).collect()
    }
}

/// The single invocations of all processes.
pub struct SingleCalls<'a> {
    pub trace: &'a Trace,
    /// The clock that measures the single invocations.
    pub view: MeasuringClock,
    pub runs: Vec<&'a Run>,
    /// The fitted distributions of single invocations as measured by `view`.
    pub fits: Vec<Fits>,
    pub model: ModelChoice,
    /// The fitted distributions of single invocations as measured by the reference.
    pub by_reference: Vec<Fits>,
    /// The kind of model chosen for `by_reference`.
    pub reference_kind: ModelKind,
    /// The share of single calls whose bracket was interrupted although the call was not, with its
    /// standard error.
    interrupted_brackets: (f64, f64),
}

impl<'a> SingleCalls<'a> {
    pub fn new(trace: &'a Trace, processes: &[FittedProcess<'a>], view: MeasuringClock) -> Self {
        let (mut runs, mut fits, mut by_reference) = (Vec::new(), Vec::new(), Vec::new());
        for process in processes {
            let Some(reference) = &process.fits else {
                continue;
            };
            let own = match view.self_measured {
                true => view.fits(process.run, trace),
                false => Some(reference.clone()),
            };
            if let Some(own) = own {
                runs.push(process.run);
                fits.push(own);
                by_reference.push(reference.clone());
            }
        }
        // Successive readings have no bracket.
        let interrupted_brackets = match view.self_measured {
            true => (0.0, 0.0),
            false => interrupted_brackets(&runs, trace.reference.step),
        };
        Self {
            trace,
            view,
            model: Fits::choose_model(&fits),
            reference_kind: Fits::choose_model(&by_reference).kind,
            runs,
            fits,
            by_reference,
            interrupted_brackets,
        }
    }

    pub fn shapes(&self, kind: ModelKind) -> Vec<Shape> {
        self.fits.iter().map(|fits| fits.shape(kind)).collect()
    }

    /// Returns cost and spread of each process. Single calls determine the median only to within
    /// one step of the reference, because their phases may be locked. Within this step the mean of
    /// batches determines the median, as far as it is more precise. The difference between the cost
    /// of an isolated call and the amortised cost, within the step, then remains uncertain.
    pub fn costs_and_spreads(
        &self,
        kind: ModelKind,
        core_frequency: CoreFrequency,
        resolution_ns: Option<f64>,
    ) -> CostsAndSpreads {
        let reference = &self.trace.reference;
        let floor = floor(&self.trace.runs, reference, core_frequency);
        let (mut each, mut spreads) = (Vec::new(), Vec::new());
        for ((run, fits), by_reference) in self.runs.iter().zip(&self.fits).zip(&self.by_reference)
        {
            let (shape, by_reference) = (fits.shape(kind), by_reference.shape(self.reference_kind));
            let observed = ObservedCalls {
                run,
                reference,
                view: &self.view,
                shape: &shape,
                by_reference: &by_reference,
            };
            if let Some(cost) = cost(&observed, floor, core_frequency) {
                each.push(cost);
                let ns = self.tick_ns(run, core_frequency);
                let spread = |resolution| self.share_within(&shape, resolution / ns);
                spreads.extend(resolution_ns.map(spread));
            }
        }
        let step = reference.step * reference.ns_per_tick;
        let over = |each: &[Cost], figure: fn(&Cost) -> f64| {
            midmean(each.iter().map(figure)).unwrap_or(0.0)
        };
        let (phase, chance) = (PHASE_DEVIATION_STEPS * step, over(&each, |cost| cost.error));
        let by_batches = if phase > 0.0 {
            phase * phase / (phase * phase + chance * chance)
        } else {
            0.0
        };
        let combined = |cost: &Cost| {
            let off = (cost.isolated - cost.batch_median).clamp(-step, step);
            (cost.isolated - by_batches * off).min(cost.median_limit)
        };
        let costs: Vec<f64> = each.iter().map(combined).collect();
        for (cost, estimates) in each.iter_mut().zip(&costs) {
            cost.p99 = cost.p99.max(*estimates);
        }
        CostsAndSpreads {
            by_singles: over(&each, |cost| cost.isolated) - midmean(&costs).unwrap_or(0.0),
            model: Z * over(&each, |cost| cost.model_error),
            each,
            costs,
            spreads,
        }
    }

    /// Nanoseconds in a tick of the clock that measures the single invocations of a process.
    fn tick_ns(&self, run: &Run, core_frequency: CoreFrequency) -> f64 {
        let hertz = if self.view.self_measured {
            run.readings.core_hz
        } else {
            run.singles.core_hz
        };
        self.view.ns_per_tick * core_frequency.scale(hertz)
    }

    /// Returns cost and spread, and the alternatives that the samples do not exclude.
    pub fn figures_with_alternatives(&self, resolution_ns: Option<f64>) -> FiguresWithAlternatives {
        let kind = self.model.kind;
        let mut core_frequency = CoreFrequency(self.trace.core_hz);
        let mut estimates = self.costs_and_spreads(kind, core_frequency, resolution_ns);
        let (mut follows, mut measured) = (Following::Unknown, None);
        if core_frequency.0.is_some() {
            let other = self.costs_and_spreads(kind, CoreFrequency(None), resolution_ns);
            follows = following(&estimates.costs, &other.costs);
            match follows {
                Following::Device => (estimates, core_frequency) = (other, CoreFrequency(None)),
                Following::Unknown => measured = Some(other),
                Following::Core => {}
            }
        }
        let samples = |run: &&Run| self.view.samples(run).len() as f64;
        let mut found = FiguresWithAlternatives {
            regimes: regimes(&estimates.costs),
            instead: Vec::new(),
            model_alternatives: Vec::new(),
            following: follows,
            samples: self.runs.iter().map(samples).sum(),
            estimates,
        };
        let Some(figures) = found.estimates.pair() else {
            return found;
        };
        found.model_alternatives = match self.feasible_figures(resolution_ns) {
            Some(ends) => ends
                .map(|(above, share)| (figures.0 + above, share))
                .to_vec(),
            None => {
                let others = self.model.alternatives.iter();
                let others = others.filter_map(|kind| {
                    self.costs_and_spreads(*kind, core_frequency, resolution_ns)
                        .pair()
                });
                extreme_alternatives(others.collect(), figures)
            }
        };
        let (model, (_, error)) = (found.estimates.model, self.interrupted_brackets);
        let instead = &mut found.instead;
        instead.extend(measured.and_then(|measured| measured.pair()));
        let shifts = [found.estimates.by_singles, -model, model];
        instead.extend(shifts.map(|shift| (figures.0 + shift, figures.1)));
        instead.extend([-error, error].map(|error| (figures.0, figures.1 + Z * error)));
        let spread = |reach: f64| {
            self.spread_within(kind, core_frequency, reach)
                .unwrap_or(figures.1)
        };
        // If the timer measures its own invocations in whole units of time, it may move in finer
        // steps that are rounded to units. A single cost then shows as two costs, a finer step
        // apart.
        if self.view.self_measured && self.trace.declared && self.view.step.round() == 1.0 {
            let shift = ROUNDING_ERROR_UNITS * self.view.step * self.view.ns_per_tick;
            instead.extend([-1.0, 1.0].map(|side| {
                let reach = resolution_ns.map(|ns| ns * (1.0 + side * ROUNDING_REACH_UNITS));
                (figures.0 + side * shift, reach.map_or(figures.1, spread))
            }));
        }
        if let (ModelKind::Interpolated, Some(resolution)) = (kind, resolution_ns) {
            let reach_error = REACH_ERROR_RATIO * model;
            let ends = [resolution - reach_error, resolution + reach_error];
            instead.extend(ends.map(|reach| (figures.0, spread(reach.max(0.0)))));
        }
        if let (Some(two), Some(spread)) = (found.regimes, midmean(&found.estimates.spreads)) {
            instead.extend([(two.low, spread), (two.high, spread)]);
        }
        found
    }

    /// The largest deviations of the median and of the share around it that the samples allow under
    /// any distribution.
    fn feasible_figures(&self, resolution_ns: Option<f64>) -> Option<[(f64, f64); 2]> {
        let ns = self.view.ns_per_tick;
        let range = Fits::feasible_range(&self.fits, resolution_ns? / ns)?;
        let shapes = self.shapes(self.model.kind);
        let midmean_cost = midmean(shapes.iter().filter_map(Shape::median_above_main_mean))?;
        let (interrupted_brackets, _) = self.interrupted_brackets;
        let at = |end: usize| {
            let share = (range.share[end] / (1.0 - interrupted_brackets)).min(1.0);
            (
                (range.above_mean[end] * self.view.step - midmean_cost) * ns,
                share,
            )
        };
        Some([at(0), at(1)])
    }

    /// The share of calls within a number of nanoseconds of the median.
    fn spread_within(
        &self,
        kind: ModelKind,
        core_frequency: CoreFrequency,
        reach: f64,
    ) -> Option<f64> {
        let each = self.runs.iter().zip(self.shapes(kind));
        midmean(each.map(|(run, shape)| {
            self.share_within(&shape, reach / self.tick_ns(run, core_frequency))
        }))
    }

    /// The share of calls within `reach` ticks of the median, among the calls that were not
    /// interrupted.
    fn share_within(&self, shape: &Shape, reach: f64) -> f64 {
        let (interrupted_brackets, _) = self.interrupted_brackets;
        (shape.share_within(reach) / (1.0 - interrupted_brackets)).min(1.0)
    }

    /// Returns the context for the resolution. It uses all processes, disturbed or not, because
    /// intervals vary like the costs of all processes.
    pub fn context(&self) -> Context {
        let Some(ns) = self.trace.ns_per_tick else {
            return Context::default();
        };
        let (reference, kind) = (&self.trace.reference, self.model.kind);
        let shapes = self.shapes(kind);
        let width = |low: f64, high: f64| {
            let between = |shape: &Shape| shape.quantile(high) - shape.quantile(low);
            let widths = shapes.iter().map(between);
            median(widths.map(|width| width * self.view.ns_per_tick)).unwrap_or(0.0) / ns
        };
        let deviations = self.runs.iter().zip(&shapes);
        let deviations = deviations.map(|(run, shape)| deviation(run, reference, shape));
        let costs = self
            .costs_and_spreads(kind, CoreFrequency(self.trace.core_hz), None)
            .each;
        let costs = costs.iter().map(|cost| cost.batch_median);
        Context {
            cost_deviation: median(deviations).unwrap_or(0.0) / ns,
            cost_lower_width: width(0.02, 0.5),
            cost_edge: width(0.01, 0.1),
            reference_step: reference.step * reference.ns_per_tick / ns,
            cost: median(costs).unwrap_or(0.0) / ns,
            work_unit: reference.ns_per_work / ns,
        }
    }
}

/// If no model determines the distribution within a step of the clock that measures the calls, the
/// limits of the reach are uncertain by this many times the uncertainty of the median: about 0.4
/// steps around a single cost, almost nothing in a smooth distribution. *Computed*: half a step at
/// either end of a single cost.
const REACH_ERROR_RATIO: f64 = 2.0;
/// Upper limit of the share of interrupted brackets. *Default*: moves no figure.
const MAX_INTERRUPTED_BRACKETS: f64 = 0.1;

/// The share of interrupted brackets, with its standard error. Interruptions at random times are
/// equally frequent while the reference and while the timer is read.
fn interrupted_brackets(runs: &[&Run], step: f64) -> (f64, f64) {
    let counted = runs.iter().filter_map(|run| {
        let (deltas, all) = (&run.bracket.deltas, run.bracket.deltas.len() as f64);
        Some((interruption_share(deltas, step)? * all, all))
    });
    let (rare, all) = counted.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let share = (rare / f64::max(all, 1.0)).min(MAX_INTERRUPTED_BRACKETS);
    (share, (share / f64::max(all, 1.0)).sqrt())
}

/// Error of a median due to rounding to whole units, in units: 1.96 standard deviations of a median
/// that is uniformly distributed between two costs a finer step apart, for any finer step up to a
/// unit. *Computed*.
const ROUNDING_ERROR_UNITS: f64 = 0.2;
/// Change of the reach of the spread due to rounding, in units. *Default*: moves no figure.
const ROUNDING_REACH_UNITS: f64 = 0.25;

/// Returns the alternatives with the largest deviation below and above in cost, and in spread.
fn extreme_alternatives(others: Vec<(f64, f64)>, figures: (f64, f64)) -> Vec<(f64, f64)> {
    let ends = |of: fn(&(f64, f64)) -> f64| {
        let by = |a: &&(f64, f64), b: &&(f64, f64)| of(a).total_cmp(&of(b));
        [others.iter().min_by(by), others.iter().max_by(by)].map(|end| end.map_or(of(&figures), of))
    };
    let ([least, most], [narrow, wide]) = (ends(|pair| pair.0), ends(|pair| pair.1));
    vec![
        (least.min(figures.0), narrow.min(figures.1)),
        (most.max(figures.0), wide.max(figures.1)),
    ]
}

/// Standard deviation of the shift of single invocations due to phases that are not random, in
/// steps: that of a uniform distribution over a step. *Computed*: 1/√12.
const PHASE_DEVIATION_STEPS: f64 = 0.289;

/// Cost and spread of each process, with the median from single calls and batches combined.
pub struct CostsAndSpreads {
    pub each: Vec<Cost>,
    pub costs: Vec<f64>,
    pub spreads: Vec<f64>,
    /// The difference to the median from single calls alone, in nanoseconds.
    by_singles: f64,
    /// Half the width of the interval that the models leave uncertain, in nanoseconds.
    model: f64,
}

impl CostsAndSpreads {
    /// Returns cost and spread over all processes.
    fn pair(&self) -> Option<(f64, f64)> {
        let spread = midmean(&self.spreads).unwrap_or(f64::NAN);
        Some((midmean(&self.costs)?, spread))
    }
}

/// Cost and spread over all processes, with alternatives.
pub struct FiguresWithAlternatives {
    pub estimates: CostsAndSpreads,
    pub instead: Vec<(f64, f64)>,
    pub model_alternatives: Vec<(f64, f64)>,
    pub regimes: Option<Regimes>,
    pub following: Following,
    samples: f64,
}

impl FiguresWithAlternatives {
    pub fn over(&self, figure: fn(&Cost) -> f64) -> Option<f64> {
        midmean(self.estimates.each.iter().map(figure))
    }

    pub fn cost(&self) -> Option<Interval> {
        self.interval(&self.estimates.costs, |pair| pair.0)
    }

    pub fn spread(&self) -> Option<Interval> {
        let known = self.interval(&self.estimates.spreads, |pair| pair.1)?;
        Some(known.with_counting_error(self.samples).within(0.0, 1.0))
    }

    fn interval(&self, figures: &[f64], part: fn(&(f64, f64)) -> f64) -> Option<Interval> {
        let known = mean_over_processes(figures)?.widened(self.instead.iter().map(part));
        Some(known.covering_alternatives(self.model_alternatives.iter().map(part)))
    }
}
