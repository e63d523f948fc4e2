//! Bounds the median of single calls and the share of calls around it without a model of their
//! distribution.
//!
//! With a random phase, a call of length `x`, in steps of the clock that measures it, is measured
//! as level `k` with probability max(0, 1 − |x − k|). So the share of each level is the mean of a
//! triangular function over the distribution. The variance of a call, which `moments.rs` estimates
//! from batches of calls, is the mean of the squared distance from the mean length. All
//! distributions that agree with these means within their errors are the feasible set of a linear
//! programme. Processes differ only in the mean cost of their calls: each process
//! samples the same distribution with a different position of the mean between two levels.

use std::collections::BTreeSet;

use crate::distribution::cells::{Cluster, LevelCounts, SHARE_ERROR};
use crate::distribution::moments::Moments;
use crate::distribution::programme::{LinearProgramme, ObservedMean};
use crate::statistics::{mean, standard_deviation};

/// The observed calls of one process.
pub struct ProcessShares<'a> {
    /// The levels and how often each was observed.
    pub cells: &'a LevelCounts,
    /// The cluster that contains the median.
    pub main: &'a Cluster,
    /// The moments of a call in that cluster, in steps.
    pub moments: Moments,
}

/// The ranges of the median and of the share of calls around it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FeasibleRange {
    /// The least and the greatest distance from the mean of the main cluster to the median, in
    /// steps.
    pub above_mean: [f64; 2],
    /// The least and the greatest share of calls within a given distance from the median.
    pub share: [f64; 2],
}

/// The largest number of observed shares in the programme, unless one group of processes has more.
/// *Numerical*: limits the run time.
const MAX_OBSERVED_SHARES: usize = 40;
/// The largest number of groups of processes with similar positions of the mean between two levels.
/// *Numerical*: limits the run time, and more groups are smaller.
const MAX_PROCESS_GROUPS: usize = 4;
/// Error of the variance in addition to sampling error, in squared steps. *Judgement*: for the
/// reasons of `SHARE_ERROR`.
pub const VARIANCE_ERROR: f64 = 5e-5;
/// Processes whose variance has an error larger than this many times the smallest error are
/// ignored. *Judgement*.
const MAX_ERROR_RATIO: f64 = 3.0;
/// Error of the mean, in steps. *Numerical*: the processes are aligned by their means, so the mean
/// is almost exactly 0.
const MEAN_ERROR_STEPS: f64 = 1e-3;
/// The least value of the limit of the misfit (the largest deviation of a distribution from an
/// observation), in standard errors; at least half as much is added to the misfit of the best fit,
/// which is fitted to the observations. *Judgement*: the interval over processes, which is added, includes sampling error
/// once more; with 1.0, 1.5 and 2.5 simulated intervals held the truth equally often, and 2.5 made
/// them wider by a tenth.
const MAX_DEVIATION_ERRORS: f64 = 1.5;
/// The distance between grid points at the mean, in steps; it grows to either side. *Numerical*.
const MIN_GRID_DISTANCE: f64 = 0.005;
/// The largest distance between grid points less than 1.5 steps from the mean, in steps; farther
/// above or below the mean, four times this distance. *Numerical*.
const MAX_GRID_DISTANCE: f64 = 0.05;
/// The distance from the mean divided by the distance between grid points, within the limits above.
/// *Numerical*.
const GRID_RATIO: f64 = 12.0;
/// The largest number of possible medians for which the share is computed. *Numerical*.
const MEDIAN_COUNT: usize = 5;

/// Returns the ranges of the median and of the share of calls around it, over all distributions
/// that agree with the processes. `reach` is the distance from the median, in steps, within which
/// calls count. `None` without processes.
pub fn bound_over_processes(processes: &[ProcessShares], reach: f64) -> Option<FeasibleRange> {
    let aligned: Vec<AlignedShares> = processes.iter().map(AlignedShares::from_process).collect();
    let mean_over = |value: &dyn Fn(&ProcessShares) -> f64| mean(processes.iter().map(value));
    let share_below_median =
        mean_over(&|process| (0.5 - process.main.share_below) / process.main.share())?;
    let range = bound_median_and_share(
        &aligned,
        combine_variances(processes),
        share_below_median,
        reach,
    )?;
    let main_share = mean_over(&|process| process.main.share())?;
    let others = mean_over(&|process| other_cluster_share(process, reach))?;
    Some(FeasibleRange {
        share: range.share.map(|share| share * main_share + others),
        ..range
    })
}

