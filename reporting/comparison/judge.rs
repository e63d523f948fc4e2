//! Judges all values of a comparison together, so that at most 1 % of comparisons of unchanged
//! machines report any change: costs by families, resolutions each by itself. All other values are
//! shown only.

use indexmap::IndexMap;
use serde::{Serialize, Serializer};

use super::families::{self, Estimate, FEW, Shift, Sides, TimerGroup};
use super::rows::RunRow;
use super::scatter::{Location, family_of};
use super::{COST, ChangeVerdict, ComparedFigure, Comparison, FigureChange, MIN_SHARE, RESOLUTION};
use crate::fields::Field;
use crate::model::{Interval, State, TimerRow};
use crate::statistics::Z;

/// The probability that a comparison reports a change although nothing changed. *Definition*: the
/// aim that was set.
pub const FALSE_ALARM: f64 = 0.01;
/// The shares of `FALSE_ALARM` for changes of families, of the costs of single clocks, and of
/// resolutions. *Judgement*: users mainly ask about costs, and most changes of costs are common to
/// a family.
const SHARES: [f64; 3] = [0.6, 0.3, 0.1];
/// The kernel may speed up or slow down its clock by this share to adjust it (adjtimex(2): 500
/// ppm), and it defines the nanoseconds that it returns. *Definition*.
const SLEW: f64 = 500e-6;
/// The least variance of a value. *Numerical*: a relative error of 1e-6, below the rounding of
/// reports.
const MIN_VARIANCE: f64 = 1e-12;

/// The largest logarithm of a value, so that ratios of values are finite. *Numerical*.
const MAX_LOGARITHM: f64 = 150.0;

/// A value of a timer in all runs that contain it.
pub struct TimerQuantity<'a> {
    pub timer: &'a str,
    pub quantity: &'static str,
    pub field: &'static Field,
    /// The values in the old runs and in the new runs.
    pub sides: [Vec<(&'a RunRow<'a>, Interval)>; 2],
}

/// How the costs of the clocks of a family changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FamilyChange {
    /// The way in which its clocks are read, or the runtime.
    pub family: String,
    /// Its timers in both reports; JSON contains their number.
    #[serde(serialize_with = "count")]
    pub timers: Vec<String>,
    /// The change in percent that its timers share beyond that of the machine, with its 95 % interval.
    pub percent: Interval,
    /// Whether it changed, and in which direction.
    pub verdict: ChangeVerdict,
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
    is_cost: bool,
    name: &'a str,
    /// The timers with their numbers among all candidates.
    timers: Vec<(usize, &'a TimerQuantity<'a>)>,
    estimate: Estimate,
}

/// Judges all candidates. Costs are converted to core cycles, and printed at the core frequency
/// `core_ghz` in gigahertz; in nanoseconds if it is unknown.
pub fn judge(comparison: &mut Comparison, candidates: &[TimerQuantity], core_ghz: Option<f64>) {
    let (mut families, machine) = JudgedFamily::all_of(COST, candidates, core_ghz);
    families.extend(JudgedFamily::all_of(RESOLUTION, candidates, core_ghz).0);
    comparison.machine = (machine.probability <= FALSE_ALARM).then(|| in_percent(machine.by));
    correct(&mut families);
    comparison.figures = candidates.iter().map(TimerQuantity::unjudged).collect();
    for family in families {
        let change = family.judge(core_ghz, &mut comparison.figures);
        comparison
            .families
            .extend(Some(change).filter(|_| family.is_cost));
    }
}

/// A change of a logarithm, in percent.
fn in_percent(change: Interval) -> Interval {
    change.map(|value| 100.0 * value.exp_m1())
}

/// Multiplies all probabilities by the number of questions of their kind over the share of that kind
/// (Bonferroni).
fn correct(families: &mut [JudgedFamily]) {
    let mut asked: [Vec<&mut f64>; 3] = [const { Vec::new() }; 3];
    for family in families {
        let (of_families, of_timers) = if family.is_cost { (0, 1) } else { (2, 2) };
        let Estimate { shift, changes } = &mut family.estimate;
        asked[of_families].push(&mut shift.probability);
        asked[of_timers].extend(
            changes
                .iter_mut()
                .filter_map(|change| change.probability.as_mut()),
        );
    }
    for (asked, share) in asked.into_iter().zip(SHARES) {
        let factor = asked.len() as f64 / share;
        asked
            .into_iter()
            .for_each(|probability| *probability *= factor);
    }
}

