//! Determines the period, jitter and lateness of the wake-ups of one process. A timer with a *grid*
//! expires at the multiples of its period, the points of the grid. Each wake-up belongs to one
//! point; points without a wake-up are missed expirations.

use std::f64::consts::FRAC_PI_2;
use std::iter;
use std::ops::Range;

use crate::statistics::{DEVIATION_PER_MEDIAN, SIGNIFICANT_DEVIATIONS, median, quantile, sorted};
use crate::trace::PeriodRun;

/// The number of wake-ups that are ignored after a stall: the late one, those of a burst that makes
/// up for the stall, and one more. The same number of wake-ups after a gap shows whether the
/// wake-up that ended it was late or missed an expiration; therefore missed expirations are not
/// counted for the last wake-ups of a process. *Computed*: a stall of 3.5 periods is made up for by
/// three wake-ups.
pub const SETTLING_WAKEUPS: usize = 5;
/// The number of wake-ups on either side of a gap that are compared to find out whether points of
/// the grid were missed. *Judgement*: with jitter of half a period, the earliest of a few are late.
const NEIGHBOUR_WAKEUPS: usize = 20;
/// The share of wake-ups that are earlier than their point of the grid: the grid is placed at this
/// quantile of the wake-ups, and lateness is measured from it. *Judgement*.
const EARLIEST_SHARE: f64 = 0.01;
/// The smallest ratio of the median interval to the requested period at which the median interval
/// is used as the period. If the ratio is smaller, most wake-ups follow late ones, so that their
/// intervals are too short. *Default*: moves no figure.
const MIN_INTERVAL_RATIO: f64 = 0.8;
/// The relative difference between the median interval and the requested period below which the
/// requested period is used: the period of a timer with a grid differs by less, while the median of
/// few intervals may differ by as much. *Judgement*.
const MAX_EQUAL_DIFFERENCE: f64 = 0.01;

/// The wake-ups of one process, in ticks of the reference.
pub struct WakeupSeries {
    /// The requested period.
    pub requested_period: f64,
    /// The median interval between wake-ups with one expiration, or the requested period if that is
    /// more exact.
    pub typical_period: f64,
    /// The times of the wake-ups since the first one.
    pub wakeup_times: Vec<f64>,
    /// The number of expirations that each wake-up reports, or 1 if it reports none.
    pub expirations: Vec<f64>,
    /// The indices of the wake-ups after which a stall followed.
    pub stalls: Vec<usize>,
}

/// The results for one process, in ticks of the reference.
#[derive(Default)]
pub struct SeriesFigures {
    /// The measured period; `None` if unknown.
    pub period: Option<f64>,
    /// For each wake-up, the absolute difference between the interval from the preceding wake-up
    /// and the requested time between their expirations.
    pub jitter: Vec<f64>,
    /// Lateness relative to the grid; without a grid, relative to one period after the preceding
    /// wake-up.
    pub late: Vec<f64>,
    /// The number of missed expirations that the timer does not report.
    pub unreported_missed: u64,
    /// The part of them that no stall explains.
    pub lost: u64,
}

impl WakeupSeries {
    /// Creates the series of a process; `requested_period` is in ticks of the reference. `None` if
    /// no stall-free interval ends with a single expiration, or if the median of these intervals is
    /// not positive, because the reference stands still or runs backwards.
    pub fn from_run(run: &PeriodRun, requested_period: f64) -> Option<Self> {
        let (first, wakeups) = (run.wakeups.first()?.0, run.wakeups.iter());
        let stalls = run.stalls.iter().map(|&stall| stall as usize);
        let mut series = Self {
            requested_period,
            typical_period: requested_period,
            wakeup_times: wakeups
                .clone()
                .map(|(at, _)| at.wrapping_sub(first) as f64)
                .collect(),
            expirations: wakeups.map(|&(_, count)| count.max(1) as f64).collect(),
            stalls: stalls
                .filter(|stall| stall + 1 < run.wakeups.len())
                .collect(),
        };
        series.stalls.sort_unstable();
        let single: Vec<f64> = series
            .undisturbed()
            .filter(|&next| series.expirations[next] == 1.0)
            .map(|next| series.interval(next))
            .collect();
        let typical = median(&single).filter(|typical| *typical > 0.0)?;
        let deviation = median(single.iter().map(|interval| (interval - typical).abs()))?;
        // The standard error of a median is √(π/2) times that of a mean.
        let error = (FRAC_PI_2 / single.len() as f64).sqrt() * DEVIATION_PER_MEDIAN * deviation
            / requested_period;
        // If most wake-ups follow late ones, the median interval is too short to be the period.
        let difference = typical / requested_period - 1.0;
        let least = MAX_EQUAL_DIFFERENCE.max(SIGNIFICANT_DEVIATIONS * error);
        if difference.abs() >= least && difference >= MIN_INTERVAL_RATIO - 1.0 {
            series.typical_period = typical;
        }
        Some(series)
    }