/// Bounds the median and the share of calls within `reach` steps of it, given the shares of levels
/// and the variance of a call with its standard error. `share_below_median` is the share of calls
/// of the main cluster up to the median. `None` without shares.
pub fn bound_median_and_share(
    aligned: &[AlignedShares],
    variance: Option<(f64, f64)>,
    share_below_median: f64,
    reach: f64,
) -> Option<FeasibleRange> {
    let first = aligned
        .iter()
        .map(|process| process.first)
        .min_by(f64::total_cmp)?;
    let last = aligned
        .iter()
        .map(|process| process.first + process.shares.len() as f64 - 1.0)
        .max_by(f64::total_cmp)?;
    let grid = grid_points(first - 1.0, last + 1.0);
    let levels = (last - first) as usize + 1;
    // Each group adds one observed share per level. The groups divide the range of the position of
    // the mean between two levels, 0 to 1, into equal parts.
    let groups = (MAX_OBSERVED_SHARES / levels).clamp(1, MAX_PROCESS_GROUPS);
    let mut observed: Vec<ObservedMean> = (0..groups)
        .flat_map(|group| {
            let is_member = |process: &&AlignedShares| {
                (process.mean_fraction * groups as f64) as usize == group
            };
            let members: Vec<&AlignedShares> = aligned.iter().filter(is_member).collect();
            observe_shares(&members, first, levels, &grid)
        })
        .collect();
    observed.push(ObservedMean {
        function: grid.clone(),
        mean: 0.0,
        error: MEAN_ERROR_STEPS,
    });
    let squares = || grid.iter().map(|at| at * at).collect();
    observed.extend(variance.map(|(mean, error)| ObservedMean {
        function: squares(),
        mean,
        error,
    }));
    let mut programme = LinearProgramme::new(grid.len(), &observed)?;
    let misfit_limit = (programme.misfit() + MAX_DEVIATION_ERRORS / 2.0).max(MAX_DEVIATION_ERRORS);
    programme.set_misfit_limit(misfit_limit);
    let lowest_median = least_index_where(grid.len(), |end| {
        programme.maximum_mean(|at| indicator_up_to(at, end)) >= share_below_median
    });
    let highest_median = least_index_where(grid.len(), |end| {
        -programme.maximum_mean(|at| -indicator_up_to(at, end)) >= share_below_median
    })
    .max(lowest_median);
    // An empty range, which each possible median extends.
    let mut share = [1.0_f64, 0.0];
    let medians: BTreeSet<usize> = (0..MEDIAN_COUNT)
        .map(|number| {
            lowest_median + (highest_median - lowest_median) * number / (MEDIAN_COUNT - 1)
        })
        .collect();
    for median in medians {
        // The grid resolves costs only to the distance between its points, so calls count up to
        // this distance beyond the reach.
        let is_within = |at: usize| (grid[at] - grid[median]).abs() <= reach + MAX_GRID_DISTANCE;
        // All calls are within reach, so the share is 1 without a search.
        if is_within(0) && is_within(grid.len() - 1) {
            share[1] = 1.0;
            continue;
        }
        let within = |at: usize| f64::from(is_within(at));
        let Some(mut programme) =
            restrict_to_median(&observed, &grid, median, share_below_median, misfit_limit)
        else {
            continue;
        };
        share = [
            share[0].min(-programme.maximum_mean(|at| -within(at))),
            share[1].max(programme.maximum_mean(within)),
        ];
    }
    // If no median is possible, the range is still empty and becomes 0 to 0.
    share[0] = share[0].min(share[1]);
    Some(FeasibleRange {
        above_mean: [grid[lowest_median], grid[highest_median]],
        share,
    })
}

/// Returns the programme of the distributions with the median at grid point `median`. `None` if no
/// distribution with that median has a misfit of at most `misfit_limit`.
fn restrict_to_median(
    observed: &[ObservedMean],
    grid: &[f64],
    median: usize,
    share_below_median: f64,
    misfit_limit: f64,
) -> Option<LinearProgramme> {
    // The half-width is divided by the misfit limit, so that exactly the shares from `low` to
    // `high` are admitted.
    let share_up_to = |end: Option<usize>, low: f64, high: f64| ObservedMean {
        function: (0..grid.len())
            .map(|at| end.map_or(0.0, |end| indicator_up_to(at, end)))
            .collect(),
        mean: (low + high) / 2.0,
        error: (high - low) / 2.0 / misfit_limit,
    };
    let median_limits = [
        share_up_to(Some(median), share_below_median, 1.0),
        share_up_to(median.checked_sub(1), 0.0, share_below_median),
    ];
    let all: Vec<ObservedMean> = observed.iter().cloned().chain(median_limits).collect();
    let mut programme = LinearProgramme::new(grid.len(), &all)?;
    (programme.misfit() <= misfit_limit).then(|| {
        programme.set_misfit_limit(misfit_limit);
        programme
    })
}

/// The share of calls in the other clusters whose mean is within `reach` steps of the mean of the
/// main cluster.
fn other_cluster_share(process: &ProcessShares, reach: f64) -> f64 {
    let centre = process.main.mean();
    process
        .cells
        .others
        .iter()
        .filter(|other| (other.mean() - centre).abs() <= reach)
        .map(Cluster::share)
        .sum()
}

