//! Finds the step from *jumps*: with so little work that many intervals are zero, each positive
//! interval is one step.

use std::collections::BTreeMap;

use super::{EQUAL_STEP_TOLERANCE, INTERRUPTED_SHARE, MIN_POOL_INTERVALS, MIN_STEPS};
use crate::model::Estimate;
use crate::resolution::lattice::{self, Lattice};
use crate::statistics::{Z, mean, quantile, sorted, variance};
use crate::trace::Differences;

/// The steps that the jumps from zero show.
pub enum Jump {
    /// No jumps are known, because too few intervals are zero.
    None,
    /// Steps of one tick.
    Unit {
        /// The longest step that the observations do not exclude, in ticks.
        longest: f64,
    },
    /// Steps of equal length.
    Step(
        /// The length of the step, in ticks.
        Estimate,
        /// The number of observed steps.
        usize,
    ),
    /// Steps of different lengths.
    Uneven {
        /// Steps up to this length, in ticks, cover nearly all of the time.
        longest: f64,
    },
}

impl Jump {
    /// Analyses intervals with so little work that many of them are zero. `zero` is the longest
    /// interval that counts as zero: 0, or 1 for clocks that make readings unique. `found` is the
    /// lattice of all intervals, if there is one. `reading_differences` are the differences of
    /// successive readings of each process, which contain no work.
    pub fn from_groups(
        groups: &[Differences],
        zero: i64,
        found: Option<Lattice>,
        reading_differences: &[Vec<i64>],
    ) -> Self {
        /// The least share of zero intervals in a pool, as a fraction, at which the other intervals
        /// of the pool are single steps. *Judgement*.
        const MIN_ZERO_SHARE: (usize, usize) = (2, 5);
        let (mut steps, mut shares, mut pool) = (Vec::new(), Vec::new(), Vec::new());
        for deltas in group_by_work(groups).into_values() {
            pool.extend(deltas);
            if pool.len() < MIN_POOL_INTERVALS {
                continue;
            }
            let zeros = pool.iter().filter(|&&delta| delta <= zero).count();
            if MIN_ZERO_SHARE.1 * zeros < MIN_ZERO_SHARE.0 * pool.len() {
                break;
            }
            let share = 1.0 - zeros as f64 / pool.len() as f64;
            let jumps = pool.drain(..).filter(|&delta| delta > zero);
            steps.extend(jumps.map(|delta| delta as f64));
            shares.resize(steps.len(), share);
        }
        match quantile(&sorted(&steps), 0.5) {
            // Unique readings alone cause intervals of one or two ticks.
            Some(typical) if zero == 0 || typical >= lattice::MIN_STEP_TICKS => {
                match (
                    Self::classify(&steps, &shares, typical, reading_differences),
                    found,
                ) {
                    // If some reads take longer than others by several steps, the median jump is
                    // several steps long. A lattice that explains the jumps gives the length of one
                    // step.
                    (Self::Uneven { .. }, Some(found)) if lattice_explains(found.step, &steps) => {
                        Self::from_multiples(&steps, found.step)
                    }
                    (classified, _) => classified,
                }
            }
            // Successive readings show steps of one unit, too, if many of them are equal.
            None if found.is_none() => {
                let all = || reading_differences.iter().flatten();
                let moved = all().filter(|&&delta| delta > zero);
                let moved: Vec<f64> = moved.map(|&delta| delta as f64).collect();
                let zeros = all().count() - moved.len();
                let has_zeros = MIN_ZERO_SHARE.1 * zeros >= MIN_ZERO_SHARE.0 * all().count();
                let typical = quantile(&sorted(&moved), 0.5).filter(|_| has_zeros && zero == 0);
                match typical
                    .map(|typical| Self::classify(&moved, &[], typical, reading_differences))
                {
                    Some(unit @ Self::Unit { .. }) => unit,
                    _ => Self::None,
                }
            }
            _ => Self::None,
        }
    }

