//! Judges all values of a comparison together, so that at most 1 % of comparisons of unchanged
//! machines report any change: by families for costs and lateness, each by itself for the rest.

use indexmap::IndexMap;
use serde::{Serialize, Serializer};

use super::families::{self, Estimate, FEW, RunValue, Shift, Sides, TimerGroup};
use super::quantity::{ComparisonScale, SLEW};
use super::rows::RunRow;
use super::scatter::{self, Location, UNSEEN_SPREAD, UNSEEN_TAIL};
use super::{ChangeVerdict, ComparedFigure, Comparison, FigureChange, Quantity};
use crate::fields::{FieldUnit, Scatter};
use crate::model::{Following, Interval, ProcessFigures, State, TimerRow};
use crate::statistics::hypotheses::holm;

/// The probability that a comparison reports a change although nothing changed. *Definition*: the
/// aim that was set.
pub const FALSE_ALARM: f64 = 0.01;
/// The shares of `FALSE_ALARM` for changes of families, of the costs of single clocks, and of all
/// other values. *Judgement*: users mainly ask about costs, and most changes of costs are common to
/// a family.
const SHARES: [f64; 3] = [0.6, 0.3, 0.1];
/// The least variance of a value. *Numerical*: a relative error of 1e-6, below the rounding of
/// reports.
const MIN_VARIANCE: f64 = 1e-12;

/// The largest logarithm of a value, so that ratios of values are finite. *Numerical*.
const MAX_LOGARITHM: f64 = 150.0;

/// A quantity of a timer in all runs that contain it.
pub struct TimerQuantity<'a> {
    pub timer: String,
    pub quantity: Quantity,
    pub family: String,
    /// The values in the old runs and in the new runs.
    pub sides: [Vec<(&'a RunRow<'a>, Interval)>; 2],
}

/// How the timers of a family changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FamilyChange {
    /// The way in which its clocks are read, the runtime, or the kind of waits.
    pub family: String,
    /// The quantity.
    pub quantity: Quantity,
    /// Its timers in both reports; JSON contains their number.
    #[serde(serialize_with = "count")]
    pub timers: Vec<String>,
    /// The change in percent that its timers share beyond that of the machine, with its 95 % interval.
    pub percent: Interval,
    /// Whether it changed, and in which direction.
    pub verdict: ChangeVerdict,
    /// The probability of such a shift if nothing changed, corrected for the number of questions.
    pub probability: f64,
    /// The largest change in percent that the runs allow, in either direction.
    pub limit_percent: f64,
    /// If the family changed, its timers that did not.
    pub unchanged: Vec<String>,
    /// The timers with a change of their own.
    pub own: Vec<String>,
}

fn count<S: Serializer>(timers: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    timers.len().serialize(serializer)
}

/// A family whose timers are judged together; of few timers, each is a family of its own.
struct JudgedFamily<'a> {
    quantity: Quantity,
    name: &'a str,
    /// The timers with their numbers among all candidates.
    timers: Vec<(usize, &'a TimerQuantity<'a>)>,
    estimate: Estimate,
}

/// Judges all candidates. Costs are converted to core cycles, and printed at the core frequency
/// `core_ghz` in gigahertz; in nanoseconds if it is unknown.
pub fn judge(comparison: &mut Comparison, candidates: &[TimerQuantity], core_ghz: Option<f64>) {
    let quantities = Quantity::all().filter(|quantity| quantity.scatter() != Scatter::Quality);
    let mut families = Vec::new();
    for quantity in quantities {
        let (found, shift) = JudgedFamily::all_of(quantity, candidates, core_ghz);
        families.extend(found);
        if quantity == Quantity::COST && shift.probability <= FALSE_ALARM {
            comparison.machine = Some(in_percent(shift.by));
        }
    }
    correct(&mut families);
    let mut figures: Vec<Option<ComparedFigure>> =
        candidates.iter().map(TimerQuantity::unjudged).collect();
    let judged = families.iter();
    let judged = judged.filter_map(|family| family.judge(core_ghz, &mut figures));
    comparison.families = judged.collect();
    comparison.figures = figures.into_iter().flatten().collect();
    judge_qualities(&mut comparison.figures);
}

/// A change of a logarithm, in percent.
fn in_percent(change: Interval) -> Interval {
    change.map(|value| 100.0 * value.exp_m1())
}

