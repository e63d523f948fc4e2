//! The profile of a timer: all figures, from its trace.

use crate::analysis::core_frequency::{CoreFrequency, Following, following};
use crate::analysis::cost::{Cost, Seen, cost, deviation, floor, never_moved};
use crate::analysis::distribution::distribution;
use crate::analysis::interval::{Regimes, Z, over_processes, regimes};
use crate::analysis::order::Backward;
use crate::analysis::resolution::agreement::{Process, agreed};
use crate::analysis::resolution::{Context, Resolution, resolve};
use crate::analysis::shape::{Agreed, Fits, Kind};
use crate::analysis::singles::{View, successive};
use crate::analysis::statistics::{median, midmean};
use crate::model::{Distribution, Estimate};
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
        let ticks = match &self.resolution {
            Resolution::Resolved { step, .. } => step.value,
            Resolution::AtMost { bound, .. } => *bound,
            Resolution::Unmoved => return None,
        };
        Some(ticks * self.ns_per_tick?)
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
    let tight: Vec<Vec<i64>> = trace.runs.iter().map(|run| successive(&run.readings.values)).collect();
    let all: Vec<&Run> = trace.runs.iter().collect();
    let by_reference = Looks::of(trace, &all, View::by_reference(trace));
    let context = by_reference.context();
    let processes: Vec<Process> = Process::all(trace).collect();
    let resolution = agreed(resolve(&groups(trace), &tight, &context), &processes, context.work_unit);
    let step = match &resolution {
        Resolution::Resolved { step, .. } => Some(step.value),
        _ => None,
    };
    let accuracy_ns = step.zip(trace.ns_per_tick).map(|(step, ns)| step * ns);
    let measured: Vec<&Run> = all.iter().copied().filter(|run| !never_moved(run)).collect();
    let still = measured.is_empty() && all.iter().any(|run| never_moved(run));
    let calm = calm(measured);
    let looks = Looks::of(trace, &calm, View::of(trace, step));
    let found = looks.found(accuracy_ns);
    let spread = found.spread();
    Profile {
        resolution,
        ns_per_tick: trace.ns_per_tick,
        rate_uncertainty: trace.ns_per_tick_uncertainty,
        cost: found.cost(),
        amortised: midmean(&found.column(|cost| cost.in_a_row)),
        no_cost: still.then_some("batches of many calls took no time by their reference"),
        single_median: midmean(&found.column(|cost| cost.single_median)),
        p99: midmean(&found.column(|cost| cost.p99)),
        processes: found.costs.iter().copied().zip(found.spreads.iter().copied()).collect(),
        instead: found.instead.clone(),
        regimes: found.regimes,
        following: found.following,
        distribution: distribution(&looks.shapes(looks.agreed.kind), &looks.view, &found.costs),
        kind: looks.agreed.kind,
        disturbed: (trace.runs.len() - calm.len()) as u32,
        spread,
        backward: backward(trace),
    }
}

/// Cost in nanoseconds and spread as the only process of a trace has them, once it is known what single invocations are to be
/// taken for and what the timer's accuracy is: `step` in its ticks where the step is known. `None` where it was disturbed.
#[must_use]
pub fn one_more(trace: &Trace, kind: Kind, step: Option<f64>, accuracy_ns: f64) -> Option<(f64, f64)> {
    let runs: Vec<&Run> = trace.runs.iter().filter(|run| run.is_calm() && !never_moved(run)).collect();
    let looks = Looks::of(trace, &runs, View::of(trace, step));
    let figures = looks.figures(kind, CoreFrequency(trace.core_hz), Some(accuracy_ns));
    let placed = placed(figures, trace.reference.step * trace.reference.ns_per_tick);
    Some((*placed.costs.first()?, *placed.spreads.first()?))
}

/// Fewest processes that figures are taken from, where there are as many.
pub const FEWEST: usize = 3;

/// The processes that had a core of their own while they measured; all of them where those are too few.
fn calm(runs: Vec<&Run>) -> Vec<&Run> {
    let count = runs.iter().filter(|run| run.is_calm()).count();
    runs.into_iter().filter(|run| count < FEWEST || run.is_calm()).collect()
}

