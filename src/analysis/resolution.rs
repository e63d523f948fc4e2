//! Accuracy: the resolution of the underlying counter as seen through the method (TimerMeter; ICPE 2011 section 2).
//!
//! Growing work between two reads makes the interval jump from one multiple of the step to the next. Three rules look
//! for the step; a rule that another contradicts gives no number, and neither does a clock that moves irregularly.

use std::collections::BTreeMap;

use crate::analysis::shape::core_moments;
use crate::analysis::statistics::{quantile, sorted};
use crate::analysis::{Estimate, lattice, spectrum};
use crate::trace::Intervals;

/// What is known besides the intervals.
#[derive(Clone, Copy, Debug, Default)]
pub struct Context {
    /// Standard deviation of single invocations, in ticks of the timer: how much of the variation of intervals the
    /// cost explains.
    pub cost_deviation: f64,
    /// How far the cheapest invocations lie below the median one, in ticks of the timer.
    pub cost_lower_width: f64,
    /// How far apart the cheapest hundredth and the cheapest tenth of the invocations end, in ticks of the timer.
    pub cost_edge: f64,
    /// Step of the reference that saw all this, in ticks of the timer: shorter variation it does not tell.
    pub reference_step: f64,
    /// Median cost of an invocation, in ticks of the timer.
    pub cost: f64,
    /// Length of a unit of work, in ticks of the timer; 0 when unknown.
    pub work_unit: f64,
}

/// What the intervals say about the step, in ticks of the timer.
#[derive(Clone, Debug, PartialEq)]
pub enum Resolution {
    /// The step.
    Resolved {
        /// Its length.
        step: Estimate,
        /// The rule that found it.
        rule: Rule,
    },
    /// The step could not be determined.
    AtMost {
        /// It is no longer than this.
        bound: f64,
        /// Why.
        reason: &'static str,
    },
    /// The timer showed the same value throughout.
    Unmoved,
}

/// Which rule found the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Intervals jump from zero to one step.
    Jump,
    /// Intervals lie on multiples of the step.
    Lattice,
    /// The intervals repeat with the step, between one and four ticks.
    Spectrum,
    /// Every tick is counted: the step is the unit itself.
    Unit,
}

impl Rule {
    /// The name of the rule in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Jump => "jump",
            Self::Lattice => "lattice",
            Self::Spectrum => "spectrum",
            Self::Unit => "unit",
        }
    }
}

/// Fewest steps from which a step longer than one tick is believed.
const FEWEST_STEPS: usize = 8;

/// Finds the step from intervals with growing and random work, and from the differences of successive readings of each
/// process (`tight`), which hold no work at all.
#[must_use]
pub fn resolve(groups: &[Intervals], tight: &[Vec<i64>], context: &Context) -> Resolution {
    let forward: Vec<Intervals> = groups
        .iter()
        .map(|group| Intervals {
            work: group.work,
            deltas: group.deltas.iter().copied().filter(|&delta| delta >= 0).collect(),
        })
        .collect();
    let mut all: Vec<i64> = forward.iter().flat_map(|group| &group.deltas).copied().collect();
    all.sort_unstable();
    if all.iter().all(|&delta| delta == 0) {
        return Resolution::Unmoved;
    }
    let at_most = |reason| Resolution::AtMost { bound: bound(&forward), reason };
    // Clocks that make readings unique never show zero, but one tick.
    let unique = !all.contains(&0);
    let jump = Jump::of(&forward, i64::from(unique));
    let lattice = lattice::find(&all).filter(|found| !follows_work(&forward, found.step, context.work_unit));
    // Of the same work again and again many a first reading was made unique: its interval is a tick too short.
    let lattice = lattice.map(|found| match found.shows_unique_readings(&all) {
        true => found.told_by(tight).unwrap_or_else(|| found.refitted(&random(&forward))),
        false => found,
    });
    match (jump, lattice) {
        (Jump::Unit, _) => unit(),
        (Jump::Uneven { longest }, _) => {
            Resolution::AtMost { bound: longest, reason: "its steps are of different lengths" }
        }
        (Jump::Step(jump), Some(found))
            if !unique && (jump.value - found.step).abs() > (0.02 * found.step).max(0.3) =>
        {
            at_most("two ways to find the step disagree")
        }
        (_, Some(found)) => resolved(found, all.len(), Rule::Lattice),
        (Jump::Step(_), None) if all.len() < groups.iter().map(|group| group.deltas.len()).sum() => {
            at_most("it steps backwards, which hides its step")
        }
        (Jump::Step(step), None) => {
            // With only zero and one step seen, other steps may still be hidden.
            if step.samples < FEWEST_STEPS {
                at_most("too few steps were seen")
            } else {
                Resolution::Resolved { step, rule: Rule::Jump }
            }
        }
        (Jump::None, None) => {
            if !counts_finely(&forward, context) {
                return at_most("it stands still for longer than its cost, and its steps fit no length");
            }
            let random = random(&forward);
            match spectrum::find(&random, context.work_unit) {
                Some(found) => resolved(found, random.len(), Rule::Spectrum),
                None if cost_explains(tight, context) => unit(),
                None => at_most("its intervals vary more than its cost explains and fit no step"),
            }
        }
    }
}

