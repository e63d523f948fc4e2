//! Judges all values of a comparison together, so that at most 1 % of comparisons of unchanged
//! machines report any change: costs by families, resolutions each by itself. All other values are
//! shown only.

use indexmap::IndexMap;
use serde::{Serialize, Serializer};

use super::families::{self, Estimate, FEW, Sides, TimerGroup};
use super::rows::RunRow;
use super::scatter::{Location, family_of};
use super::{COST, ChangeVerdict, ComparedFigure, Comparison, FigureChange, MIN_SHARE, RESOLUTION};
use crate::fields::Field;
use crate::model::{Interval, State, TimerRow};
use crate::statistics::Z;

/// The probability that a comparison reports a change although nothing changed. *Definition*: the
/// aim that was set.
pub const FALSE_ALARM: f64 = 0.01;
/// The quantities that are judged, with the shares of `FALSE_ALARM` for changes of families and of
/// single timers; within a share all questions count alike (Bonferroni). *Judgement*: users mainly ask
/// about costs, and most changes of costs are common to a family.
const SHARES: [(&str, [f64; 2]); 2] = [(COST, [0.6, 0.3]), (RESOLUTION, [0.1, 0.0])];
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

/// Judges all candidates. Costs are converted to core cycles, and printed at the core frequency
/// `core_ghz` in gigahertz; in nanoseconds if it is unknown.
pub fn judge(comparison: &mut Comparison, candidates: &[TimerQuantity], core_ghz: Option<f64>) {
    comparison.figures = candidates.iter().map(TimerQuantity::unjudged).collect();
    for (quantity, shares) in SHARES {
        let groups = groups_of(quantity, candidates, core_ghz);
        let (estimates, machine) = families::estimate(&groups);
        let sizes = || groups.iter().map(|group| group.timers.len());
        let asked = [groups.len(), sizes().filter(|size| *size > FEW).sum()];
        let limits = [0, 1].map(|at| FALSE_ALARM * shares[at] / asked[at] as f64);
        let is_cost = quantity == COST;
        if is_cost && machine.probability <= FALSE_ALARM {
            comparison.machine = Some(in_percent(machine.by));
        }
        // Costs are on the scale in core cycles.
        let cycles = core_ghz.filter(|_| is_cost).unwrap_or(1.0);
        for (group, estimate) in groups.iter().zip(estimates) {
            let change = judge_family(group, &estimate, limits, cycles, &mut comparison.figures);
            comparison.families.extend(Some(change).filter(|_| is_cost));
        }
    }
}

/// A change of a logarithm, in percent.
fn in_percent(change: Interval) -> Interval {
    change.map(|value| 100.0 * value.exp_m1())
}

/// The families of a quantity.
fn groups_of<'a>(
    quantity: &str,
    candidates: &'a [TimerQuantity],
    core_ghz: Option<f64>,
) -> Vec<TimerGroup<'a>> {
    let mut groups: IndexMap<&str, Vec<(usize, Sides)>> = IndexMap::new();
    for (at, candidate) in candidates.iter().enumerate() {
        let samples = candidate
            .samples(core_ghz)
            .filter(|_| candidate.quantity == quantity);
        let name = if quantity == COST {
            candidate.family()
        } else {
            candidate.timer
        };
        groups
            .entry(name)
            .or_default()
            .extend(samples.map(|samples| (at, samples)));
    }
    let mut parts = Vec::new();
    for (family, group) in groups {
        // Of two timers that differ, neither is known to be the changed one.
        let size = if group.len() > FEW { group.len() } else { 1 };
        for timers in group.chunks(size) {
            let name = if size > 1 {
                family
            } else {
                candidates[timers[0].0].timer
            };
            parts.push(TimerGroup {
                family,
                name,
                timers: timers.to_vec(),
            });
        }
    }
    parts
}

/// Judges a family and its timers by the limits of probabilities, and describes the family.
fn judge_family(
    group: &TimerGroup,
    Estimate { shift, changes }: &Estimate,
    limits: [f64; 2],
    cycles: f64,
    figures: &mut [ComparedFigure],
) -> FamilyChange {
    let is_effect = |probability: f64, change: Interval, limit: f64| {
        probability <= limit && change.value.abs() >= MIN_SHARE
    };
    let is_shifted = is_effect(shift.probability, shift.by, limits[0]);
    let mut family = FamilyChange {
        family: group.name.to_owned(),
        timers: Vec::new(),
        percent: in_percent(shift.by),
        verdict: verdict(is_shifted, shift.by.value < 0.0),
        limit_percent: 100.0 * (shift.by.value.abs() + shift.by.half_width()).exp_m1(),
        unchanged: Vec::new(),
        own: Vec::new(),
    };
    for ((number, _), change) in group.timers.iter().zip(changes) {
        let figure = &mut figures[*number];
        let has_own = is_effect(change.probability, change.own, limits[1]);
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
        family.timers.push(figure.timer.clone());
        if is_behind {
            family.unchanged.push(figure.timer.clone());
        } else if is_own {
            family.own.push(figure.timer.clone());
        }
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
    family
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
