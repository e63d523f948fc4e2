//! Judges all values of a comparison together, so that at most 1 % of comparisons of unchanged
//! machines report any change: by families for costs and lateness, each by itself for the rest.

use indexmap::IndexSet;
use serde::Serialize;

use super::families::{self, Changes, FEW, Member, Sample, Shared};
use super::noise::{PARTNERS, UNKNOWN_FREQUENCY, undisturbed, variances};
use super::quantity::Scale;
use super::rows::Row;
use super::{Change, Compared, Quantity, Verdict};
use crate::fields::Scatter;
use crate::model::{Following, Interval};
use crate::statistics::hypotheses::holm;
use crate::statistics::median;

/// The probability that a comparison reports a change although nothing changed. *Definition*: the
/// aim that was set.
pub(super) const FALSE_ALARM: f64 = 0.01;
/// The shares of `FALSE_ALARM` for changes of families, of the costs of single clocks, and of all
/// other values. *Judgement*: users mainly ask about costs, and most changes of costs are common to
/// a family.
const SHARES: [f64; 3] = [0.5, 0.3, 0.2];
/// A family changed as much as its changed partner if the probability of its shift is below this
/// value, and that of their difference is above it. *Definition*: convention.
const PLAUSIBLE: f64 = 0.05;
/// A family of which some timers changed is judged again if its shift is at least this many times its
/// error and the change of those timers. *Judgement*.
const CLEARLY: f64 = 2.0;

/// A quantity of a timer in all runs that contain it.
pub(super) struct Candidate<'r, 'a> {
    pub timer: String,
    pub quantity: Quantity,
    pub family: String,
    /// The values in the old runs, in the new runs and in the history.
    pub sides: [Vec<(&'r Row<'a>, Interval)>; 3],
}

/// How the timers of a family changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FamilyChange {
    /// The way in which its clocks are read, the runtime, or the kind of waits.
    pub family: String,
    /// The quantity.
    pub quantity: Quantity,
    /// The number of its timers in both reports.
    pub timers: usize,
    /// The change in percent that its timers share, with its 95 % interval; beside the partner
    /// family if there is one.
    pub percent: Interval,
    /// What each timer gained, in the unit of the quantity, if they share an amount rather than a
    /// ratio; null otherwise.
    pub addend: Option<f64>,
    /// The family beside which it changed, if the change shows only in the difference from this
    /// family; null otherwise.
    pub beside: Option<String>,
    /// Whether it changed, and in which direction.
    pub verdict: Verdict,
    /// The probability of such a shift if nothing changed, corrected for the number of questions.
    pub probability: f64,
    /// The largest change in percent that the runs allow, in either direction.
    pub limit_percent: f64,
    /// Whether the runs were restless: their processes differed much.
    pub restless: bool,
    /// If the family changed, its timers that did not.
    pub unchanged: Vec<String>,
    /// The timers with a change of their own.
    pub own: Vec<String>,
}

/// The core frequency, in gigahertz, to which costs are converted; `None` for a comparison in
/// nanoseconds.
pub(super) type CommonGigahertz = Option<f64>;

/// A group of candidates that are judged together.
struct Group<'c, 'r, 'a> {
    quantity: Quantity,
    families: IndexSet<&'c str>,
    /// Each candidate with its number among all candidates and the number of its family.
    candidates: Vec<(usize, usize, &'c Candidate<'r, 'a>)>,
    changes: Changes,
}

/// A question whose probability enters the correction for the number of questions.
#[derive(Clone, Copy)]
enum Question {
    Family(usize, usize),
    Contrast(usize, usize),
    Timer(usize, usize),
}