fn unit() -> Resolution {
    Resolution::Resolved { step: Estimate { value: 1.0, low: 1.0, high: 1.0, samples: 0 }, rule: Rule::Unit }
}

fn resolved(found: lattice::Lattice, samples: usize, rule: Rule) -> Resolution {
    let half = 1.96 * found.error;
    let step = Estimate { value: found.step, low: found.step - half, high: found.step + half, samples };
    Resolution::Resolved { step, rule }
}

/// Intervals with random work only, sorted: the same work again and again shows just one place of a lattice.
fn random(groups: &[Intervals]) -> Vec<i64> {
    let groups = groups.iter().filter(|group| group.deltas.len() < 4);
    let mut random: Vec<i64> = groups.flat_map(|group| &group.deltas).copied().collect();
    random.sort_unstable();
    random
}

/// Nearly all of the time lies within steps that are no longer than this. Of the longest intervals a few were interrupted.
fn longest_of(steps: &[f64]) -> f64 {
    /// The share of the time.
    const NEARLY_ALL: f64 = 0.95;
    let steps = sorted(steps);
    let kept = &steps[..steps.len() - (steps.len() / 100).max(1).min(steps.len() - 1)];
    let mut left = NEARLY_ALL * kept.iter().sum::<f64>();
    let longest = kept.iter().find(|step| {
        left -= **step;
        left <= 0.0
    });
    longest.or(kept.last()).copied().unwrap_or(f64::INFINITY)
}

/// An upper bound: intervals with the least work that moved at all crossed at least one step.
fn bound(groups: &[Intervals]) -> f64 {
    let mut moved: Vec<f64> = Vec::new();
    for deltas in by_amount(groups).into_values() {
        moved.extend(deltas.into_iter().filter(|&delta| delta > 0).map(|delta| delta as f64));
        if moved.len() >= 20 {
            break;
        }
    }
    quantile(&sorted(&moved), 0.95).unwrap_or(f64::INFINITY)
}

/// All intervals of each amount of work, the least work first.
fn by_amount(groups: &[Intervals]) -> BTreeMap<u64, Vec<i64>> {
    let mut amounts = BTreeMap::<u64, Vec<i64>>::new();
    for group in groups {
        amounts.entry(group.work).or_default().extend(&group.deltas);
    }
    amounts
}

/// Whether a lattice is that of the work and not of the counter: its step is the length of a unit of work, and with the
/// amount of work held fixed the intervals do not jump by it.
fn follows_work(groups: &[Intervals], step: f64, work_unit: f64) -> bool {
    if work_unit <= 0.0 {
        return false;
    }
    let ratio = step / work_unit;
    let multiple = ratio.round().max(1.0);
    if multiple > 2.0 || (ratio / multiple - 1.0).abs() > 0.03 {
        return false;
    }
    let (mut jumps, mut pairs) = (0, 0);
    for group in groups {
        for pair in group.deltas.windows(2) {
            pairs += 1;
            jumps += usize::from(((pair[1] - pair[0]).abs() as f64 / step - 1.0).abs() < 0.3);
        }
    }
    pairs == 0 || (jumps as f64) < 0.02 * pairs as f64
}

/// What the jumps from zero say.
enum Jump {
    /// Intervals are hardly ever zero: the work is never shorter than a step.
    None,
    /// Steps of one tick.
    Unit,
    /// Steps of equal length.
    Step(Estimate),
    /// Steps of different lengths.
    Uneven {
        /// Nearly all of the time lies within steps that are no longer.
        longest: f64,
    },
}