impl<'a> JudgedFamily<'a> {
    /// The families of a quantity, with their estimates, and the shift of the machine.
    fn all_of(
        quantity: &str,
        candidates: &'a [TimerQuantity<'a>],
        core_ghz: Option<f64>,
    ) -> (Vec<Self>, Shift) {
        let is_cost = quantity == COST;
        let mut groups: IndexMap<&str, Vec<(usize, &TimerQuantity, Sides)>> = IndexMap::new();
        for (at, candidate) in candidates.iter().enumerate() {
            let samples = candidate
                .samples(core_ghz)
                .filter(|_| candidate.quantity == quantity);
            let name = if is_cost {
                candidate.family()
            } else {
                candidate.timer
            };
            groups
                .entry(name)
                .or_default()
                .extend(samples.map(|samples| (at, candidate, samples)));
        }
        let (mut named, mut values) = (Vec::new(), Vec::new());
        for (name, group) in groups {
            // Of two timers that differ, neither is known to be the changed one.
            let size = if group.len() > FEW { group.len() } else { 1 };
            for part in group.chunks(size) {
                let timers = part.iter().map(|(at, timer, _)| (*at, *timer)).collect();
                named.push((if size > 1 { name } else { part[0].1.timer }, timers));
                values.push(TimerGroup {
                    family: name,
                    timers: part.iter().map(|(_, _, sides)| sides.clone()).collect(),
                });
            }
        }
        let (estimates, machine) = families::estimate(&values);
        let families = named.into_iter().zip(estimates);
        let families = families.map(|((name, timers), estimate)| Self {
            is_cost,
            name,
            timers,
            estimate,
        });
        (families.collect(), machine)
    }

    /// Judges the family and its timers by their corrected probabilities, and describes the family.
    fn judge(&self, core_ghz: Option<f64>, figures: &mut [ComparedFigure]) -> FamilyChange {
        let Estimate { shift, changes } = &self.estimate;
        let is_shifted = is_effect(Some(shift.probability), shift.by);
        let (mut own, mut unchanged) = (Vec::new(), Vec::new());
        for ((number, timer), change) in self.timers.iter().zip(changes) {
            let has_own = is_effect(change.probability, change.own);
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
                unchanged.push(timer.timer.to_owned());
            } else if is_own {
                own.push(timer.timer.to_owned());
            }
            let figure = &mut figures[*number];
            // Costs are on the scale in core cycles.
            let cycles = core_ghz.filter(|_| self.is_cost).unwrap_or(1.0);
            let [old, new] = change.sides.map(|side| side.map(|at| at.exp() / cycles));
            let share = change.total.map(f64::exp_m1);
            figure.change = FigureChange {
                old,
                new,
                difference: share.scaled(old.value),
                percent: Some(share.scaled(100.0)),
            };
            let is_changed = (is_shifted || is_own) && !is_behind && figure.matters();
            figure.verdict = verdict(is_changed, new.value < old.value);
        }
        FamilyChange {
            family: self.name.to_owned(),
            timers: self
                .timers
                .iter()
                .map(|(_, timer)| timer.timer.to_owned())
                .collect(),
            percent: in_percent(shift.by),
            verdict: verdict(is_shifted, shift.by.value < 0.0),
            limit_percent: 100.0 * (shift.by.value.abs() + shift.by.half_width()).exp_m1(),
            unchanged,
            own,
        }
    }
}

/// Whether a change of this probability is none of chance, and large enough to matter.
fn is_effect(probability: Option<f64>, change: Interval) -> bool {
    probability.is_some_and(|it| it <= FALSE_ALARM) && change.value.abs() >= MIN_SHARE
}