/// Judges all candidates. `moments` is the number of moments at which each side was measured.
pub(super) fn judge(
    candidates: &[Candidate],
    core_ghz: CommonGigahertz,
    moments: [usize; 2],
) -> (Vec<FamilyChange>, Vec<Compared>) {
    let groups: Vec<Group> = Quantity::all()
        .filter(|quantity| quantity.scatter() != Scatter::Quality)
        .map(|quantity| Group::new(quantity, candidates, core_ghz, moments))
        .collect();
    let (questions, tests) = questions(&groups);
    let probabilities = holm(&tests);
    let mut judged = Vec::new();
    let mut figures: Vec<Option<Compared>> = candidates.iter().map(Candidate::unjudged).collect();
    for (number, group) in groups.iter().enumerate() {
        let probability = |asked: &dyn Fn(Question) -> bool| {
            let at = questions.iter().position(|question| asked(*question));
            at.map_or(1.0, |at| probabilities[at])
        };
        let families = group.judge_families(
            &|family| probability(&|question| matches!(question, Question::Family(g, f) if (g, f) == (number, family))),
            &|contrast| probability(&|question| matches!(question, Question::Contrast(g, c) if (g, c) == (number, contrast))),
        );
        let timers = |timer: usize| {
            probability(
                &|question| matches!(question, Question::Timer(g, t) if (g, t) == (number, timer)),
            )
        };
        judged.extend(group.judge_timers(families, &timers, core_ghz, &mut figures));
    }
    let mut figures: Vec<Compared> = figures.into_iter().flatten().collect();
    judge_qualities(&mut figures);
    (judged, figures)
}

/// The questions with their probabilities and weights.
fn questions(groups: &[Group]) -> (Vec<Question>, Vec<(f64, f64)>) {
    let mut asked: [Vec<(Question, f64)>; 3] = [const { Vec::new() }; 3];
    for (number, group) in groups.iter().enumerate() {
        let changes = &group.changes;
        let is_cost = group.quantity == Quantity::COST;
        let (of_families, of_timers) = if is_cost { (0, 1) } else { (2, 2) };
        for (family, shift) in changes.shifts.iter().enumerate() {
            let shift = shift.map(|shift| (Question::Family(number, family), shift.probability));
            asked[of_families].extend(shift);
        }
        for (at, contrast) in changes.contrasts.iter().enumerate() {
            asked[of_families].push((Question::Contrast(number, at), contrast.probability));
        }
        for (at, change) in changes.changes.iter().enumerate() {
            let own = change.probability;
            asked[of_timers].extend(own.map(|own| (Question::Timer(number, at), own)));
        }
    }
    let mut questions = Vec::new();
    let mut tests = Vec::new();
    for (asked, share) in asked.into_iter().zip(SHARES) {
        let weight = share / asked.len().max(1) as f64;
        for (question, probability) in asked {
            questions.push(question);
            tests.push((probability, weight));
        }
    }
    (questions, tests)
}

impl<'c, 'r, 'a> Group<'c, 'r, 'a> {
    fn new(
        quantity: Quantity,
        candidates: &'c [Candidate<'r, 'a>],
        core_ghz: CommonGigahertz,
        moments: [usize; 2],
    ) -> Self {
        let judged: Vec<(usize, &Candidate, [Vec<Sample>; 3])> = candidates
            .iter()
            .enumerate()
            .filter(|(_, candidate)| candidate.quantity == quantity)
            .filter_map(|(at, candidate)| Some((at, candidate, candidate.samples(core_ghz)?)))
            .collect();
        let count = |family: &str| {
            let members = judged.iter();
            members
                .filter(|(_, other, _)| other.family == family)
                .count()
        };
        let mut families = IndexSet::new();
        let mut chosen = Vec::new();
        for (at, candidate, _) in &judged {
            // Of two timers that differ, neither is known to be the changed one.
            let shares = has_families(quantity) && count(&candidate.family) > FEW;
            let name = if shares {
                &candidate.family
            } else {
                &candidate.timer
            };
            chosen.push((*at, families.insert_full(name.as_str()).0, *candidate));
        }
        let members: Vec<Member> = judged
            .into_iter()
            .zip(&chosen)
            .map(|((_, _, sides), (_, family, _))| Member {
                family: *family,
                sides,
            })
            .collect();
        let partners: Vec<[usize; 2]> = PARTNERS
            .iter()
            .filter_map(|[a, b]| Some([families.get_index_of(a)?, families.get_index_of(b)?]))
            .collect();
        Self {
            quantity,
            changes: families::estimate(
                &members,
                families.len(),
                &partners,
                moments,
                quantity.scale() == Scale::Logarithmic,
            ),
            families,
            candidates: chosen,
        }
    }

