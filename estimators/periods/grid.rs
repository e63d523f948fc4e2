//! The wake-ups of one process, numbered by the grid that they lie on.

use std::iter;
use std::ops::Range;

use crate::statistics::{median, quantile, sorted};
use crate::trace::PeriodRun;

/// Wake-ups after a stall that are not looked at: a burst of as many as a stall is long, and one
/// more. They tell whether the one before them was late or has missed something, so that what the
/// last ones missed is not told. *Computed*: a stall of 3.5 periods is made up for by three
/// wake-ups.
pub const SETTLING: usize = 5;
/// Wake-ups on either side of a gap that tell whether the grid lies elsewhere behind it.
/// *Default*: moves no figure.
const NEIGHBOURS: usize = 20;
/// The share of the earliest wake-ups, at which the grid is put.
/// *Judgement*.
const EARLIEST: f64 = 0.01;
/// A typical interval below this share of the period asked for is one of wake-ups that make up for
/// late ones. *Default*: moves no figure.
const CATCHING_UP: f64 = 0.8;
/// A typical interval as near as this to the period asked for is taken for that: a grid is off by
/// much less, and the median of few intervals by more. *Judgement*.
const AS_ASKED: f64 = 0.01;

/// What one process saw, in ticks of the reference.
pub struct Ticking {
    /// The period that was asked for.
    pub asked: f64,
    /// The typical interval of one expiration.
    pub typical: f64,
    /// Wake-ups, since the first.
    pub at: Vec<f64>,
    /// Expirations that each stands for, at least one.
    pub expirations: Vec<f64>,
    /// Wake-ups after which a stall was injected.
    pub stalls: Vec<usize>,
}

/// What became of it.
#[derive(Default)]
pub struct GridFigures {
    /// The period that it keeps; none where that cannot be told.
    pub period: Option<f64>,
    /// |interval − period asked for|, for each expiration of those that it stands for.
    pub jitter: Vec<f64>,
    /// Lateness to the grid; to a period after the wake-up before, where there is none.
    pub late: Vec<f64>,
    /// Points of the grid at which nothing woke up and which the timer does not count.
    pub missed_silently: u64,
}

impl Ticking {
    /// `asked` is the period in ticks of the reference. `None` where time stands still or runs
    /// backwards.
    pub fn from_run(run: &PeriodRun, asked: f64) -> Option<Self> {
        let (first, wakeups) = (run.wakeups.first()?.0, run.wakeups.iter());
        let stalls = run.stalls.iter().map(|&stall| stall as usize);
        let mut ticking = Self {
            asked,
            typical: asked,
            at: wakeups
                .clone()
                .map(|(at, _)| at.wrapping_sub(first) as f64)
                .collect(),
            expirations: wakeups.map(|&(_, count)| count.max(1) as f64).collect(),
            stalls: stalls
                .filter(|stall| stall + 1 < run.wakeups.len())
                .collect(),
        };
        ticking.stalls.sort_unstable();
        let single = ticking
            .ordinary()
            .filter(|&next| ticking.expirations[next] == 1.0);
        let typical = median(single.map(|next| ticking.interval(next)));
        let typical = typical.filter(|typical| *typical > 0.0)?;
        // Where most wake-ups make up for late ones, the intervals between them tell nothing of the
        // grid.
        let off = typical / asked - 1.0;
        if off.abs() >= AS_ASKED && off >= CATCHING_UP - 1.0 {
            ticking.typical = typical;
        }
        Some(ticking)
    }

    /// From the wake-up before to this one.
    pub fn interval(&self, next: usize) -> f64 {
        self.at[next] - self.at[next - 1]
    }

    /// By how much that is longer than the typical one.
    pub fn off(&self, next: usize) -> f64 {
        self.interval(next) - self.expirations[next] * self.typical
    }

    /// Wake-ups that no stall disturbed, nor the one before, but the first.
    pub fn ordinary(&self) -> impl Iterator<Item = usize> {
        let segments = self.segments().into_iter();
        segments.flat_map(|segment| segment.skip(1))
    }

    /// The stretches of wake-ups between stalls, from when what a stall caused must be over; some
    /// may be empty.
    pub fn segments(&self) -> Vec<Range<usize>> {
        let stalls = self.stalls.iter().map(|stall| stall + 1);
        let starts = iter::once(0).chain(stalls.clone().map(|end| end + SETTLING));
        let both = starts.zip(stalls.chain([self.at.len()]));
        both.map(|(start, end)| start..end.max(start)).collect()
    }