impl Jump {
    /// From the intervals with so little work that many of them show no more than `zero`.
    fn of(groups: &[Intervals], zero: i64) -> Self {
        let (mut steps, mut pool) = (Vec::new(), Vec::new());
        for deltas in by_amount(groups).into_values() {
            pool.extend(deltas);
            if pool.len() < 16 {
                continue;
            }
            let still = pool.iter().filter(|&&delta| delta <= zero).count();
            if 5 * still < 2 * pool.len() {
                break;
            }
            steps.extend(pool.drain(..).filter(|&delta| delta > zero).map(|delta| delta as f64));
        }
        match quantile(&sorted(&steps), 0.5) {
            Some(typical) if zero == 0 || typical > 3.0 => Self::judge(&steps, typical),
            _ => Self::None,
        }
    }

    fn judge(steps: &[f64], typical: f64) -> Self {
        let count = steps.len() as f64;
        let ones = steps.iter().filter(|&&step| step == 1.0).count() as f64;
        let twos = steps.iter().filter(|&&step| step == 2.0).count() as f64;
        // A counter of one to two ticks a step shows one or two ticks; longer intervals are interruptions.
        if ones >= 2.0 && ones >= 0.5 * count && twos <= 0.05 * (ones + twos) {
            return Self::Unit;
        }
        if typical < lattice::SHORTEST {
            // So short that neighbouring values are all that truncation can make of one step.
            let (low, high) = (typical.floor() - 1.0, typical.ceil() + 1.0);
            let mean = steps.iter().sum::<f64>() / count;
            let near = steps
                .iter()
                .filter(|step| (low..=high).contains(*step) && (**step - mean).abs() < 1.0)
                .count();
            return if near as f64 >= 0.95 * count {
                Self::mean_of(steps, typical)
            } else {
                Self::uneven(steps)
            };
        }
        let reach = lattice::tolerance(typical);
        let fits = steps.iter().filter(|step| {
            let multiple = (**step / typical).round().max(1.0);
            (**step - multiple * typical).abs() <= reach * multiple.sqrt() + 0.5
        });
        if fits.count() as f64 >= 0.9 * count { Self::mean_of(steps, typical) } else { Self::uneven(steps) }
    }

    fn uneven(steps: &[f64]) -> Self {
        Self::Uneven { longest: longest_of(steps) }
    }

    /// The mean of the steps, those of several steps in one included.
    fn mean_of(steps: &[f64], typical: f64) -> Self {
        let multiple = |step: f64| (step / typical).round().max(1.0);
        let fits =
            |step: &&f64| (**step - multiple(**step) * typical).abs() <= 1.5 * lattice::tolerance(typical);
        let kept: Vec<f64> = steps.iter().filter(fits).copied().collect();
        let multiples: f64 = kept.iter().map(|&step| multiple(step)).sum();
        let value = kept.iter().sum::<f64>() / multiples;
        let residual = kept.iter().map(|&step| (step - multiple(step) * value).powi(2)).sum::<f64>();
        let half = 1.96 * residual.sqrt() / multiples;
        Self::Step(Estimate { value, low: value - half, high: value + half, samples: kept.len() })
    }
}

/// Whether the timer moves nearly as finely as its ticks: it does not show zero where the read alone takes ticks, and it
/// keeps up with the work, which a clock that merely makes its readings unique does not.
fn counts_finely(groups: &[Intervals], context: &Context) -> bool {
    let deltas = || groups.iter().flat_map(|group| &group.deltas);
    let all = deltas().count() as f64;
    let zeros = deltas().filter(|&&delta| delta == 0).count() as f64;
    let stood_still = context.cost >= 6.0 && zeros > 0.005 * all;
    let work: f64 = groups.iter().map(|group| group.work as f64 * group.deltas.len() as f64).sum();
    let ticks: f64 = deltas().map(|&delta| delta as f64).sum();
    !stood_still && ticks >= 0.3 * (work * context.work_unit + all * context.cost)
}