    /// Decides between one tick, equal steps and different steps; `typical` is the median jump, `shares` are
    /// those of jumps among the intervals with as much work as each.
    fn classify(
        steps: &[f64],
        shares: &[f64],
        typical: f64,
        reading_differences: &[Vec<i64>],
    ) -> Self {
        let count = steps.len() as f64;
        let consistent = (1.0 - INTERRUPTED_SHARE) * count;
        let [ones, twos] =
            [1.0, 2.0].map(|length| steps.iter().filter(|step| **step == length).count() as f64);
        let usual = ones + twos;
        // A counter with steps of one to two ticks jumps by one or two ticks; longer jumps are due
        // to interruptions. So does one with steps of one tick whose edges are moved, as in browsers.
        let single = MeanJump::of_neighbours(steps);
        let agrees = single.agrees_with(reading_differences);
        let moved = evidence_of_moved_edges(steps, shares);
        let are_edges_moved = usual >= consistent
            && match agrees {
                Some(agrees) => !agrees || moved > DECISIVE,
                None => moved > -DECISIVE,
            };
        if 2.0 * ones >= count && (are_edges_moved || twos <= INTERRUPTED_SHARE * usual) {
            let share = Estimate::exact(twos / usual).with_counting_error(usual);
            return Self::Unit {
                longest: 1.0 + share.high,
            };
        }
        let is_short = typical < lattice::MIN_STEP_TICKS;
        if is_short && single.count >= consistent && agrees != Some(false) {
            return Self::Step(single.interval(), single.count as usize);
        }
        let mean = steps.iter().sum::<f64>() / count;
        let fits = |step: &&f64| match is_short {
            // A part of the jumps is longer, because of interruptions or slow calls.
            true => {
                (typical.floor() - 1.0..=typical.ceil() + 1.0).contains(*step)
                    && (**step - mean).abs() < 1.0
            }
            false => {
                let multiple = (**step / typical).round().max(1.0);
                (**step - multiple * typical).abs()
                    <= lattice::tolerance(typical) * multiple.sqrt() + 0.5
            }
        };
        match steps.iter().filter(fits).count() as f64 >= consistent {
            true => Self::from_multiples(steps, typical),
            false => Self::Uneven {
                longest: longest_typical_step(steps),
            },
        }
    }

    /// Estimates the step as the mean of the jumps, where a jump may be several steps of about
    /// `typical` ticks.
    fn from_multiples(steps: &[f64], typical: f64) -> Self {
        let multiple = |step: f64| (step / typical).round().max(1.0);
        let fits = |step: &&f64| {
            (**step - multiple(**step) * typical).abs() <= 1.5 * lattice::tolerance(typical)
        };
        let kept: Vec<f64> = steps.iter().filter(fits).copied().collect();
        let multiples: f64 = kept.iter().map(|&step| multiple(step)).sum();
        let value = kept.iter().sum::<f64>() / multiples;
        let residual = kept
            .iter()
            .map(|&step| (step - multiple(step) * value).powi(2))
            .sum::<f64>();
        let half = Z * residual.sqrt() / multiples;
        Self::Step(Estimate::around(value, half), kept.len())
    }
}

/// The evidence that decides, in nats. *Chance*: odds of 20.
const DECISIVE: f64 = 3.0;

/// The mean of jumps of a counter whose step is a few ticks. Truncation gives each jump one of two
/// neighbouring lengths, in proportions by which the mean is the step.
struct MeanJump {
    /// The mean, in ticks.
    mean: f64,
    /// Number of jumps of one step.
    count: f64,
    /// Share of longer jumps, which contain interruptions. About as many may be hidden among the
    /// jumps of one step.
    interrupted: f64,
}

impl MeanJump {
    /// Takes the two neighbouring lengths that most jumps have.
    fn of_neighbours(steps: &[f64]) -> Self {
        let count = |length: f64| steps.iter().filter(|&&step| step == length).count() as f64;
        let pair = [1.0, 2.0, 3.0, 4.0]
            .map(|short| (short, count(short), count(short + 1.0)))
            .into_iter()
            .max_by(|a, b| (a.1 + a.2).total_cmp(&(b.1 + b.2)));
        let (short, shorter, longer) = pair.unwrap_or((1.0, 0.0, 0.0));
        let count = shorter + longer;
        let interrupted = steps.iter().filter(|&&step| step > short + 1.0).count() as f64;
        Self {
            mean: short + longer / count.max(1.0),
            count,
            interrupted: interrupted / count.max(1.0),
        }
    }

    /// Returns the step with its 95 % interval.
    fn interval(&self) -> Estimate {
        let fraction = self.mean.fract();
        let half = Z * (fraction * (1.0 - fraction) / self.count).sqrt();
        Estimate {
            value: self.mean,
            low: self.mean - half - self.interrupted,
            high: self.mean + half,
        }
    }

