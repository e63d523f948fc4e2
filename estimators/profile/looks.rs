//! What processes saw of single invocations, and what follows from it: cost and spread of each
//! process, and over all of them.

use crate::cost::singles::View;
use crate::cost::{
    CoreFrequency, Cost, Following, ObservedCalls, cost, deviation, floor, following,
};
use crate::distribution::cells::rare_among;
use crate::distribution::shape::{Agreed, Fits, LawKind, Shape};
use crate::model::Interval;
use crate::resolution::Context;
use crate::statistics::{Regimes, Z, median, midmean, over_processes, regimes};
use crate::trace::{Run, Trace};

/// A process, and what its single invocations may be taken for as the reference shows them.
pub struct ShownProcess<'a> {
    pub run: &'a Run,
    fits: Option<Fits>,
}

impl<'a> ShownProcess<'a> {
    pub fn of(trace: &Trace, run: &'a Run) -> Self {
        Self {
            run,
            fits: View::by_reference(trace).fits(run, trace),
        }
    }

    pub fn all(trace: &'a Trace) -> Vec<Self> {
        trace.runs.iter().map(|run| Self::of(trace, run)).collect()
    }
}

/// What processes saw of single invocations.
pub struct Looks<'a> {
    pub trace: &'a Trace,
    pub view: View,
    pub runs: Vec<&'a Run>,
    pub fits: Vec<Fits>,
    pub agreed: Agreed,
    /// As the reference shows them, and what that is taken for.
    pub by_reference: Vec<Fits>,
    pub reference_kind: LawKind,
    /// The share of single calls whose bracket was interrupted, and not they, with its standard
    /// error.
    around: (f64, f64),
}