/// Corrects all probabilities for the number of questions.
fn correct(families: &mut [JudgedFamily]) {
    let mut asked: [Vec<&mut f64>; 3] = [const { Vec::new() }; 3];
    for family in families {
        let is_cost = family.quantity == Quantity::COST;
        let (of_families, of_timers) = if is_cost { (0, 1) } else { (2, 2) };
        let Estimate { shift, changes } = &mut family.estimate;
        asked[of_families].push(&mut shift.probability);
        let own = changes
            .iter_mut()
            .filter_map(|change| change.probability.as_mut());
        asked[of_timers].extend(own);
    }
    let weighted: Vec<(&mut f64, f64)> = asked
        .into_iter()
        .zip(SHARES)
        .flat_map(|(asked, share)| {
            let weight = share / asked.len() as f64;
            asked
                .into_iter()
                .map(move |probability| (probability, weight))
        })
        .collect();
    let tests: Vec<(f64, f64)> = weighted.iter().map(|(p, weight)| (**p, *weight)).collect();
    for ((probability, _), corrected) in weighted.into_iter().zip(holm(&tests)) {
        *probability = corrected;
    }
}

impl<'a> JudgedFamily<'a> {
    /// The families of a quantity, with their estimates, and the shift of the machine.
    fn all_of(
        quantity: Quantity,
        candidates: &'a [TimerQuantity<'a>],
        core_ghz: Option<f64>,
    ) -> (Vec<Self>, Shift) {
        let mut groups: IndexMap<&str, Vec<(usize, &TimerQuantity, Sides)>> = IndexMap::new();
        let all = candidates.iter().enumerate();
        for (at, candidate) in all.filter(|(_, candidate)| candidate.quantity == quantity) {
            if let Some(samples) = candidate.samples(core_ghz) {
                let name = if has_families(quantity) {
                    &candidate.family
                } else {
                    &candidate.timer
                };
                groups
                    .entry(name)
                    .or_default()
                    .push((at, candidate, samples));
            }
        }
        let (mut named, mut values) = (Vec::new(), Vec::new());
        for (name, group) in groups {
            // Of two timers that differ, neither is known to be the changed one.
            let size = if group.len() > FEW { group.len() } else { 1 };
            for part in group.chunks(size) {
                let of_one = part[0].1.timer.as_str();
                let timers = part.iter().map(|(at, timer, _)| (*at, *timer)).collect();
                named.push((if size > 1 { name } else { of_one }, timers));
                values.push(TimerGroup {
                    family: name,
                    timers: part.iter().map(|(_, _, sides)| sides.clone()).collect(),
                });
            }
        }
        let (estimates, machine) = families::estimate(&values);
        let families = named
            .into_iter()
            .zip(estimates)
            .map(|((name, timers), estimate)| Self {
                quantity,
                name,
                timers,
                estimate,
            });
        (families.collect(), machine)
    }

    /// Judges the family and its timers by their corrected probabilities, and describes the family if
    /// its values change together.
    fn judge(
        &self,
        core_ghz: Option<f64>,
        figures: &mut [Option<ComparedFigure>],
    ) -> Option<FamilyChange> {
        let Estimate { shift, changes } = &self.estimate;
        let smallest = self.quantity.smallest_effect();
        let is_shifted = is_effect(Some(shift.probability), shift.by, smallest);
        let (mut own, mut unchanged) = (Vec::new(), Vec::new());
        for ((number, timer), change) in self.timers.iter().zip(changes) {
            let has_own = is_effect(change.probability, change.own, smallest);
            let (total, of_own) = (change.total.value.abs(), change.own);
            // A timer of a changed family that is nearer to no change than to that of its family has
            // not changed.
            let is_behind = is_shifted
                && if has_own {
                    total <= shift.by.half_width().hypot(of_own.half_width())
                } else {
                    total < of_own.value.abs()
                };
            // In an unchanged family, the timer has to differ from no change, too.
            let is_own = has_own && (is_shifted || !change.total.contains(0.0));
            if is_behind {
                unchanged.push(timer.timer.clone());
            } else if is_own {
                own.push(timer.timer.clone());
            }
            let is_changed = (is_shifted || is_own) && !is_behind;
            let probability = change.probability.unwrap_or(1.0).min(shift.probability);
            figures[*number] = Some(timer.compared(change, is_changed, probability, core_ghz));
        }
        let names = self.timers.iter().map(|(_, timer)| timer.timer.clone());
        has_families(self.quantity).then(|| FamilyChange {
            family: self.name.to_owned(),
            quantity: self.quantity,
            timers: names.collect(),
            percent: in_percent(shift.by),
            verdict: verdict(is_shifted, shift.by.value < 0.0),
            probability: shift.probability,
            limit_percent: 100.0 * (shift.by.value.abs() + shift.by.half_width()).exp_m1(),
            unchanged,
            own,
        })
    }
}