/// What processes saw of single invocations.
struct Looks<'a> {
    trace: &'a Trace,
    view: View,
    runs: Vec<&'a Run>,
    fits: Vec<Fits>,
    agreed: Agreed,
    /// As the reference shows them, and what that is taken for.
    by_reference: Vec<Fits>,
    reference_kind: Kind,
}

impl<'a> Looks<'a> {
    fn of(trace: &'a Trace, runs: &[&'a Run], view: View) -> Self {
        let reference_view = View::by_reference(trace);
        let fitted =
            |view: &View| -> Vec<Option<Fits>> { runs.iter().map(|run| view.fits(run, trace)).collect() };
        let by_reference = fitted(&reference_view);
        let fits = if view.of_intervals { fitted(&view) } else { by_reference.clone() };
        let whole = runs.iter().zip(fits).zip(by_reference);
        let whole: Vec<(&Run, Fits, Fits)> =
            whole.filter_map(|((run, fits), by_reference)| Some((*run, fits?, by_reference?))).collect();
        let fits: Vec<Fits> = whole.iter().map(|(_, fits, _)| fits.clone()).collect();
        let by_reference: Vec<Fits> = whole.iter().map(|(_, _, fits)| fits.clone()).collect();
        let agreed = Fits::agreed(&fits);
        let reference_kind = if view.of_intervals { Fits::agreed(&by_reference).kind } else { agreed.kind };
        let runs = whole.iter().map(|(run, _, _)| *run).collect();
        Self { trace, view, runs, fits, agreed, by_reference, reference_kind }
    }

    fn shapes(&self, kind: Kind) -> Vec<crate::analysis::shape::Shape> {
        self.fits.iter().map(|fits| fits.shape(kind)).collect()
    }

    /// Cost and spread of each process.
    fn figures(
        &self,
        kind: Kind,
        core_frequency: CoreFrequency,
        accuracy_ns: Option<f64>,
    ) -> Vec<(Cost, Option<f64>)> {
        let reference = &self.trace.reference;
        let floor = floor(&self.trace.runs, reference, core_frequency);
        let each = self.runs.iter().zip(&self.fits).zip(&self.by_reference);
        each.filter_map(|((run, fits), by_reference)| {
            let (shape, by_reference) = (fits.shape(kind), by_reference.shape(self.reference_kind));
            let seen = Seen { run, reference, view: &self.view, shape: &shape, by_reference: &by_reference };
            let ns = self.shown_ns(run, core_frequency);
            Some((
                cost(&seen, floor, core_frequency)?,
                accuracy_ns.map(|accuracy| shape.share_within(accuracy / ns)),
            ))
        })
        .collect()
    }

    /// Nanoseconds in a tick of whoever shows the single invocations of a process.
    fn shown_ns(&self, run: &Run, core_frequency: CoreFrequency) -> f64 {
        let hertz = if self.view.of_intervals { run.readings.core_hz } else { run.singles.core_hz };
        self.view.ns_per_tick * core_frequency.scale(hertz)
    }

    /// Cost and spread, and what they may be instead.
    fn found(&self, accuracy_ns: Option<f64>) -> Found {
        let step = self.trace.reference.step * self.trace.reference.ns_per_tick;
        let at = |kind: Kind, core_frequency: CoreFrequency| {
            placed(self.figures(kind, core_frequency, accuracy_ns), step)
        };
        let kind = self.agreed.kind;
        let at_core_frequency = at(kind, CoreFrequency(self.trace.core_hz));
        let (main, following, otherwise) = match self.trace.core_hz {
            None => (at_core_frequency, Following::Unknown, None),
            Some(_) => {
                let measured = at(kind, CoreFrequency(None));
                match following(&at_core_frequency.costs, &measured.costs) {
                    Following::Device => (measured, Following::Device, None),
                    Following::Core => (at_core_frequency, Following::Core, None),
                    Following::Unknown => (at_core_frequency, Following::Unknown, Some(measured)),
                }
            }
        };
        let core_frequency = CoreFrequency(self.trace.core_hz.filter(|_| following != Following::Device));
        let found = main;
        let others = self.agreed.as_well.iter().map(|kind| at(*kind, core_frequency));
        let pair =
            |placed: &Placed| Some((midmean(&placed.costs)?, midmean(&placed.spreads).unwrap_or(f64::NAN)));
        let Some(here) = pair(&found) else { return Found::from(found, Vec::new(), following, 0.0) };
        // Of several laws that would do only one is true: the farthest counts.
        let kinds = farthest(others.filter_map(|other| pair(&other)).collect(), here);
        let mut instead: Vec<(f64, f64)> =
            kinds.into_iter().chain(otherwise.as_ref().and_then(pair)).collect();
        let shifts = [found.by_singles, -found.model, found.model];
        instead.extend(shifts.map(|shift| (here.0 + shift, here.1)));
        instead.extend(self.rounded(kind, core_frequency, accuracy_ns, here));
        let samples = self.runs.iter().map(|run| self.view.samples(run).len() as f64).sum();
        Found::from(found, instead, following, samples)
    }

    /// What cost and spread may be where the timer shows its own invocations by whole units of time: it may move in finer steps that are
    /// rounded to them, and then a single cost shows as two, a finer step apart.
    fn rounded(
        &self,
        kind: Kind,
        core_frequency: CoreFrequency,
        accuracy_ns: Option<f64>,
        here: (f64, f64),
    ) -> Vec<(f64, f64)> {
        if !self.view.of_intervals || !self.trace.declared || self.view.step.round() != 1.0 {
            return Vec::new();
        }
        let shapes = self.shapes(kind);
        let spread = |reach: f64| {
            let each = self.runs.iter().zip(&shapes);
            let shares = |accuracy: f64| {
                each.map(|(run, shape)| {
                    shape.share_within(accuracy * reach / self.shown_ns(run, core_frequency))
                })
                .collect::<Vec<_>>()
            };
            accuracy_ns.and_then(|accuracy| midmean(&shares(accuracy))).unwrap_or(here.1)
        };
        let shift = ROUNDED_COST * self.view.step * self.view.ns_per_tick;
        vec![(here.0 - shift, spread(1.0 - ROUNDED_REACH)), (here.0 + shift, spread(1.0 + ROUNDED_REACH))]
    }

    /// Of all processes, calm or not: intervals vary as the costs of all of them do.
    fn context(&self) -> Context {
        let Some(ns) = self.trace.ns_per_tick else { return Context::default() };
        let core_frequency = CoreFrequency(self.trace.core_hz);
        let shapes = self.shapes(self.agreed.kind);
        let of = |figures: Vec<f64>| median(&figures).unwrap_or(0.0) / ns;
        let width = |low: f64, high: f64| {
            let between = |shape: &crate::analysis::shape::Shape| {
                (shape.quantile(high) - shape.quantile(low)) * self.view.ns_per_tick
            };
            of(shapes.iter().map(between).collect())
        };
        let costs = self.figures(self.agreed.kind, core_frequency, None);
        let deviations = self.runs.iter().zip(&shapes);
        Context {
            cost_deviation: of(deviations
                .map(|(run, shape)| deviation(run, &self.trace.reference, shape))
                .collect()),
            cost_lower_width: width(0.02, 0.5),
            cost_edge: width(0.01, 0.1),
            reference_step: self.trace.reference.step * self.trace.reference.ns_per_tick / ns,
            cost: of(costs.iter().map(|(cost, _)| cost.by_batches).collect()),
            work_unit: self.trace.reference.ns_per_work / ns,
        }
    }
}