impl<'a> Looks<'a> {
    pub fn of(trace: &'a Trace, shown: &[ShownProcess<'a>], view: View) -> Self {
        let whole = shown.iter().filter_map(|ShownProcess { run, fits }| {
            let by_reference = fits.clone()?;
            let fits = if view.of_intervals {
                view.fits(run, trace)?
            } else {
                by_reference.clone()
            };
            Some((*run, fits, by_reference))
        });
        let whole: Vec<(&Run, Fits, Fits)> = whole.collect();
        let fits: Vec<Fits> = whole.iter().map(|(_, fits, _)| fits.clone()).collect();
        let by_reference: Vec<Fits> = whole.iter().map(|(_, _, fits)| fits.clone()).collect();
        let agreed = Fits::agreed(&fits);
        let reference_kind = if view.of_intervals {
            Fits::agreed(&by_reference).kind
        } else {
            agreed.kind
        };
        let runs: Vec<&Run> = whole.iter().map(|(run, _, _)| *run).collect();
        // Successive readings have no bracket.
        let around = if view.of_intervals {
            (0.0, 0.0)
        } else {
            around(&runs, trace.reference.step)
        };
        Self {
            trace,
            view,
            runs,
            fits,
            agreed,
            by_reference,
            reference_kind,
            around,
        }
    }

    pub fn shapes(&self, kind: LawKind) -> Vec<Shape> {
        self.fits.iter().map(|fits| fits.shape(kind)).collect()
    }

    /// Cost and spread of each process.
    pub fn figures(
        &self,
        kind: LawKind,
        core_frequency: CoreFrequency,
        resolution_ns: Option<f64>,
    ) -> Vec<(Cost, Option<f64>)> {
        let reference = &self.trace.reference;
        let floor = floor(&self.trace.runs, reference, core_frequency);
        let each = self.runs.iter().zip(&self.fits).zip(&self.by_reference);
        each.filter_map(|((run, fits), by_reference)| {
            let (shape, by_reference) = (fits.shape(kind), by_reference.shape(self.reference_kind));
            let seen = ObservedCalls {
                run,
                reference,
                view: &self.view,
                shape: &shape,
                by_reference: &by_reference,
            };
            let ns = self.shown_ns(run, core_frequency);
            Some((
                cost(&seen, floor, core_frequency)?,
                resolution_ns.map(|resolution| self.share_within(&shape, resolution / ns)),
            ))
        })
        .collect()
    }

    /// Nanoseconds in a tick of the clock that shows the single invocations of a process.
    pub fn shown_ns(&self, run: &Run, core_frequency: CoreFrequency) -> f64 {
        let hertz = if self.view.of_intervals {
            run.readings.core_hz
        } else {
            run.singles.core_hz
        };
        self.view.ns_per_tick * core_frequency.scale(hertz)
    }

    /// Cost and spread, and what they may be instead.
    pub fn found(&self, resolution_ns: Option<f64>) -> FoundFigures {
        let step = self.trace.reference.step * self.trace.reference.ns_per_tick;
        let at = |kind: LawKind, core_frequency: CoreFrequency| {
            placed(self.figures(kind, core_frequency, resolution_ns), step)
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
        let core_frequency = CoreFrequency(
            self.trace
                .core_hz
                .filter(|_| following != Following::Device),
        );
        let found = main;
        let others = self
            .agreed
            .as_well
            .iter()
            .map(|kind| at(*kind, core_frequency));
        let pair = |placed: &Placed| {
            Some((
                midmean(&placed.costs)?,
                midmean(&placed.spreads).unwrap_or(f64::NAN),
            ))
        };
        let Some(here) = pair(&found) else {
            return FoundFigures::from(found, Vec::new(), Vec::new(), following, 0.0);
        };
        let laws = match self.open(resolution_ns) {
            Some(ends) => ends.map(|(above, share)| (here.0 + above, share)).to_vec(),
            None => farthest(others.filter_map(|other| pair(&other)).collect(), here),
        };
        let mut instead: Vec<(f64, f64)> = otherwise.as_ref().and_then(pair).into_iter().collect();
        let shifts = [found.by_singles, -found.model, found.model];
        instead.extend(shifts.map(|shift| (here.0 + shift, here.1)));
        let (_, error) = self.around;
        instead.extend([-error, error].map(|error| (here.0, here.1 + Z * error)));
        instead.extend(self.rounded(kind, core_frequency, resolution_ns, here));
        if let (LawKind::Free, Some(resolution)) = (kind, resolution_ns) {
            let open = OPEN_REACH * found.model;
            let ends = [resolution - open, resolution + open].map(|reach| reach.max(0.0));
            instead.extend(ends.map(|reach| {
                (
                    here.0,
                    self.spread_within(kind, core_frequency, reach)
                        .unwrap_or(here.1),
                )
            }));
        }
        let samples = self
            .runs
            .iter()
            .map(|run| self.view.samples(run).len() as f64)
            .sum();
        FoundFigures::from(found, instead, laws, following, samples)
    }

    /// How far from where the law has it the median may lie, and the share around it, whatever law
    /// single calls follow.
    fn open(&self, resolution_ns: Option<f64>) -> Option<[(f64, f64); 2]> {
        let ns = self.view.ns_per_tick;
        let open = Fits::open(&self.fits, resolution_ns? / ns)?;
        let midmean_cost = midmean(
            &self
                .shapes(self.agreed.kind)
                .iter()
                .filter_map(Shape::above_main)
                .collect::<Vec<_>>(),
        )?;
        let (around, _) = self.around;
        let at = |end: usize| {
            let share = (open.share[end] / (1.0 - around)).min(1.0);
            (
                (open.above_mean[end] * self.view.step - midmean_cost) * ns,
                share,
            )
        };
        Some([at(0), at(1)])
    }

    /// What cost and spread may be where the timer shows its own invocations by whole units of
    /// time: it may move in finer steps that are rounded to them, and then a single cost shows as
    /// two, a finer step apart.
    pub fn rounded(
        &self,
        kind: LawKind,
        core_frequency: CoreFrequency,
        resolution_ns: Option<f64>,
        here: (f64, f64),
    ) -> Vec<(f64, f64)> {
        if !self.view.of_intervals || !self.trace.declared || self.view.step.round() != 1.0 {
            return Vec::new();
        }
        let spread = |reach: f64| {
            let within = |resolution| self.spread_within(kind, core_frequency, resolution * reach);
            resolution_ns.and_then(within).unwrap_or(here.1)
        };
        let shift = ROUNDED_COST * self.view.step * self.view.ns_per_tick;
        vec![
            (here.0 - shift, spread(1.0 - ROUNDED_REACH)),
            (here.0 + shift, spread(1.0 + ROUNDED_REACH)),
        ]
    }

    /// The share of calls within a number of nanoseconds of the median.
    fn spread_within(
        &self,
        kind: LawKind,
        core_frequency: CoreFrequency,
        reach: f64,
    ) -> Option<f64> {
        let each = self.runs.iter().zip(self.shapes(kind));
        let shares: Vec<f64> = each
            .map(|(run, shape)| {
                self.share_within(&shape, reach / self.shown_ns(run, core_frequency))
            })
            .collect();
        midmean(&shares)
    }

    /// Of the calls that were not interrupted, the share within `reach` ticks of the median.
    fn share_within(&self, shape: &Shape, reach: f64) -> f64 {
        let (around, _) = self.around;
        (shape.share_within(reach) / (1.0 - around)).min(1.0)
    }

    /// Of all processes, calm or not: intervals vary as the costs of all of them do.
    pub fn context(&self) -> Context {
        let Some(ns) = self.trace.ns_per_tick else {
            return Context::default();
        };
        let core_frequency = CoreFrequency(self.trace.core_hz);
        let shapes = self.shapes(self.agreed.kind);
        let of = |figures: Vec<f64>| median(&figures).unwrap_or(0.0) / ns;
        let width = |low: f64, high: f64| {
            let between = |shape: &Shape| {
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

/// Where no law tells what lies within a step of the clock that shows the calls, this many times
/// what that leaves of the median is open at the ends of the reach: some four tenths of a step
/// around a single cost, next to nothing in a smooth distribution. *Computed*: half a step at
/// either end of a single cost.
const OPEN_REACH: f64 = 2.0;
/// No larger share of brackets is taken to be interrupted.
/// *Default*: moves no figure.
const MOST_AROUND: f64 = 0.1;

/// The share of brackets that were interrupted, with its standard error: what interrupts by time
/// strikes as often while the reference is read as while the timer is.
fn around(runs: &[&Run], step: f64) -> (f64, f64) {
    let counted = runs.iter().filter_map(|run| {
        let (deltas, all) = (&run.bracket.deltas, run.bracket.deltas.len() as f64);
        Some((rare_among(deltas, step)? * all, all))
    });
    let (rare, all) = counted.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let share = (rare / f64::max(all, 1.0)).min(MOST_AROUND);
    (share, (share / f64::max(all, 1.0)).sqrt())
}

/// What rounding to whole units may move a median by, in units: 1.96 times the deviation of a
/// median that lies anywhere between two costs a finer step apart, which is anything up to a unit.
/// *Computed*.
const ROUNDED_COST: f64 = 0.2;
/// What rounding may add to the reach of the spread, or take away, in units.
/// *Default*: moves no figure.
const ROUNDED_REACH: f64 = 0.25;

/// Of what may be instead, what lies farthest below and above in cost, and in spread.
fn farthest(others: Vec<(f64, f64)>, here: (f64, f64)) -> Vec<(f64, f64)> {
    let ends = |of: fn(&(f64, f64)) -> f64| {
        let by = |a: &&(f64, f64), b: &&(f64, f64)| of(a).total_cmp(&of(b));
        [others.iter().min_by(by), others.iter().max_by(by)].map(|end| end.map_or(of(&here), of))
    };
    let ([least, most], [narrow, wide]) = (ends(|pair| pair.0), ends(|pair| pair.1));
    vec![
        (least.min(here.0), narrow.min(here.1)),
        (most.max(here.0), wide.max(here.1)),
    ]
}

/// What phases that are not random shift singles by, in steps, as a standard deviation: that of a
/// place anywhere within a step. *Computed*: 1/√12.
const PHASE: f64 = 0.289;

/// Cost and spread of each process, the cost placed by singles and batches together.
pub struct Placed {
    pub each: Vec<Cost>,
    pub costs: Vec<f64>,
    pub spreads: Vec<f64>,
    /// How far from there the singles alone have it, in nanoseconds.
    pub by_singles: f64,
    /// Half the width of what the laws leave uncertain, in nanoseconds.
    pub model: f64,
}

/// Places the median of single calls. Singles leave it open by a step of the reference, as their
/// phases may lock; within that batches place it, as far as they know it better, and never beyond.
/// What a call alone takes longer than one in a row, within the step, is then still uncertain.
pub fn placed(figures: Vec<(Cost, Option<f64>)>, step: f64) -> Placed {
    let spreads = figures.iter().filter_map(|(_, spread)| *spread).collect();
    let mut each: Vec<Cost> = figures.into_iter().map(|(cost, _)| cost).collect();
    let over = |figure: fn(&Cost) -> f64| {
        midmean(&each.iter().map(figure).collect::<Vec<_>>()).unwrap_or(0.0)
    };
    let (phase, chance) = (PHASE * step, over(|cost| cost.error));
    let by_batches = if phase > 0.0 {
        phase * phase / (phase * phase + chance * chance)
    } else {
        0.0
    };
    let place = |cost: &Cost| {
        let placed = cost.alone - by_batches * (cost.alone - cost.by_batches).clamp(-step, step);
        placed.min(cost.most)
    };
    let costs: Vec<f64> = each.iter().map(place).collect();
    let by_singles = over(|cost| cost.alone) - midmean(&costs).unwrap_or(0.0);
    let model = Z * over(|cost| cost.model);
    each.iter_mut()
        .zip(&costs)
        .for_each(|(cost, placed)| cost.p99 = cost.p99.max(*placed));
    Placed {
        each,
        costs,
        spreads,
        by_singles,
        model,
    }
}

/// Cost and spread over processes.
pub struct FoundFigures {
    pub each: Vec<Cost>,
    pub costs: Vec<f64>,
    pub spreads: Vec<f64>,
    pub instead: Vec<(f64, f64)>,
    pub laws: Vec<(f64, f64)>,
    pub regimes: Option<Regimes>,
    pub following: Following,
    pub samples: f64,
}

impl FoundFigures {
    pub fn from(
        placed: Placed,
        mut instead: Vec<(f64, f64)>,
        laws: Vec<(f64, f64)>,
        following: Following,
        samples: f64,
    ) -> Self {
        let regimes = regimes(&placed.costs);
        if let (Some(two), Some(spread)) = (regimes, midmean(&placed.spreads)) {
            instead.extend([(two.low, spread), (two.high, spread)]);
        }
        Self {
            each: placed.each,
            costs: placed.costs,
            spreads: placed.spreads,
            instead,
            laws,
            regimes,
            following,
            samples,
        }
    }

    pub fn column(&self, figure: fn(&Cost) -> f64) -> Vec<f64> {
        self.each.iter().map(figure).collect()
    }

    pub fn cost(&self) -> Option<Interval> {
        let instead: Vec<f64> = self.instead.iter().map(|(cost, _)| *cost).collect();
        let laws: Vec<f64> = self.laws.iter().map(|(cost, _)| *cost).collect();
        Some(
            over_processes(&self.costs)?
                .widened(&instead)
                .or_around(&laws),
        )
    }

    pub fn spread(&self) -> Option<Interval> {
        let instead: Vec<f64> = self.instead.iter().map(|(_, spread)| *spread).collect();
        let laws: Vec<f64> = self.laws.iter().map(|(_, spread)| *spread).collect();
        let known = over_processes(&self.spreads)?
            .widened(&instead)
            .or_around(&laws);
        Some(known.counted(self.samples).within(0.0, 1.0))
    }
}