    /// Judges the shifts of the families, given the corrected probabilities of shifts and
    /// contrasts.
    fn judge_families(
        &self,
        probability: &dyn Fn(usize) -> f64,
        of_contrast: &dyn Fn(usize) -> f64,
    ) -> Vec<FamilyShift> {
        let smallest = self.quantity.smallest_effect();
        let mut shifts: Vec<FamilyShift> = self
            .changes
            .shifts
            .iter()
            .enumerate()
            .map(|(family, shift)| {
                let shift = shift.expect("each family has a member");
                let probability = probability(family);
                FamilyShift {
                    value: shift.value,
                    half: shift.half,
                    beside: None,
                    probability,
                    is_changed: probability <= FALSE_ALARM && shift.value.abs() >= smallest,
                }
            })
            .collect();
        for (at, contrast) in self.changes.contrasts.iter().enumerate() {
            let [farther, partner] = contrast.families;
            let probability = of_contrast(at);
            let is_contrary = probability <= FALSE_ALARM && contrast.value.abs() >= smallest;
            if is_contrary && !shifts[farther].is_changed {
                shifts[farther] = FamilyShift {
                    value: contrast.value,
                    half: contrast.half,
                    beside: Some(partner),
                    probability,
                    is_changed: true,
                };
            } else if shifts[farther].is_changed && contrast.probability > PLAUSIBLE {
                // It changed as much as its partner: the same change.
                let own = self.changes.shifts[partner].map_or(1.0, |shift| shift.probability);
                shifts[partner].is_changed |= own < PLAUSIBLE;
            }
        }
        shifts
    }

    /// Judges the timers, given the corrected probabilities of their own changes, and describes the
    /// families.
    fn judge_timers(
        &self,
        mut families: Vec<FamilyShift>,
        probability: &dyn Fn(usize) -> f64,
        core_ghz: CommonGigahertz,
        figures: &mut [Option<Compared>],
    ) -> Vec<FamilyChange> {
        let smallest = self.quantity.smallest_effect();
        let changes = &self.changes.changes;
        let probabilities: Vec<f64> = (0..changes.len()).map(probability).collect();
        let mut described = Vec::new();
        for (family, found) in families.iter_mut().enumerate() {
            let shift = self.changes.shifts[family].expect("each family has a member");
            let members: Vec<usize> = (0..changes.len())
                .filter(|at| self.candidates[*at].1 == family)
                .collect();
            let own: Vec<usize> = members
                .iter()
                .copied()
                .filter(|at| {
                    probabilities[*at] <= FALSE_ALARM && changes[*at].own.abs() >= smallest
                })
                .collect();
            // In two parts, the part that is nearer to no change has not changed.
            let nearest = median(
                own.iter()
                    .map(|at| changes[*at].total.abs())
                    .collect::<Vec<f64>>(),
            );
            found.is_changed |= nearest.is_some_and(|nearest| {
                shift.value.abs() > (CLEARLY * shift.error()).max(CLEARLY * nearest)
            });
            let found = *found;
            // A timer of a changed family has not changed if it is nearer to no change than to that
            // of its family.
            let is_unchanged = |at: &usize| {
                let change = &changes[*at];
                found.is_changed
                    && if own.contains(at) {
                        change.total.abs() <= found.half.hypot(change.half)
                    } else {
                        change.total.abs() < change.own.abs()
                    }
            };
            for at in &members {
                let is_changed = (found.is_changed || own.contains(at)) && !is_unchanged(at);
                let (number, _, candidate) = self.candidates[*at];
                let probability = probabilities[*at].min(found.probability);
                figures[number] =
                    candidate.compared(&changes[*at], is_changed, probability, core_ghz);
            }
            let names = |wanted: &dyn Fn(&&usize) -> bool| -> Vec<String> {
                let wanted = members.iter().filter(wanted);
                wanted
                    .map(|at| self.candidates[*at].2.timer.clone())
                    .collect()
            };
            let percent = |value: f64| 100.0 * value.exp_m1();
            let (low, high) = (found.value - found.half, found.value + found.half);
            if has_families(self.quantity) {
                described.push(FamilyChange {
                    family: self.families[family].to_owned(),
                    quantity: self.quantity,
                    timers: members.len(),
                    percent: Interval::with_ends(
                        percent(found.value),
                        Some((percent(low), percent(high))),
                    ),
                    addend: (shift.shared == Shared::Addend).then(|| {
                        shift.addend
                            / core_ghz
                                .filter(|_| self.quantity == Quantity::COST)
                                .unwrap_or(1.0)
                    }),
                    beside: found
                        .beside
                        .map(|partner| self.families[partner].to_owned()),
                    verdict: verdict(found.is_changed, found.value < 0.0),
                    probability: found.probability,
                    limit_percent: percent(found.value.abs() + found.half),
                    restless: members
                        .iter()
                        .any(|at| self.candidates[*at].2.is_restless()),
                    unchanged: names(&|at| is_unchanged(at)),
                    own: names(&|at| own.contains(at) && !is_unchanged(at)),
                });
            }
        }
        described
    }
}

