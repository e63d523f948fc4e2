//! What the median of single calls may be at most and at least, and the share around it, whatever
//! law they follow.
//!
//! A call of length `x`, in steps of the clock that shows it, shows as level `k` with the
//! probability max(0, 1 − |x − k|) where the phase is random. So the share of each level is the
//! mean of a triangle over the distribution; and so, of powers, are the moments that batches tell.
//! All distributions that agree with all of these within chance are a linear programme. Processes
//! are alike but for what their calls take on average: each shows the same distribution from where
//! its own mean lies between two levels.

mod remaining;

use std::collections::BTreeSet;

use crate::distribution::cells::{Cells, Cluster};
use crate::distribution::moments::Moments;
use crate::distribution::programme::{Observed, Programme};
use crate::statistics::{mean, standard_deviation};

pub use self::remaining::remaining;

/// What one process shows.
pub(crate) struct ShownCalls<'a> {
    pub(crate) cells: &'a Cells,
    /// The cluster that holds the median.
    pub(crate) main: &'a Cluster,
    /// Of a call of that cluster, in steps.
    pub(crate) moments: Moments,
}

/// What is left open, in steps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Open {
    /// How far the median lies above the mean of the cluster that holds it, at least and at most.
    pub above_mean: [f64; 2],
    /// The share of calls within the reach of the median.
    pub share: [f64; 2],
}

/// Observed shares of levels, in all.
/// *Numerical*: the cost of the programme.
const MOST_SHARES: usize = 40;
/// Groups of processes, by where their means lie between two levels.
/// *Numerical*: the cost of the programme.
const MOST_GROUPS: usize = 4;
/// What shares of levels are off by beyond chance.
/// *Judgement*: phases are not quite random, processes not quite alike.
const SHARES_OFF: f64 = 0.002;
/// What variances are off by beyond chance, in squared steps.
/// *Judgement*: as `SHARES_OFF`.
const VARIANCE_OFF: f64 = 5e-5;
/// Processes that know the variance this many times as poorly as the best one do not count.
/// *Judgement*.
const POOR: f64 = 3.0;
/// What the mean is off by, in steps: it is where the processes are laid upon each other.
/// *Numerical*.
const MEAN_OFF: f64 = 1e-3;
/// Standard errors that the observation which agrees least may lie off. *Judgement*: the interval
/// that processes tell stands around what is left open, and holds chance once more; by 1.0, 1.5 and
/// 2.5 simulated intervals held the truth as often, and 2.5 made them wider by a tenth.
const CHANCE: f64 = 1.5;
/// How many standard errors more than in what fits best it may lie off.
/// *Judgement*: what fits best is fitted to the observations.
const WORSE: f64 = 0.75;
/// The finest distance of the grid, near the mean, in steps.
/// *Numerical*.
const FINEST: f64 = 0.005;
/// Its coarsest distance there.
/// *Numerical*.
const COARSEST: f64 = 0.05;
/// Elsewhere points lie this part of their distance from the mean apart.
/// *Numerical*.
const PART: f64 = 12.0;
/// Medians for which the share around them is asked.
/// *Numerical*.
const MEDIANS: usize = 5;

/// What all distributions that agree with what processes show leave open; `reach` in steps is that
/// of the share. `None` without processes.
pub(crate) fn open(processes: &[ShownCalls], reach: f64) -> Option<Open> {
    let laid: Vec<Laid> = processes.iter().map(Laid::of).collect();
    let over =
        |of: &dyn Fn(&ShownCalls) -> f64| mean(&processes.iter().map(of).collect::<Vec<_>>());
    let half = over(&|shown| (0.5 - shown.main.below) / shown.main.mass())?;
    let open = left_open(&laid, variance(processes), half, reach)?;
    let mass = over(&|shown| shown.main.mass())?;
    let beside = over(&|shown| beside(shown, reach))?;
    Some(Open {
        share: open.share.map(|share| share * mass + beside),
        ..open
    })
}

/// What shares and the variance of calls leave open around the mean, `half` of them up to the
/// median.
fn left_open(laid: &[Laid], variance: Option<(f64, f64)>, half: f64, reach: f64) -> Option<Open> {
    let first = laid.iter().map(|one| one.first).min_by(f64::total_cmp)?;
    let last = laid
        .iter()
        .map(|one| one.first + one.shares.len() as f64 - 1.0)
        .max_by(f64::total_cmp)?;
    let grid = grid(first - 1.0, last + 1.0);
    let levels = (last - first) as usize + 1;
    let groups = (MOST_SHARES / levels).clamp(1, MOST_GROUPS);
    let mut observed: Vec<Observed> = (0..groups)
        .flat_map(|group| {
            let is_of = |one: &&Laid| (one.place * groups as f64) as usize == group;
            let members: Vec<&Laid> = laid.iter().filter(is_of).collect();
            shares(&members, first, levels, &grid)
        })
        .collect();
    observed.push(Observed {
        of: grid.clone(),
        mean: 0.0,
        error: MEAN_OFF,
    });
    let squares = || grid.iter().map(|at| at * at).collect();
    observed.extend(variance.map(|(mean, error)| Observed {
        of: squares(),
        mean,
        error,
    }));
    let mut programme = Programme::of(grid.len(), &observed)?;
    let misfit = (programme.misfit() + WORSE).max(CHANCE);
    programme.allow(misfit);
    let least = first_of(grid.len(), |end| {
        programme.most(|at| below(at, end)) >= half
    });
    let most = first_of(grid.len(), |end| {
        -programme.most(|at| -below(at, end)) >= half
    })
    .max(least);
    let mut share = [1.0_f64, 0.0];
    let medians: BTreeSet<usize> = (0..MEDIANS)
        .map(|number| least + (most - least) * number / (MEDIANS - 1))
        .collect();
    for median in medians {
        let within = |at: usize| f64::from((grid[at] - grid[median]).abs() <= reach + COARSEST);
        if within(0) + within(grid.len() - 1) == 2.0 {
            share[1] = 1.0;
            continue;
        }
        let Some(mut programme) = with_median(&observed, &grid, median, half, misfit) else {
            continue;
        };
        share = [
            share[0].min(-programme.most(|at| -within(at))),
            share[1].max(programme.most(within)),
        ];
    }
    share[0] = share[0].min(share[1]);
    Some(Open {
        above_mean: [grid[least], grid[most]],
        share,
    })
}