/// What rounding to whole units may move a median by, in units: 1.96 times the deviation of a median that lies anywhere between
/// two costs a finer step apart, which is anything up to a unit.
const ROUNDED_COST: f64 = 0.2;
/// What rounding may add to the reach of the spread, or take away, in units.
const ROUNDED_REACH: f64 = 0.25;

/// Of what may be instead, what lies farthest below and above in cost, and in spread.
fn farthest(others: Vec<(f64, f64)>, here: (f64, f64)) -> Vec<(f64, f64)> {
    let ends = |of: fn(&(f64, f64)) -> f64| {
        let by = |a: &&(f64, f64), b: &&(f64, f64)| of(a).total_cmp(&of(b));
        [others.iter().min_by(by), others.iter().max_by(by)].map(|end| end.map_or(of(&here), of))
    };
    let ([least, most], [narrow, wide]) = (ends(|pair| pair.0), ends(|pair| pair.1));
    vec![(least.min(here.0), narrow.min(here.1)), (most.max(here.0), wide.max(here.1))]
}

/// What phases that are not random shift singles by, in steps, as a standard deviation: that of a place anywhere within a step.
const PHASE: f64 = 0.289;

/// Cost and spread of each process, the cost placed by singles and batches together.
struct Placed {
    each: Vec<Cost>,
    costs: Vec<f64>,
    spreads: Vec<f64>,
    /// How far from there the singles alone have it, in nanoseconds.
    by_singles: f64,
    /// Half the width of what the laws leave uncertain, in nanoseconds.
    model: f64,
}