/// 1 up to the grid point `end`, 0 above it.
fn indicator_up_to(at: usize, end: usize) -> f64 {
    f64::from(at <= end)
}

/// Returns the least index below `count` for which `holds` is true, by bisection, because `holds`
/// stays true above that index; the last index if `holds` is never true.
fn least_index_where(count: usize, mut holds: impl FnMut(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count - 1);
    while low < high {
        let middle = (low + high) / 2;
        if holds(middle) {
            high = middle
        } else {
            low = middle + 1
        }
    }
    low
}

/// The shares of the levels of the main cluster in a process. Levels are numbered from the last
/// level up to the mean of the cluster.
#[derive(Clone, Copy, Debug)]
pub struct AlignedShares<'a> {
    /// The number of the first level.
    pub first: f64,
    /// The share of each level, starting with `first`.
    pub shares: &'a [f64],
    /// The number of samples in the main cluster.
    pub samples: f64,
    /// The distance from the last level up to the mean to the mean, in steps.
    pub mean_fraction: f64,
    /// The overdispersion of counts between blocks of successive calls, relative to independent
    /// samples.
    pub dispersion: f64,
}

impl<'a> AlignedShares<'a> {
    fn from_process(process: &ProcessShares<'a>) -> Self {
        let (cells, main) = (process.cells, process.main);
        let mean = main.mean();
        Self {
            first: main.first - mean.floor(),
            shares: &main.shares,
            samples: cells.samples() * main.share(),
            mean_fraction: mean - mean.floor(),
            dispersion: cells.dispersion,
        }
    }

    fn share(&self, level: f64) -> f64 {
        let number = level - self.first;
        if number < 0.0 {
            0.0
        } else {
            self.shares.get(number as usize).copied().unwrap_or(0.0)
        }
    }
}

/// Returns the mean share of each level over a group of processes, with its error and the
/// triangular function that it is the mean of. Empty without samples.
fn observe_shares(
    members: &[&AlignedShares],
    first: f64,
    levels: usize,
    grid: &[f64],
) -> Vec<ObservedMean> {
    let samples = members.iter().map(|process| process.samples).sum::<f64>();
    if samples == 0.0 {
        return Vec::new();
    }
    let mean_over = |value: &dyn Fn(&AlignedShares) -> f64| {
        members
            .iter()
            .map(|process| process.samples * value(process))
            .sum::<f64>()
            / samples
    };
    let dispersion = mean_over(&|process| process.dispersion);
    let observe = |number: usize| {
        let level = first + number as f64;
        let share = mean_over(&|process| process.share(level));
        // The probability of the level for a call at a grid point, over the processes.
        let level_probability = |at: &f64| {
            mean_over(&|process| (1.0 - (at + process.mean_fraction - level).abs()).max(0.0))
        };
        let sampling_variance = dispersion * (share * (1.0 - share)).max(1.0 / samples) / samples;
        let error = sampling_variance.sqrt().hypot(SHARE_ERROR);
        ObservedMean {
            function: grid.iter().map(level_probability).collect(),
            mean: share,
            error,
        }
    };
    (0..levels).map(observe).collect()
}

/// Returns the mean variance of a call over the processes with a small standard error, and its
/// error. `None` if the variance is unknown in all processes.
fn combine_variances(processes: &[ProcessShares]) -> Option<(f64, f64)> {
    let known = processes
        .iter()
        .map(|process| process.moments.variance)
        .filter(|(_, error)| error.is_finite());
    let best = known
        .clone()
        .map(|(_, error)| error)
        .min_by(f64::total_cmp)?;
    let (values, errors): (Vec<f64>, Vec<f64>) = known
        .filter(|(_, error)| *error <= MAX_ERROR_RATIO * best)
        .unzip();
    let scatter = mean(&errors)?.max(standard_deviation(&values).unwrap_or(0.0));
    Some((
        mean(&values)?,
        (scatter / (values.len() as f64).sqrt()).hypot(VARIANCE_ERROR),
    ))
}

/// Returns grid points between `low` and `high`, in steps from the mean. Their distances grow with
/// the distance from the mean.
fn grid_points(low: f64, high: f64) -> Vec<f64> {
    let side = |end: f64| {
        let next = |at: &f64| {
            Some(
                at + (at / GRID_RATIO).clamp(
                    MIN_GRID_DISTANCE,
                    if *at < 1.5 {
                        MAX_GRID_DISTANCE
                    } else {
                        4.0 * MAX_GRID_DISTANCE
                    },
                ),
            )
        };
        std::iter::successors(Some(MIN_GRID_DISTANCE), next).take_while(move |at| *at < end)
    };
    let mut points: Vec<f64> = side(-low).map(|at| -at).collect();
    points.reverse();
    points.push(0.0);
    points.extend(side(high));
    points
}