    /// Returns the interval from the preceding wake-up to the wake-up with the index `next`.
    pub fn interval(&self, next: usize) -> f64 {
        self.wakeup_times[next] - self.wakeup_times[next - 1]
    }

    /// Returns how much longer that interval is than the typical periods of its expirations.
    pub fn deviation(&self, next: usize) -> f64 {
        self.interval(next) - self.expirations[next] * self.typical_period
    }

    /// Returns the indices of the wake-ups whose interval from the preceding wake-up no stall
    /// affected.
    pub fn undisturbed(&self) -> impl Iterator<Item = usize> {
        self.segments()
            .into_iter()
            .flat_map(|segment| segment.skip(1))
    }

    /// Whether three wake-ups from this index on happen within half a period. Only a timer that makes
    /// up for missed expirations has such wake-ups: one that skips them is late by less than a period.
    pub fn is_burst(&self, at: usize) -> bool {
        let third = self.wakeup_times.get(at + 2);
        third.is_some_and(|third| third - self.wakeup_times[at] < 0.5 * self.requested_period)
    }

    /// Returns the ranges of wake-ups between stalls. Each begins [`SETTLING_WAKEUPS`] wake-ups
    /// after a stall; some may be empty.
    pub fn segments(&self) -> Vec<Range<usize>> {
        let stalls = self.stalls.iter().map(|stall| stall + 1);
        let starts = iter::once(0).chain(stalls.clone().map(|end| end + SETTLING_WAKEUPS));
        let ranges = starts.zip(stalls.chain([self.wakeup_times.len()]));
        ranges.map(|(start, end)| start..end.max(start)).collect()
    }

    /// Returns by how many ticks the wake-ups in the range `after` are later than those in the
    /// range `before` predict, if each wake-up belongs to the point of the grid that `number`
    /// gives. Compared are the earliest of the `neighbours` nearest wake-ups on either side of the
    /// gap between the ranges. `None` if a range is empty.
    pub fn grid_shift(
        &self,
        number: &[f64],
        before: Range<usize>,
        after: Range<usize>,
        neighbours: usize,
    ) -> Option<f64> {
        let lateness = |at: usize| self.wakeup_times[at] - number[at] * self.typical_period;
        let earliest = |range: Range<usize>| range.map(lateness).reduce(f64::min);
        let end = after.end.min(after.start + neighbours);
        let start = before.start.max(before.end.saturating_sub(neighbours));
        Some(earliest(after.start..end)? - earliest(start..before.end)?)
    }