/// Places the median of single calls. Singles leave it open by a step of the reference, as their phases may lock; within that
/// batches place it, as far as they know it better, and never beyond. What a call alone takes longer than one in a row, within
/// the step, is then still uncertain.
fn placed(figures: Vec<(Cost, Option<f64>)>, step: f64) -> Placed {
    let spreads = figures.iter().filter_map(|(_, spread)| *spread).collect();
    let each: Vec<Cost> = figures.into_iter().map(|(cost, _)| cost).collect();
    let over =
        |figure: fn(&Cost) -> f64| midmean(&each.iter().map(figure).collect::<Vec<_>>()).unwrap_or(0.0);
    let (phase, chance) = (PHASE * step, over(|cost| cost.error));
    let by_batches = if phase > 0.0 { phase * phase / (phase * phase + chance * chance) } else { 0.0 };
    // A median above the tail would be none.
    let place = |cost: &Cost| {
        let placed = cost.alone - by_batches * (cost.alone - cost.by_batches).clamp(-step, step);
        placed.min(cost.p99.max(cost.alone))
    };
    let costs: Vec<f64> = each.iter().map(place).collect();
    let by_singles = over(|cost| cost.alone) - midmean(&costs).unwrap_or(0.0);
    let model = Z * over(|cost| cost.model);
    Placed { each, costs, spreads, by_singles, model }
}

/// Cost and spread over processes.
struct Found {
    each: Vec<Cost>,
    costs: Vec<f64>,
    spreads: Vec<f64>,
    instead: Vec<(f64, f64)>,
    regimes: Option<Regimes>,
    following: Following,
    samples: f64,
}

impl Found {
    fn from(placed: Placed, mut instead: Vec<(f64, f64)>, following: Following, samples: f64) -> Self {
        let regimes = regimes(&placed.costs);
        if let (Some(two), Some(spread)) = (regimes, midmean(&placed.spreads)) {
            instead.extend([(two.low, spread), (two.high, spread)]);
        }
        Self {
            each: placed.each,
            costs: placed.costs,
            spreads: placed.spreads,
            instead,
            regimes,
            following,
            samples,
        }
    }

    fn column(&self, figure: fn(&Cost) -> f64) -> Vec<f64> {
        self.each.iter().map(figure).collect()
    }

    fn cost(&self) -> Option<Estimate> {
        let instead: Vec<f64> = self.instead.iter().map(|(cost, _)| *cost).collect();
        Some(over_processes(&self.costs)?.widened(&instead))
    }

    fn spread(&self) -> Option<Estimate> {
        let instead: Vec<f64> = self.instead.iter().map(|(_, spread)| *spread).collect();
        Some(over_processes(&self.spreads)?.widened(&instead).counted(self.samples).within(0.0, 1.0))
    }
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