fn verdict(is_changed: bool, is_better: bool) -> ChangeVerdict {
    match (is_changed, is_better) {
        (false, _) => ChangeVerdict::Noise,
        (true, true) => ChangeVerdict::Better,
        (true, false) => ChangeVerdict::Worse,
    }
}

impl<'a> TimerQuantity<'a> {
    fn family(&self) -> &'a str {
        self.sides[1][0].0.clock().map_or("", family_of)
    }

    /// The state of the cores in which both sides have processes, if the quantity depends on it.
    fn state(&self) -> Option<State> {
        if self.quantity != COST {
            return Some(State::Undisturbed);
        }
        let [old, new] = self.sides.each_ref().map(|side| -> Vec<&TimerRow> {
            side.iter().filter_map(|(row, _)| row.clock()).collect()
        });
        State::common([&old, &new])
    }

    /// The values of the sides with their variances; `None` if a side has none that can be judged.
    fn samples(&self, core_ghz: Option<f64>) -> Option<Sides> {
        let state = self.state()?;
        let rows = || self.sides.iter().flatten().map(|(row, _)| row);
        let is_cost = self.quantity == COST;
        let in_cycles = core_ghz.is_some() && !rows().all(|row| row.follows_device());
        let has_processes =
            is_cost && rows().all(|row| row.cost(in_cycles, State::Undisturbed).is_some());
        let is_of_state = has_processes && state != State::Undisturbed;
        let sample = |(row, figure): &(&RunRow, Interval)| {
            let by_interval = || {
                let (low, high) = figure.ends()?;
                let value = figure.value.ln();
                let upper = high.ln() - value;
                // The logarithm has no place for a lower end at zero.
                let lower = if low > 0.0 { value - low.ln() } else { upper };
                // The kernel's adjustment of its clock moves resolutions.
                let slew = if is_cost { 0.0 } else { SLEW };
                let own = (lower.max(upper) / Z).powi(2) + slew.powi(2);
                Some(Location {
                    value,
                    own,
                    state: 0.0,
                })
            };
            let by_processes = row.cost(in_cycles, state).filter(|_| has_processes);
            // The interval of a cost includes processes in all states.
            let location = by_processes.or_else(|| by_interval().filter(|_| !is_of_state))?;
            // Times are converted to core cycles, at the common frequency where a device
            // determines them.
            let ghz = match core_ghz.filter(|_| is_cost) {
                Some(_) if in_cycles && has_processes => 1.0,
                Some(_) if in_cycles => row.core_ghz?,
                common => common.unwrap_or(1.0),
            };
            let own = location.own.max(MIN_VARIANCE);
            let value = (location.value + ghz.ln()).clamp(-MAX_LOGARITHM, MAX_LOGARITHM);
            let is_finite = location.value.is_finite() && own.is_finite();
            is_finite.then_some(Location {
                value,
                own,
                ..location
            })
        };
        let sides = self.sides.each_ref().map(|side| -> Vec<Location> {
            let many = side.iter().filter(|(row, _)| !row.is_of_single_process());
            many.filter_map(sample).collect()
        });
        let is_complete = sides.iter().zip(&self.sides).all(|(samples, side)| {
            !samples.is_empty() && (is_of_state || samples.len() == side.len())
        });
        is_complete.then_some(sides)
    }

    /// The difference between the first old and the first new run, without an interval or a
    /// judgement.
    fn unjudged(&self) -> ComparedFigure {
        let [old, new] = self.sides.each_ref().map(|side| side[0].1);
        let percent = 100.0 * (new.value / old.value - 1.0);
        let has_ratio = old.value > 0.0 && percent.is_finite();
        let mut rows = self.sides.iter().flatten();
        ComparedFigure {
            timer: self.timer.to_owned(),
            quantity: self.quantity,
            unit: self.field.unit,
            change: FigureChange {
                old,
                new,
                difference: Interval::unbounded(new.value - old.value),
                percent: has_ratio.then(|| Interval::unbounded(percent)),
            },
            verdict: ChangeVerdict::Unjudged,
            unlike_cores: self.state().is_none(),
            single_process: rows.any(|(row, _)| row.is_of_single_process()),
        }
    }
}