    /// Returns the number of the grid point of each wake-up, the number of missed points that the
    /// timer does not report, and how many of them no stall explains.
    fn grid_numbers(&self, catches_up: bool) -> (Vec<f64>, [u64; 2]) {
        let add_up = |sum: &mut f64, count: &f64| {
            *sum += count;
            Some(*sum)
        };
        let mut number: Vec<f64> = self.expirations.iter().scan(0.0, add_up).collect();
        // A timer that makes up for late wake-ups misses none; load may delay it for long.
        if catches_up {
            return (number, [0, 0]);
        }
        let (mut lost, mut in_stalls) = (0.0, 0.0);
        let reported = number.len().saturating_sub(SETTLING_WAKEUPS);
        // Adds `points`, which were missed before the wake-up `at`, to the numbers of the wake-ups
        // from `from` on. Returns how many of them count.
        let add = |number: &mut [f64], at: usize, from: usize, points: f64| {
            number[from..]
                .iter_mut()
                .for_each(|number| *number += points);
            if at < reported { points } else { 0.0 }
        };
        let segments: Vec<Range<usize>> = self
            .segments()
            .into_iter()
            .filter(|segment| !segment.is_empty())
            .collect();
        for segment in &segments {
            for next in segment.clone().skip(1) {
                let excess =
                    (self.interval(next) / self.typical_period - self.expirations[next]).round();
                if excess < 1.0 {
                    continue;
                }
                // If the wake-up was late and missed no point, `excess` wake-ups follow at short
                // intervals. Only those after them show whether points were missed.
                let from = next.saturating_add(excess as usize);
                let last = segment.end == self.wakeup_times.len();
                // Points missed shortly before a stall are found by the comparison across the
                // stall.
                if !last && from.saturating_add(SETTLING_WAKEUPS) > segment.end {
                    continue;
                }
                let from = if from < segment.end { from } else { next };
                // If the later wake-ups are not late, no point was missed.
                let shift = self
                    .grid_shift(
                        &number,
                        segment.start..next,
                        from..segment.end,
                        NEIGHBOUR_WAKEUPS,
                    )
                    .unwrap_or(0.0);
                lost += add(
                    &mut number,
                    next,
                    next,
                    (shift / self.typical_period).round().clamp(0.0, excess),
                );
            }
        }
        for two in segments.windows(2) {
            let shift = self
                .grid_shift(&number, two[0].clone(), two[1].clone(), NEIGHBOUR_WAKEUPS)
                .unwrap_or(0.0);
            in_stalls += add(
                &mut number,
                two[0].end,
                two[1].start,
                (shift / self.typical_period).round().max(0.0),
            );
        }
        (number, [(lost + in_stalls) as u64, lost as u64])
    }

    /// Returns the results for a timer with a grid, with lateness measured from the points of the
    /// grid. If the period is unknown, lateness and jitter are empty. `catches_up` tells whether the
    /// timer made up for wake-ups that load delayed.
    pub fn compute_on_grid(&self, catches_up: bool) -> SeriesFigures {
        let (number, [unreported_missed, lost]) = self.grid_numbers(catches_up);
        let undisturbed: Vec<usize> = self.undisturbed().collect();
        let mut figures = SeriesFigures {
            period: self.period_on_grid(&number, &undisturbed),
            unreported_missed,
            lost,
            ..SeriesFigures::default()
        };
        let Some(period) = figures.period else {
            return figures;
        };
        let offsets = undisturbed
            .iter()
            .map(|&at| self.wakeup_times[at] - number[at] * period);
        // The quantile of `count` wake-ups that estimates the quantile `EARLIEST_SHARE` of all
        // possible ones: with fewer than 100 wake-ups it is the earliest one.
        let count = undisturbed.len() as f64;
        let earliest = (EARLIEST_SHARE * (count + 1.0) - 1.0) / (count - 1.0).max(1.0);
        let grid = quantile(&sorted(offsets.clone()), earliest).unwrap_or(0.0);
        figures.late = offsets.map(|offset| offset - grid).collect();
        let requested = |next: usize| (number[next] - number[next - 1]) * self.requested_period;
        let jitter = undisturbed
            .iter()
            .map(|&next| self.interval(next) - requested(next));
        figures.jitter = jitter.map(f64::abs).collect();
        figures
    }

    /// Returns the period: the median over pairs of undisturbed wake-ups that are half the sequence
    /// apart. `None` if there are no such pairs.
    fn period_on_grid(&self, number: &[f64], undisturbed: &[usize]) -> Option<f64> {
        let half = undisturbed.len() / 2;
        let slopes = undisturbed
            .iter()
            .zip(undisturbed.get(half..)?)
            .filter(|(from, to)| number[**to] > number[**from])
            .map(|(&from, &to)| {
                (self.wakeup_times[to] - self.wakeup_times[from]) / (number[to] - number[from])
            });
        median(slopes)
    }

    /// Returns the results for a timer that starts a new period with each wake-up, with lateness
    /// measured from the time one requested period after the preceding wake-up.
    pub fn compute_without_grid(&self) -> SeriesFigures {
        let late =
            |next: usize| self.interval(next) - self.expirations[next] * self.requested_period;
        let late: Vec<f64> = self.undisturbed().map(late).collect();
        let expired: f64 = self.undisturbed().map(|next| self.expirations[next]).sum();
        let passed: f64 = self.undisturbed().map(|next| self.interval(next)).sum();
        SeriesFigures {
            period: (expired > 0.0).then(|| passed / expired),
            jitter: late.iter().map(|late| late.abs()).collect(),
            late,
            ..SeriesFigures::default()
        }
    }
}