    /// How far the grid lies from where it lay before a gap, by the earliest of the `beside`
    /// wake-ups on either side that come next to it; `number` counts the points of the grid. `None`
    /// where either side has none.
    pub fn moved(
        &self,
        number: &[f64],
        before: Range<usize>,
        after: Range<usize>,
        neighbours: usize,
    ) -> Option<f64> {
        let off = |at: usize| self.at[at] - number[at] * self.typical;
        let earliest = |range: Range<usize>| range.map(off).reduce(f64::min);
        let end = after.end.min(after.start + neighbours);
        let start = before.start.max(before.end.saturating_sub(neighbours));
        Some(earliest(after.start..end)? - earliest(start..before.end)?)
    }

    /// The number of each wake-up on the grid but of those that a stall disturbed, and how many
    /// points were missed that the timer does not count.
    fn numbered(&self) -> (Vec<f64>, u64) {
        let count = |sum: &mut f64, count: &f64| {
            *sum += count;
            Some(*sum)
        };
        let mut number: Vec<f64> = self.expirations.iter().scan(0.0, count).collect();
        let mut missed = 0.0;
        let reported = number.len().saturating_sub(SETTLING);
        // Those that were missed before the wake-up `at`, in the numbers from `from` on.
        let mut add = |number: &mut [f64], at: usize, from: usize, points: f64| {
            missed += if at < reported { points } else { 0.0 };
            number[from..]
                .iter_mut()
                .for_each(|number| *number += points);
        };
        let segments: Vec<Range<usize>> = self
            .segments()
            .into_iter()
            .filter(|segment| !segment.is_empty())
            .collect();
        for segment in &segments {
            for next in segment.clone().skip(1) {
                let excess = (self.interval(next) / self.typical - self.expirations[next]).round();
                if excess < 1.0 {
                    continue;
                }
                // This many wake-ups make up for a late one, if it was late and they do.
                let from = next.saturating_add(excess as usize);
                let last = segment.end == self.at.len();
                // What a few before a stall show is seen behind it as well.
                if !last && from.saturating_add(SETTLING) > segment.end {
                    continue;
                }
                let from = if from < segment.end { from } else { next };
                // A wake-up that is late, while those behind it are not, has missed none.
                let moved = self
                    .moved(&number, segment.start..next, from..segment.end, NEIGHBOURS)
                    .unwrap_or(0.0);
                add(
                    &mut number,
                    next,
                    next,
                    (moved / self.typical).round().clamp(0.0, excess),
                );
            }
        }
        for two in segments.windows(2) {
            let moved = self
                .moved(&number, two[0].clone(), two[1].clone(), NEIGHBOURS)
                .unwrap_or(0.0);
            add(
                &mut number,
                two[0].end,
                two[1].start,
                (moved / self.typical).round().max(0.0),
            );
        }
        (number, missed as u64)
    }

    /// Wake-ups of a timer that keeps to a grid.
    pub fn on_its_grid(&self) -> GridFigures {
        let (number, missed_silently) = self.numbered();
        let settled: Vec<usize> = self.ordinary().collect();
        let mut figures = GridFigures {
            period: self.period_on(&number, &settled),
            missed_silently,
            ..GridFigures::default()
        };
        let Some(period) = figures.period else {
            return figures;
        };
        let off = settled.iter().map(|&at| self.at[at] - number[at] * period);
        // Of few wake-ups the earliest stand for more of them.
        let count = settled.len() as f64;
        let earliest = (EARLIEST * (count + 1.0) - 1.0) / (count - 1.0).max(1.0);
        let grid = quantile(&sorted(off.clone()), earliest).unwrap_or(0.0);
        figures.late = off.map(|off| off - grid).collect();
        let asked = |next: usize| (number[next] - number[next - 1]) * self.asked;
        let jitter = settled
            .iter()
            .map(|&next| self.interval(next) - asked(next));
        figures.jitter = jitter.map(f64::abs).collect();
        figures
    }

    /// The period: the median of what lies between wake-ups half of them apart, a number each.
    fn period_on(&self, number: &[f64], settled: &[usize]) -> Option<f64> {
        let half = settled.len() / 2;
        let pairs = settled.iter().zip(settled.get(half..)?);
        let slopes = pairs
            .filter(|(from, to)| number[**to] > number[**from])
            .map(|(&from, &to)| (self.at[to] - self.at[from]) / (number[to] - number[from]));
        median(slopes)
    }

    /// Wake-ups of a timer whose grid moves with each of them.
    pub fn one_after_another(&self) -> GridFigures {
        let late = |next: usize| self.interval(next) - self.expirations[next] * self.asked;
        let late: Vec<f64> = self.ordinary().map(late).collect();
        let expired: f64 = self.ordinary().map(|next| self.expirations[next]).sum();
        let passed: f64 = self.ordinary().map(|next| self.interval(next)).sum();
        GridFigures {
            period: (expired > 0.0).then(|| passed / expired),
            jitter: late.iter().map(|late| late.abs()).collect(),
            late,
            missed_silently: 0,
        }
    }
}
