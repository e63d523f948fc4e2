//! Numbers the wake-ups of one process by the points of their grid.

use std::iter;
use std::ops::Range;

use crate::statistics::{median, quantile, sorted};
use crate::trace::PeriodRun;

/// Wake-ups after a stall that are ignored: a burst as long as the stall, and one more. They show
/// whether the preceding wake-up was late or missed an expiration, so expirations missed by the
/// last wake-ups of a process are not reported. *Computed*: a stall of 3.5 periods is made up for
/// by three wake-ups.
pub const SETTLING: usize = 5;
/// Wake-ups on either side of a gap that show whether the grid moved. *Default*: moves no figure.
const NEIGHBOURS: usize = 20;
/// The share of the earliest wake-ups that define the phase of the grid. *Judgement*.
const EARLIEST: f64 = 0.01;
/// If the ratio of the median interval to the requested period is smaller, most wake-ups catch up
/// with late ones. *Default*: moves no figure.
const CATCHING_UP: f64 = 0.8;
/// A median interval with a smaller relative difference from the requested period is replaced by
/// the requested period: the error of a grid is much smaller, that of the median of few intervals
/// is larger. *Judgement*.
const AS_ASKED: f64 = 0.01;

/// The wake-ups of one process, in ticks of the reference.
pub struct Ticking {
    /// The requested period.
    pub asked: f64,
    /// The median interval per expiration.
    pub typical: f64,
    /// Times of wake-ups, since the first one.
    pub at: Vec<f64>,
    /// The number of expirations of each wake-up, at least one.
    pub expirations: Vec<f64>,
    /// Wake-ups after which a stall was injected.
    pub stalls: Vec<usize>,
}

/// The results for the grid of one process.
#[derive(Default)]
pub struct GridFigures {
    /// The true period; `None` if unknown.
    pub period: Option<f64>,
    /// |interval − requested period| for each expiration of a wake-up.
    pub jitter: Vec<f64>,
    /// Lateness relative to the grid; without a grid, relative to one period after the preceding
    /// wake-up.
    pub late: Vec<f64>,
    /// Points of the grid without a wake-up that the timer does not report as missed.
    pub missed_silently: u64,
}

impl Ticking {
    /// `asked` is the requested period in ticks of the reference. `None` if time stands still or
    /// runs backwards.
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
        // If most wake-ups catch up with late ones, their intervals do not show the grid.
        let off = typical / asked - 1.0;
        if off.abs() >= AS_ASKED && off >= CATCHING_UP - 1.0 {
            ticking.typical = typical;
        }
        Some(ticking)
    }

    /// The interval from the preceding wake-up.
    pub fn interval(&self, next: usize) -> f64 {
        self.at[next] - self.at[next - 1]
    }

    /// The difference between this interval and the typical one.
    pub fn off(&self, next: usize) -> f64 {
        self.interval(next) - self.expirations[next] * self.typical
    }

    /// Wake-ups for which neither they nor their predecessors were disturbed by a stall, without
    /// the first wake-up.
    pub fn ordinary(&self) -> impl Iterator<Item = usize> {
        let segments = self.segments().into_iter();
        segments.flat_map(|segment| segment.skip(1))
    }

    /// The sections of wake-ups between stalls, after the effects of a stall have ended; some may
    /// be empty.
    pub fn segments(&self) -> Vec<Range<usize>> {
        let stalls = self.stalls.iter().map(|stall| stall + 1);
        let starts = iter::once(0).chain(stalls.clone().map(|end| end + SETTLING));
        let both = starts.zip(stalls.chain([self.at.len()]));
        both.map(|(start, end)| start..end.max(start)).collect()
    }

    /// Returns the shift of the grid across a gap, from the earliest of the `beside` nearest
    /// wake-ups on either side; `number` counts the points of the grid. `None` if there are no
    /// wake-ups on one side.
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

    /// Returns the grid number of each wake-up that no stall disturbed, and the number of missed
    /// points that the timer does not report.
    fn numbered(&self) -> (Vec<f64>, u64) {
        let count = |sum: &mut f64, count: &f64| {
            *sum += count;
            Some(*sum)
        };
        let mut number: Vec<f64> = self.expirations.iter().scan(0.0, count).collect();
        let mut missed = 0.0;
        let reported = number.len().saturating_sub(SETTLING);
        // Adds the points missed before the wake-up `at` to the numbers from `from` on.
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
                // If the wake-up was late, this many wake-ups catch up.
                let from = next.saturating_add(excess as usize);
                let last = segment.end == self.at.len();
                // The effect of the last wake-ups before a stall is found after the stall as well.
                if !last && from.saturating_add(SETTLING) > segment.end {
                    continue;
                }
                let from = if from < segment.end { from } else { next };
                // A wake-up that is late, while the following ones are not, missed no point.
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

    /// Returns the results for a timer with a fixed grid.
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
        // With few wake-ups, the earliest ones are a larger share.
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

    /// The period: the median slope between wake-ups half the sequence apart.
    fn period_on(&self, number: &[f64], settled: &[usize]) -> Option<f64> {
        let half = settled.len() / 2;
        let pairs = settled.iter().zip(settled.get(half..)?);
        let slopes = pairs
            .filter(|(from, to)| number[**to] > number[**from])
            .map(|(&from, &to)| (self.at[to] - self.at[from]) / (number[to] - number[from]));
        median(slopes)
    }

    /// Returns the results for a timer whose grid shifts with each wake-up.
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
