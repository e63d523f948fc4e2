//! Differences that show steps of a few units, and the evidence that they hold for each.

use std::collections::BTreeMap;

use super::lattice::{self, densest};
use super::readings::MAX_STEP;
use super::{INTERRUPTED_SHARE, MIN_REPEATED_INTERVALS};
use crate::model::Estimate;
use crate::statistics::{Z, sorted, variance};
use crate::trace::Differences;

/// The number of parts that a set of intervals is divided into. *Judgement*.
pub const PARTS: usize = 32;

/// The least evidence for a step, as a share of what its intervals hold on average. *Judgement*:
/// durations that do not vary evenly reduce it to about half.
pub const MIN_EVIDENCE_SHARE: f64 = 0.3;

/// Differences whose durations vary by several steps.
pub struct VaryingIntervals {
    /// The distinct intervals with their weights, in ascending order.
    pub counted: Vec<(f64, f64)>,
    /// The intervals with their weights, by amount of work.
    parts: Vec<Vec<(f64, f64)>>,
}

impl VaryingIntervals {
    /// Takes intervals with random work, and the differences of successive readings of processes in
    /// which these vary enough. `None` if all together vary too little, or are too long.
    pub fn of(groups: &[Differences], reading_differences: &[Vec<i64>]) -> Option<Self> {
        /// The longest intervals, and the width of the window that they are taken from, in units.
        /// *Numerical*.
        const MAX_INTERVAL: f64 = 30_000.0;
        const WINDOW: f64 = 1_024.0;
        let mut points: Vec<(f64, f64)> = groups
            .iter()
            .filter(|group| !is_repeated(group))
            .flat_map(points_of)
            .collect();
        let varied = reading_differences.iter().filter(|differences| {
            let mut differences = (*differences).clone();
            differences.sort_unstable();
            let counts = differences
                .chunk_by(|a, b| a == b)
                .map(|same| same.len() as f64);
            effective_number(counts) >= MIN_DISTINCT
        });
        for differences in varied {
            let numbered = differences.iter().enumerate();
            points.extend(numbered.map(|(at, &difference)| (at as f64, difference as f64)));
        }
        points.retain(|point| point.1 >= 0.0);
        let mut points = with_weights(points);
        points.sort_by(|a, b| a.1.total_cmp(&b.1));
        let equal = points.chunk_by(|a, b| a.1 == b.1);
        let counted: Vec<(f64, f64)> = equal
            .map(|same| (same[0].1, same.iter().map(|point| point.2).sum()))
            .collect();
        let counted = densest(&counted, WINDOW, 0).to_vec();
        let (first, last) = (counted.first()?.0, counted.last()?.0);
        let mut parts = vec![Vec::new(); PARTS];
        for (work, interval, weight) in points {
            if (first..=last).contains(&interval) {
                parts[(work % PARTS as f64) as usize].push((interval, weight));
            }
        }
        let effective = effective_number(counted.iter().map(|(_, weight)| *weight));
        (effective >= MIN_DISTINCT && last <= MAX_INTERVAL).then_some(Self { counted, parts })
    }

    /// Returns the evidence for a step, in nats.
    pub fn evidence(&self, step: f64) -> f64 {
        EvidenceTable::of(step).evidence_of(&self.counted, step)
    }

    /// Returns the evidence that the intervals of a counter with this step hold on average.
    pub fn expected(&self, step: f64) -> f64 {
        EvidenceTable::of(step).mean() * self.counted.iter().map(|(_, weight)| weight).sum::<f64>()
    }

    /// Returns the evidence for a step against another step, or one unit, in standard errors of its
    /// sum over the parts. Differences with equal work are not independent.
    pub fn significance(&self, step: f64, other: Option<f64>) -> f64 {
        let (table, other) = (
            EvidenceTable::of(step),
            other.map(|other| (EvidenceTable::of(other), other)),
        );
        let evidence = |&(value, weight): &(f64, f64)| {
            let of_other = other
                .as_ref()
                .map(|(table, other)| table.evidence(value / other));
            weight * (table.evidence(value / step) - of_other.unwrap_or(0.0))
        };
        let sums: Vec<f64> = self
            .parts
            .iter()
            .map(|part| part.iter().map(evidence).sum())
            .collect();
        let error = (variance(&sums).unwrap_or(f64::INFINITY) * PARTS as f64).sqrt();
        sums.iter().sum::<f64>() / error.max(f64::MIN_POSITIVE)
    }

    /// The longest interval, in units.
    pub fn longest(&self) -> f64 {
        self.counted.last().map_or(1.0, |(value, _)| value.max(1.0))
    }

    /// Returns the most probable step near this one with its 95 % interval: that of a line, because the
    /// durations of reads and work do not bias it.
    pub fn step_near(&self, step: f64) -> Estimate {
        let probable = self.interval_near(step);
        // Of shorter steps, intervals may be counted as one step too many or too few.
        let line = lattice::fit(&[&self.counted], probable.value, Some(MAX_STEP));
        match line.filter(|line| line.step >= 2.0) {
            Some(line) => Estimate::around(line.step, Z * line.error),
            None => probable,
        }
    }