/// Whether the values of a quantity change together in families of timers.
fn has_families(quantity: Quantity) -> bool {
    matches!(quantity.scatter(), Scatter::Cost | Scatter::Lateness)
}

/// A shift of a family with its verdict.
#[derive(Clone, Copy)]
struct FamilyShift {
    value: f64,
    half: f64,
    /// The partner family if `value` is the difference from its shift.
    beside: Option<usize>,
    probability: f64,
    is_changed: bool,
}

fn verdict(is_changed: bool, is_better: bool) -> Verdict {
    match (is_changed, is_better) {
        (false, _) => Verdict::Noise,
        (true, true) => Verdict::Better,
        (true, false) => Verdict::Worse,
    }
}

impl Candidate<'_, '_> {
    /// The values of the sides with their variances; `None` if a side has none that can be judged.
    fn samples(&self, core_ghz: CommonGigahertz) -> Option<[Vec<Sample>; 3]> {
        let rows = || self.sides.iter().flatten().map(|(row, _)| row);
        let has_processes = rows().all(|row| row.process_costs(core_ghz.is_some()).is_some());
        let is_device = rows().all(|row| row.follows() == Some(Following::Device));
        let scale = self.quantity.scale();
        let sample = |(row, figure): &(&Row, Interval)| {
            let [common, own] = variances(self.quantity, &self.family, row.restless, 1.0);
            let is_cost = self.quantity == Quantity::COST;
            if !is_cost {
                let within = scale.variance(*figure, row.degrees())?;
                return Some(Sample {
                    run: row.run,
                    value: scale.apply(figure.value)?,
                    common,
                    own: own + within,
                });
            }
            // Core cycles, or nanoseconds at the common frequency where a device determines them.
            let to_cycles = match (core_ghz, is_device) {
                (Some(_), false) => row.core_ghz?,
                (Some(common), true) => common,
                (None, _) => 1.0,
            };
            let (cost, within) = if has_processes {
                let is_in_cycles = core_ghz.is_some() && !is_device;
                let costs = row.process_costs(is_in_cycles)?;
                let scale = if is_in_cycles { 1.0 } else { to_cycles };
                (undisturbed(costs)? * scale, 0.0)
            } else {
                let within = scale.variance(*figure, row.degrees())?;
                (figure.value * to_cycles, within)
            };
            let [common, own] = variances(self.quantity, &self.family, row.restless, cost);
            let frequency = if core_ghz.is_none() {
                UNKNOWN_FREQUENCY
            } else {
                0.0
            };
            Some(Sample {
                run: row.run,
                value: scale.apply(cost)?,
                common: common + frequency * frequency,
                own: own + within,
            })
        };
        let sides = self.sides.each_ref().map(|side| -> Vec<Sample> {
            let judged = side
                .iter()
                .filter(|(row, figure)| !row.is_of_single_process(*figure));
            judged.filter_map(sample).collect()
        });
        let is_complete = sides[..2]
            .iter()
            .zip(&self.sides)
            .all(|(samples, side)| !samples.is_empty() && samples.len() == side.len());
        is_complete.then_some(sides)
    }