/// Whether successive readings vary no more than truncation and the cost of the read explain, around the middle and
/// towards the cheapest reads.
fn cost_explains(tight: &[Vec<i64>], context: &Context) -> bool {
    let typical = |figures: Vec<f64>| quantile(&sorted(&figures), 0.5);
    let deviation =
        typical(tight.iter().filter_map(|deltas| Some(core_moments(deltas, 1.0)?[0].sqrt())).collect());
    let between = |low: f64, high: f64| {
        let width = |deltas: &Vec<i64>| {
            let sorted = sorted(&deltas.iter().map(|&delta| delta as f64).collect::<Vec<_>>());
            Some(quantile(&sorted, high)? - quantile(&sorted, low)?)
        };
        typical(tight.iter().filter_map(width).collect())
    };
    let explained = |seen: Option<f64>, by: f64, truncation: f64| {
        seen.is_some_and(|seen| seen <= truncation + by + 0.25 * context.reference_step)
    };
    explained(deviation, 1.5 * context.cost_deviation, 1.0)
        && explained(between(0.02, 0.5), 1.2 * context.cost_lower_width, 2.0)
        && explained(between(0.01, 0.1), 1.3 * context.cost_edge, 2.0)
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;

    /// A counter that moves by 26 ticks at once and returns one more when it did not move since the last read, as that of
    /// AMD's CPUs does; a read takes 23 ticks, the way from one interval to the next 3.
    fn unique(seed: u64) -> Vec<Intervals> {
        let mut random = StdRng::seed_from_u64(seed);
        let (mut now, mut last) = (random.random_range(0..26_i64), 0);
        let mut read = |passed: i64| {
            now += passed;
            last = if now / 26 * 26 > last { now / 26 * 26 } else { last + 1 };
            last
        };
        let mut groups: Vec<Intervals> = (0..2_000)
            .map(|at| {
                let work = at * 7 % 12;
                let first = read(40);
                Intervals { work, deltas: vec![read(23 + 5 * work as i64) - first].into() }
            })
            .collect();
        let again = (0..2_000).map(|_| {
            let first = read(4);
            read(23) - first
        });
        groups.push(Intervals { work: 0, deltas: again.collect::<Vec<_>>().into() });
        groups
    }

    #[test]
    fn readings_made_unique_do_not_shorten_the_step() {
        for seed in 0..20 {
            match resolve(&unique(seed), &[], &Context::default()) {
                Resolution::Resolved { step, .. } => {
                    assert!((step.value / 26.0 - 1.0).abs() < 1e-3, "{seed}: {step:?}");
                    assert!(step.low <= 26.0 && 26.0 <= step.high, "{seed}: {step:?}");
                }
                other => panic!("{seed}: {other:?}"),
            }
        }
    }

    /// Successive readings of a counter that moves by `step` and makes readings unique; a read takes `cost` and a random rest,
    /// three in a thousand are interrupted for 20 µs and more.
    fn successive(step: f64, cost: f64, seed: u64) -> Vec<i64> {
        let mut random = StdRng::seed_from_u64(seed);
        let (mut now, mut last) = (0.0, -1);
        let readings: Vec<i64> = (0..5_000)
            .map(|_| {
                let interrupted = random.random_bool(0.003);
                now += cost
                    + random.random_range(0.0..2.0)
                    + if interrupted { random.random_range(2e4..2e5) } else { 0.0 };
                let shown = ((now / step).floor() * step).floor() as i64;
                last = if shown > last { shown } else { last + 1 };
                last
            })
            .collect();
        readings.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }

    #[test]
    fn successive_readings_tell_the_step_of_unique_ones() {
        for (step, cost) in [(26.0, 23.0), (26.05, 9.0), (26.05, 31.0), (1_000.0, 30.0), (1_000.0, 38.0)] {
            let series: Vec<Vec<i64>> = (0..10).map(|seed| successive(step, cost, seed)).collect();
            // Known to two digits.
            let roughly = lattice::Lattice { step: 0.997 * step, error: 0.003 * step };
            let found = roughly.told_by(&series).expect("there are many steps");
            let off = (found.step - step).abs();
            assert!(off <= 3.0 * found.error && off < 3e-4 * step, "{step} by {cost}: {found:?}");
        }
    }

    #[test]
    fn the_bound_of_uneven_steps_is_that_of_long_ones() {
        // Time of a thread that the kernel adds up once in 4 ms, and whenever somebody asks it to; one interval is interrupted.
        let lengths = [4_000, 60, 3_900, 250, 1_100, 90, 4_000, 630, 2_200, 3_000];
        let mut groups: Vec<Intervals> = (0..4_000)
            .map(|at| Intervals {
                work: at % 50,
                deltas: vec![if at % 40 == 0 { lengths[at as usize / 40 % 10] } else { 0 }].into(),
            })
            .collect();
        groups[77].deltas[0] = 250_000;
        // Much work crosses many steps.
        groups.extend(
            (0..900).map(|at| Intervals { work: 9_000 + at, deltas: vec![20_000 + 60 * at as i64].into() }),
        );
        match resolve(&groups, &[], &Context::default()) {
            Resolution::AtMost { bound, .. } => assert_eq!(bound, 4_000.0),
            other => panic!("{other:?}"),
        }
    }
}