/// Whether a change of this probability is none of chance, and large enough to matter.
fn is_effect(probability: Option<f64>, change: Interval, smallest: f64) -> bool {
    probability.is_some_and(|it| it <= FALSE_ALARM) && change.value.abs() >= smallest
}

/// Whether the values of a quantity change together in families of timers.
fn has_families(quantity: Quantity) -> bool {
    matches!(quantity.scatter(), Scatter::Cost | Scatter::Lateness)
}

fn verdict(is_changed: bool, is_better: bool) -> ChangeVerdict {
    match (is_changed, is_better) {
        (false, _) => ChangeVerdict::Noise,
        (true, true) => ChangeVerdict::Better,
        (true, false) => ChangeVerdict::Worse,
    }
}

impl TimerQuantity<'_> {
    /// The state of the cores in which both sides have processes, if the quantity depends on it.
    fn state(&self) -> Option<State> {
        if !matches!(
            self.quantity.scatter(),
            Scatter::Cost | Scatter::Spread | Scatter::Tail
        ) {
            return Some(State::Undisturbed);
        }
        let [old, new] = [0, 1].map(|side| -> Vec<&TimerRow> {
            self.sides[side]
                .iter()
                .filter_map(|(row, _)| row.clock())
                .collect()
        });
        State::common([&old, &new])
    }

    /// The values of the sides with their variances; `None` if a side has none that can be judged.
    fn samples(&self, core_ghz: Option<f64>) -> Option<Sides> {
        let state = self.state()?;
        let rows = || self.sides.iter().flatten().map(|(row, _)| row);
        let is_cost = self.quantity == Quantity::COST;
        let is_device = rows().all(|row| row.follows() == Some(Following::Device));
        let in_cycles = core_ghz.is_some() && !is_device;
        let has_processes =
            is_cost && rows().all(|row| row.cost(in_cycles, State::Undisturbed).is_some());
        let is_of_state = has_processes && state != State::Undisturbed;
        let scale = self.quantity.scale();
        let sample = |(row, figure): &(&RunRow, Interval)| {
            let apply = |value| scale.apply(value);
            let of_processes = |unseen, figure: fn(&ProcessFigures) -> Option<f64>| {
                scatter::by_processes(row.clock()?, state, unseen, |process| {
                    apply(figure(process)?)
                })
            };
            let by_processes = match self.quantity.scatter() {
                Scatter::Cost if has_processes => row.cost(in_cycles, state),
                Scatter::Spread => of_processes(UNSEEN_SPREAD, |process| process.spread),
                Scatter::Tail => of_processes(UNSEEN_TAIL, |process| process.p99_ns),
                _ => None,
            };
            let by_interval = || {
                // The kernel's adjustment of its clock moves some quantities.
                let slew = match (self.quantity.scatter(), self.quantity.unit()) {
                    (Scatter::Slew, FieldUnit::Ppm) => 1e6 * SLEW,
                    (Scatter::Slew, _) => SLEW,
                    _ => 0.0,
                };
                let variance = scale.variance(*figure)? + slew.powi(2);
                Some(Location {
                    value: scale.apply(figure.value)?,
                    own: variance,
                    state: 0.0,
                })
            };
            // The interval of a cost includes processes in all states.
            let location = by_processes.or_else(|| by_interval().filter(|_| !is_of_state))?;
            // Times are converted to core cycles, at the common frequency where a device
            // determines them.
            let ghz = match core_ghz.filter(|_| self.quantity.is_of_core()) {
                Some(_) if in_cycles && has_processes => 1.0,
                Some(_) if in_cycles => row.core_ghz?,
                common => common.unwrap_or(1.0),
            };
            let own = location.own.max(MIN_VARIANCE);
            let value = match scale {
                ComparisonScale::Logarithmic => {
                    (location.value + ghz.ln()).clamp(-MAX_LOGARITHM, MAX_LOGARITHM)
                }
                ComparisonScale::Linear | ComparisonScale::Arcsine => location.value,
            };
            let is_finite = value.is_finite() && own.is_finite();
            is_finite.then_some(RunValue {
                run: row.run,
                location: Location {
                    value,
                    own,
                    ..location
                },
            })
        };
        let sides = self.sides.each_ref().map(|side| -> Vec<RunValue> {
            side.iter()
                .filter(|(row, figure)| !row.is_of_single_process(*figure))
                .filter_map(sample)
                .collect()
        });
        let is_complete = sides.iter().zip(&self.sides).all(|(samples, side)| {
            !samples.is_empty() && (is_of_state || samples.len() == side.len())
        });
        is_complete.then_some(sides)
    }

    /// The difference between the first old and the first new run, without an interval or a
    /// judgement.
    fn unjudged(&self) -> Option<ComparedFigure> {
        let [old, new] = [0, 1].map(|side| self.sides[side].first().map(|(_, figure)| *figure));
        let (old, new) = (old?, new?);
        let percent = 100.0 * (new.value / old.value - 1.0);
        let has_ratio = self.quantity.scale() == ComparisonScale::Logarithmic
            && old.value > 0.0
            && percent.is_finite();
        let change = new.value - old.value;
        // Qualities are not judged, but have the interval of two independent values.
        let is_quality = self.quantity.scatter() == Scatter::Quality;
        let ends = old.ends().zip(new.ends()).filter(|_| is_quality);
        let ends = ends.map(|((old_low, old_high), (new_low, new_high))| {
            let [below, above] = [(old_high, new_low), (old_low, new_high)]
                .map(|(of_old, of_new)| (of_old - old.value).hypot(of_new - new.value));
            (change - below, change + above)
        });
        let change = FigureChange {
            old,
            new,
            difference: Interval::with_ends(change, ends),
            percent: has_ratio.then(|| Interval::unbounded(percent)),
        };
        Some(self.describe(change))
    }

    fn compared(
        &self,
        change: &families::TimerChange,
        is_changed: bool,
        probability: f64,
        core_ghz: Option<f64>,
    ) -> ComparedFigure {
        let scale = self.quantity.scale();
        // Costs are on the scale in core cycles.
        let cycles = core_ghz.filter(|_| self.quantity.is_of_core());
        let [old, new] = change
            .sides
            .map(|side| side.map(|at| scale.invert(at) / cycles.unwrap_or(1.0)));
        let (difference, percent) = if scale == ComparisonScale::Logarithmic {
            let share = change.total.map(f64::exp_m1);
            (share.scaled(old.value), Some(share.scaled(100.0)))
        } else {
            let before = change.sides[0].value;
            let moved = |by: f64| scale.invert(before + by) - old.value;
            let difference = Interval {
                value: new.value - old.value,
                ..change.total.map(moved)
            };
            (difference, None)
        };
        let change = FigureChange {
            old,
            new,
            difference,
            percent,
        };
        let is_better = self.quantity.is_better(old.value, new.value);
        let compared = self.describe(change);
        ComparedFigure {
            verdict: verdict(is_changed && compared.matters, is_better),
            probability: Some(probability),
            ..compared
        }
    }

    /// The change before it is judged.
    fn describe(&self, change: FigureChange) -> ComparedFigure {
        let mut rows = self.sides.iter().flatten();
        ComparedFigure {
            timer: self.timer.clone(),
            quantity: self.quantity,
            matters: change.difference.value.abs()
                >= self.quantity.smallest_difference(change.old.value),
            change,
            verdict: ChangeVerdict::Unjudged,
            unlike_cores: self.state().is_none(),
            single_process: rows.any(|(row, figure)| row.is_of_single_process(*figure)),
            probability: None,
        }
    }
}

/// Judges the Qualities. A Quality follows from cost, resolution, spread and trust: it changes only
/// if one of these changed, and to or from 0 by a verdict on trust.
fn judge_qualities(figures: &mut [ComparedFigure]) {
    let timers: Vec<String> = figures
        .iter()
        .filter(|figure| figure.is_changed())
        .map(|figure| figure.timer.clone())
        .collect();
    let qualities = figures
        .iter_mut()
        .filter(|figure| figure.quantity == Quantity::QUALITY);
    for quality in qualities {
        let [old, new] = [quality.change.old, quality.change.new];
        if !old.is_bounded() || !new.is_bounded() {
            continue;
        }
        let by_trust = (old.value == 0.0) != (new.value == 0.0);
        let ends = quality.change.difference.ends();
        let is_certain = ends.is_some_and(|(low, high)| low > 0.0 || high < 0.0);
        let is_changed = by_trust || (is_certain && timers.contains(&quality.timer));
        quality.verdict = verdict(is_changed, new.value > old.value);
    }
}