    fn is_restless(&self) -> bool {
        let mut rows = self.sides[..2].iter().flatten();
        rows.any(|(row, _)| row.restless[0] > 0.5)
    }

    /// The difference between the first old and the first new run, without an interval or a
    /// judgement.
    fn unjudged(&self) -> Option<Compared> {
        let [old, new] = [0, 1].map(|side| self.sides[side].first());
        let ((_, old), (_, new)) = (old?, new?);
        let percent = 100.0 * (new.value / old.value - 1.0);
        let has_ratio = self.quantity.is_relative() && old.value > 0.0 && new.value > 0.0;
        let difference = if self.quantity.scatter() == Scatter::Quality {
            old.ends().zip(new.ends()).map(|(a, b)| {
                let half = [(a.0, b.1), (a.1, b.0)]
                    .map(|(of_old, of_new)| (of_old - old.value).hypot(of_new - new.value));
                let change = new.value - old.value;
                (change - half[1], change + half[0])
            })
        } else {
            None
        };
        Some(self.describe(
            Change {
                old: *old,
                new: *new,
                difference: Interval::with_ends(new.value - old.value, difference),
                percent: (has_ratio && percent.is_finite()).then(|| Interval::unbounded(percent)),
            },
            Verdict::Unjudged,
            None,
        ))
    }

    fn compared(
        &self,
        change: &families::Change,
        is_changed: bool,
        probability: f64,
        core_ghz: CommonGigahertz,
    ) -> Option<Compared> {
        let scale = self.quantity.scale();
        let unit = core_ghz
            .filter(|_| self.quantity == Quantity::COST)
            .unwrap_or(1.0);
        let [old, new] = change.sides.map(|(value, half)| {
            let [value, low, high] =
                [value, value - half, value + half].map(|at| scale.invert(at) / unit);
            Interval::with_ends(value, Some((low, high)))
        });
        let ends = [
            change.total - change.total_half,
            change.total + change.total_half,
        ];
        let (difference, percent) = match scale {
            Scale::Logarithmic => {
                let [value, low, high] = [change.total, ends[0], ends[1]].map(f64::exp_m1);
                let share = Interval::with_ends(value, Some((low, high)));
                (share.scaled(old.value), Some(share.scaled(100.0)))
            }
            _ => {
                let middle = change.sides[0].0;
                let [low, high] = ends.map(|end| scale.invert(middle + end) - old.value);
                (
                    Interval::with_ends(new.value - old.value, Some((low, high))),
                    None,
                )
            }
        };
        let matters = difference.value.abs() >= self.quantity.smallest_difference(old.value);
        let is_better = self.quantity.is_better(old.value, new.value);
        Some(self.describe(
            Change {
                old,
                new,
                difference,
                percent,
            },
            verdict(is_changed && matters, is_better),
            Some(probability),
        ))
    }

    fn describe(&self, change: Change, verdict: Verdict, probability: Option<f64>) -> Compared {
        let mut rows = self.sides[..2].iter().flatten();
        Compared {
            timer: self.timer.clone(),
            quantity: self.quantity,
            matters: change.difference.value.abs()
                >= self.quantity.smallest_difference(change.old.value),
            change,
            verdict,
            single_process: rows.any(|(row, figure)| row.is_of_single_process(*figure)),
            probability,
        }
    }
}

/// Judges the Qualities. A Quality follows from cost, resolution, spread and trust: it changes only
/// if one of these changed, and to or from 0 by a verdict on trust.
fn judge_qualities(figures: &mut [Compared]) {
    let changed = figures.iter().filter(|figure| figure.is_changed());
    let timers: Vec<String> = changed.map(|figure| figure.timer.clone()).collect();
    let qualities = figures
        .iter_mut()
        .filter(|figure| figure.quantity == Quantity::QUALITY);
    for quality in qualities {
        let [old, new] = [quality.change.old, quality.change.new];
        if !old.is_bounded() || !new.is_bounded() {
            continue;
        }
        let by_trust = (old.value == 0.0) != (new.value == 0.0);
        let is_changed = by_trust || (quality.matters && timers.contains(&quality.timer));
        quality.verdict = verdict(is_changed, new.value > old.value);
    }
}