    /// Returns whether successive readings move as by steps of the mean length: any number *m* of
    /// consecutive jumps is the mean times *m*, truncated. If calls that take longer than a step
    /// caused the longer jumps, these would come at random. `None` if the readings do not hold
    /// enough jumps to tell: a step is then so long that hardly any call lasts longer.
    fn agrees_with(&self, reading_differences: &[Vec<i64>]) -> Option<bool> {
        /// Number of consecutive jumps. *Judgement*: interruptions of a step are rarer.
        const CONSECUTIVE_JUMPS: usize = 24;
        /// The largest variance of the sums, relative to that of sums of random jumps, and the
        /// least limit, in squared ticks. *Computed*: a truncated sum has a variance up to 0.25.
        const MAX_VARIANCE: (f64, f64) = (0.5, 0.3);
        let longest = self.mean.floor() as i64 + 1;
        let mut sums = Vec::new();
        for differences in reading_differences {
            let jumps: Vec<i64> = differences.iter().copied().filter(|&d| d > 0).collect();
            // Longer jumps contain an interruption.
            for jumps in jumps.split(|&jump| jump > longest) {
                let sums_of_jumps = jumps.chunks_exact(CONSECUTIVE_JUMPS);
                sums.extend(sums_of_jumps.map(|jumps| jumps.iter().sum::<i64>() as f64));
            }
        }
        let centre = mean(&sums).filter(|_| sums.len() >= MIN_STEPS)?;
        let of_readings = centre / CONSECUTIVE_JUMPS as f64;
        let interval = self.interval();
        let half = interval.half_width() + EQUAL_STEP_TOLERANCE.0 * self.mean;
        let fraction = of_readings.fract();
        let random = CONSECUTIVE_JUMPS as f64 * fraction * (1.0 - fraction);
        let most = (MAX_VARIANCE.0 * random).max(MAX_VARIANCE.1);
        Some((of_readings - self.mean).abs() <= half && variance(&sums)? <= most)
    }
}

/// Returns how much more probable, in nats, jumps of one and of two ticks are if the edges of steps of one
/// tick are moved at random, as in browsers, than if steps are longer. Two moved edges may be near each
/// other: an interval contains the second as much more often as it contains any. `shares` are those of
/// intervals that contain any.
fn evidence_of_moved_edges(steps: &[f64], shares: &[f64]) -> f64 {
    let jumps = || steps.iter().zip(shares).filter(|(step, _)| **step <= 2.0);
    let twos = jumps().filter(|(step, _)| **step == 2.0).count() as f64;
    let usual = jumps().count() as f64;
    let per_share = twos / jumps().map(|(_, share)| share).sum::<f64>();
    let evidence = |(step, share): (&f64, &f64)| match *step == 2.0 {
        true => (per_share * share * usual / twos).ln(),
        false => ((1.0 - per_share * share).max(f64::EPSILON) / (1.0 - twos / usual)).ln(),
    };
    jumps().map(evidence).sum()
}

/// Returns whether the jumps lie on the lattice of this step, and not by chance: most are multiples
/// of the step, some are single steps (if `step` were a divisor of the true step, there would be
/// none), and the step is long, so that jumps of an irregular clock would also fall between multiples.
fn lattice_explains(step: f64, steps: &[f64]) -> bool {
    let reach = lattice::tolerance(step);
    let (mut multiples, mut single) = (0.0, 0.0);
    for length in steps {
        let multiple = (length / step).round();
        if multiple >= 1.0 && (length - multiple * step).abs() <= reach {
            multiples += 1.0;
            single += f64::from(u8::from(multiple == 1.0));
        }
    }
    let count = steps.len() as f64;
    step >= lattice::MIN_LONG_STEP
        && multiples >= (1.0 - INTERRUPTED_SHARE) * count
        && single >= INTERRUPTED_SHARE * count
}

/// Returns the length, in ticks, up to which steps cover nearly all of the time. The longest 1 % of
/// the steps are left out, because they may be interrupted.
fn longest_typical_step(steps: &[f64]) -> f64 {
    let steps = sorted(steps);
    let kept = &steps[..steps.len() - (steps.len() / 100).max(1).min(steps.len() - 1)];
    let mut remaining = (1.0 - INTERRUPTED_SHARE) * kept.iter().sum::<f64>();
    kept.iter()
        .find(|step| {
            remaining -= **step;
            remaining <= 0.0
        })
        .or(kept.last())
        .copied()
        .unwrap_or(f64::INFINITY)
}

/// Groups the intervals by amount of work, the least work first.
pub fn group_by_work(groups: &[Differences]) -> BTreeMap<u64, Vec<i64>> {
    let mut amounts = BTreeMap::<u64, Vec<i64>>::new();
    for group in groups {
        amounts.entry(group.work).or_default().extend(&group.deltas);
    }
    amounts
}