    /// Returns the most probable step near this one. The interval holds the steps that are nearly as
    /// probable.
    pub fn interval_near(&self, step: f64) -> Estimate {
        /// The difference of evidence at the ends of an interval, in nats. *Judgement*: 2 for
        /// independent intervals.
        const REACH: f64 = 3.0;
        /// The number of tested steps on each side. *Numerical*.
        const TESTED: i32 = 120;
        /// The change of the longest interval, in steps, from one of them to the next. *Numerical*.
        const FINE_STRIDE: f64 = 0.004;
        let tested: Vec<(f64, f64)> = (-TESTED..=TESTED)
            .map(|at| {
                let step = 1.0 / (1.0 / step + f64::from(at) * FINE_STRIDE / self.longest());
                (step, self.evidence(step))
            })
            .collect();
        let best = tested.iter().fold(
            tested[0],
            |best, found| {
                if found.1 > best.1 { *found } else { best }
            },
        );
        let probable = tested.iter().filter(|found| found.1 >= best.1 - REACH);
        Estimate::exact(best.0).widened(probable.map(|found| found.0))
    }
}

/// The least effective number of distinct intervals. *Judgement*: two of the longest steps.
const MIN_DISTINCT: f64 = 10.0;

/// Adds weights, so that no bin of similar intervals holds more than a small part of all weights.
/// Reads without work, or with little, take the same time so often that their intervals show this
/// time and not the step.
fn with_weights(points: Vec<(f64, f64)>) -> Vec<(f64, f64, f64)> {
    /// The width of a bin, in units. *Judgement*: two of the longest steps.
    const BIN_WIDTH: f64 = 12.0;
    /// The number of bins that hold at least as much as the fullest one. *Judgement*.
    const MIN_BINS: f64 = 3.0;
    let bin_of = |interval: f64| (interval / BIN_WIDTH) as i64;
    let mut counts = BTreeMap::<i64, f64>::new();
    for point in &points {
        *counts.entry(bin_of(point.1)).or_default() += 1.0;
    }
    let is_even =
        |most: &f64| counts.values().map(|count| count.min(*most)).sum::<f64>() >= MIN_BINS * most;
    let mosts = sorted(counts.values().copied());
    let most = mosts
        .iter()
        .rev()
        .find(|most| is_even(most))
        .or(mosts.first())
        .copied()
        .unwrap_or(0.0);
    let weight = |interval| (most / counts[&bin_of(interval)]).min(1.0);
    points
        .into_iter()
        .map(|point| (point.0, point.1, weight(point.1)))
        .collect()
}

/// Returns the number of values that would vary as much if all were equally frequent.
fn effective_number(counts: impl Iterator<Item = f64>) -> f64 {
    let (sum, squares) = counts.fold((0.0, 0.0), |(sum, squares), count| {
        (sum + count, squares + count * count)
    });
    sum * sum / f64::max(squares, f64::MIN_POSITIVE)
}

pub fn is_repeated(group: &Differences) -> bool {
    group.deltas.len() >= MIN_REPEATED_INTERVALS
}

/// Returns the intervals of a group with their amount of work.
pub fn points_of(group: &Differences) -> impl Iterator<Item = (f64, f64)> {
    let work = group.work as f64;
    group.deltas.iter().map(move |&delta| (work, delta as f64))
}

/// The evidence of an interval by its distance from a multiple of the step.
pub struct EvidenceTable {
    /// The step, in units.
    pub step: f64,
    /// The evidence in nats, from distance 0 to half a step.
    by_distance: [f64; Self::LEN],
}

impl EvidenceTable {
    /// *Numerical*.
    const LEN: usize = 65;

    pub fn of(step: f64) -> Self {
        let by_distance = std::array::from_fn(|at| {
            let off = at as f64 * 0.5 / (Self::LEN - 1) as f64;
            let near = (1.0 - step * off).max(0.0) + (1.0 - step * (1.0 - off)).max(0.0);
            (step * near * (1.0 - INTERRUPTED_SHARE) + INTERRUPTED_SHARE).ln()
        });
        Self { step, by_distance }
    }

    /// Returns the evidence of weighted intervals for a step near that of the table, in nats.
    pub fn evidence_of(&self, counted: &[(f64, f64)], step: f64) -> f64 {
        let frequency = 1.0 / step;
        let evidence = |&(value, weight): &(f64, f64)| weight * self.evidence(value * frequency);
        counted.iter().map(evidence).sum()
    }

    /// The evidence of an interval of so many steps.
    fn evidence(&self, steps: f64) -> f64 {
        let part = steps - (steps as i64) as f64;
        let off = part.min(1.0 - part);
        self.by_distance[(off * 2.0 * (Self::LEN - 1) as f64 + 0.5) as usize]
    }

    /// The mean evidence of intervals with random phases.
    fn mean(&self) -> f64 {
        self.by_distance
            .iter()
            .map(|evidence| {
                let probability = (evidence.exp() - INTERRUPTED_SHARE) / (1.0 - INTERRUPTED_SHARE);
                probability * evidence
            })
            .sum::<f64>()
            / Self::LEN as f64
    }
}