/// Those distributions of which this point is the median. `None` where there are none.
fn with_median(
    observed: &[Observed],
    grid: &[f64],
    median: usize,
    half: f64,
    misfit: f64,
) -> Option<Programme> {
    let between = |end: Option<usize>, low: f64, high: f64| Observed {
        of: (0..grid.len())
            .map(|at| end.map_or(0.0, |end| below(at, end)))
            .collect(),
        mean: (low + high) / 2.0,
        error: (high - low) / 2.0 / misfit,
    };
    let ends = [
        between(Some(median), half, 1.0),
        between(median.checked_sub(1), 0.0, half),
    ];
    let all: Vec<Observed> = observed.iter().cloned().chain(ends).collect();
    let mut programme = Programme::of(grid.len(), &all)?;
    (programme.misfit() <= misfit).then(|| {
        programme.allow(misfit);
        programme
    })
}

/// The share of calls in other clusters within the reach.
fn beside(shown: &ShownCalls, reach: f64) -> f64 {
    let centre = shown.main.moments()[0];
    let near = shown
        .cells
        .others
        .iter()
        .filter(|other| (other.moments()[0] - centre).abs() <= reach);
    near.map(Cluster::mass).sum()
}

fn below(at: usize, end: usize) -> f64 {
    f64::from(at <= end)
}

/// The first number for which something holds that holds for all above; the last where it holds for
/// none.
fn first_of(count: usize, mut holds: impl FnMut(usize) -> bool) -> usize {
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

/// The shares of levels in a process, counted from the last one below the mean.
struct Laid<'a> {
    first: f64,
    shares: &'a [f64],
    samples: f64,
    /// How far above that level the mean lies.
    place: f64,
    dispersion: f64,
}

impl<'a> Laid<'a> {
    fn of(shown: &ShownCalls<'a>) -> Self {
        let (cells, main) = (shown.cells, shown.main);
        let mean = main.moments()[0];
        Self {
            first: main.first - mean.floor(),
            shares: &main.shares,
            samples: cells.samples() * main.mass(),
            place: mean - mean.floor(),
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

/// The shares of levels among some processes.
fn shares(members: &[&Laid], first: f64, levels: usize, grid: &[f64]) -> Vec<Observed> {
    let samples = members.iter().map(|one| one.samples).sum::<f64>();
    if samples == 0.0 {
        return Vec::new();
    }
    let over = |of: &dyn Fn(&Laid) -> f64| {
        members.iter().map(|one| one.samples * of(one)).sum::<f64>() / samples
    };
    let dispersion = over(&|one| one.dispersion);
    let of = |number: usize| {
        let level = first + number as f64;
        let share = over(&|one| one.share(level));
        let shown = |at: &f64| over(&|one| (1.0 - (at + one.place - level).abs()).max(0.0));
        let chance = dispersion * (share * (1.0 - share)).max(1.0 / samples) / samples;
        let error = chance.sqrt().hypot(SHARES_OFF);
        Observed {
            of: grid.iter().map(shown).collect(),
            mean: share,
            error,
        }
    };
    (0..levels).map(of).collect()
}

/// The variance of a call that batches tell, over those processes that know it well. `None` where
/// they tell none.
fn variance(processes: &[ShownCalls]) -> Option<(f64, f64)> {
    let known = processes
        .iter()
        .map(|shown| shown.moments.variance)
        .filter(|(_, error)| error.is_finite());
    let best = known
        .clone()
        .map(|(_, error)| error)
        .min_by(f64::total_cmp)?;
    let (values, errors): (Vec<f64>, Vec<f64>) =
        known.filter(|(_, error)| *error <= POOR * best).unzip();
    let scatter = mean(&errors)?.max(standard_deviation(&values).unwrap_or(0.0));
    Some((
        mean(&values)?,
        (scatter / (values.len() as f64).sqrt()).hypot(VARIANCE_OFF),
    ))
}

/// Points around the mean, the farther from it the farther apart.
fn grid(low: f64, high: f64) -> Vec<f64> {
    let side = |end: f64| {
        let next = |at: &f64| {
            Some(at + (at / PART).clamp(FINEST, if *at < 1.5 { COARSEST } else { 4.0 * COARSEST }))
        };
        std::iter::successors(Some(FINEST), next).take_while(move |at| *at < end)
    };
    let mut points: Vec<f64> = side(-low).map(|at| -at).collect();
    points.reverse();
    points.push(0.0);
    points.extend(side(high));
    points
}
