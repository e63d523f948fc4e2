//! Samples counted by level: the share at or below a level is the mean of the cumulative
//! distribution over one step above it.

use crate::statistics::{mean, quantile, sorted};

/// Most levels that a law is fitted to; beyond, interpolation is finer than any of them.
/// *Judgement*.
const MOST_LEVELS: f64 = 24.0;
/// A level that holds less than this share is empty.
/// *Chance*: 10 of 5 000 samples.
const EMPTY: f64 = 0.002;
/// Levels that are not empty belong together where they lie no farther apart.
/// *Computed*: a single cost shows at two levels.
pub const GAP: f64 = 3.0;
/// The least share of samples that the main cluster has to hold: a poorer one is a stretch of a
/// wide distribution. *Default*: moves no figure.
const LEAST_INSIDE: f64 = 0.25;
/// Successive samples that are counted together to see how independent they are.
/// *Judgement*.
const BLOCK: usize = 50;

/// Neighbouring levels that hold samples, with an empty one on either side.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// The first level.
    pub first: f64,
    /// Shares of what lies in it, by level.
    pub shares: Vec<f64>,
    /// The share of all samples below it.
    pub below: f64,
    /// The share of all samples up to its end.
    pub above: f64,
}

impl Cluster {
    /// The share of all samples that it holds.
    pub fn mass(&self) -> f64 {
        self.above - self.below
    }

    /// How far it reaches, as costs.
    pub fn window(&self) -> std::ops::RangeInclusive<f64> {
        self.first - 1.0..=self.first + self.shares.len() as f64
    }

    /// Mean, variance and third central moment of its levels, in steps.
    pub fn moments(&self) -> [f64; 3] {
        let of = |order: i32, centre: f64| {
            let each = self.shares.iter().enumerate();
            each.map(|(number, share)| share * (self.first + number as f64 - centre).powi(order))
                .sum::<f64>()
        };
        let mean = of(1, 0.0);
        [mean, of(2, mean), of(3, mean)]
    }
}

/// The levels of samples.
#[derive(Clone, Debug)]
pub struct Cells {
    /// The level of every sample, sorted.
    pub levels: Vec<f64>,
    /// The cluster that holds the median; `None` where it is too wide or too poor for a law.
    pub main: Option<Cluster>,
    /// The others that are worth telling.
    pub others: Vec<Cluster>,
    /// How much more counts scatter than those of independent samples would: 1 or more.
    pub dispersion: f64,
}

impl Cells {
    /// From samples in ticks of a timer that moves in steps of `step` ticks. `None` without
    /// samples.
    pub fn from_samples(samples: &[i64], step: f64) -> Option<Self> {
        let in_order: Vec<f64> = samples
            .iter()
            .map(|&ticks| (ticks as f64 / step).round())
            .collect();
        let levels = sorted(&in_order);
        let middle = quantile(&levels, 0.5)?.floor();
        let dispersion = dispersion(&in_order, middle);
        let cells = Self {
            levels,
            main: None,
            others: Vec::new(),
            dispersion,
        };
        let (mut main, mut others) = (None, Vec::new());
        for cluster in cells.clusters() {
            if cluster.window().contains(&middle) {
                main = Some(cluster).filter(|main| main.mass() >= LEAST_INSIDE);
            } else {
                others.push(cluster);
            }
        }
        Some(Self {
            main,
            others,
            ..cells
        })
    }

    /// Levels that are not empty, where no more than a few empty ones lie between.
    fn clusters(&self) -> Vec<Cluster> {
        let count = self.levels.len() as f64;
        let full = self
            .levels
            .chunk_by(|a, b| a == b)
            .filter(|same| same.len() as f64 >= EMPTY * count);
        let mut runs: Vec<(f64, f64)> = Vec::new();
        for level in full.map(|same| same[0]) {
            match runs.last_mut() {
                Some((_, last)) if level - *last <= GAP => *last = level,
                _ => runs.push((level, level)),
            }
        }
        let of = |(first, last): (f64, f64)| {
            let (first, last) = (first - 1.0, last + 1.0);
            let (below, above) = (self.share(first - 1.0), self.share(last));
            let share = |number: usize| {
                let level = first + number as f64;
                (self.share(level) - self.share(level - 1.0)) / (above - below)
            };
            let shares = (0..=(last - first) as usize).map(share).collect();
            Cluster {
                first,
                shares,
                below,
                above,
            }
        };
        runs.into_iter()
            .filter(|(first, last)| last - first < MOST_LEVELS)
            .map(of)
            .collect()
    }

    /// How many samples there are.
    pub fn samples(&self) -> f64 {
        self.levels.len() as f64
    }

    /// The share of samples at or below a level.
    pub fn share(&self, level: f64) -> f64 {
        self.levels.partition_point(|&other| other <= level) as f64 / self.levels.len() as f64
    }

    /// The cumulative distribution, linear between the middles of the cells.
    pub fn interpolated(&self, level: f64) -> f64 {
        let below = (level - 0.5).floor();
        let share = self.share(below);
        share + (self.share(below + 1.0) - share) * (level - 0.5 - below)
    }

    /// All but the rare interruptions, which lie too far above the others to be the timer's own way
    /// of being slow.
    pub fn core(&self) -> &[f64] {
        let Some(cut) = cut(&self.levels) else {
            return &[];
        };
        &self.levels[..self.levels.partition_point(|&level| level <= cut)]
    }

    /// The levels of the main cluster that hold a share worth telling.
    pub fn significant_levels(&self) -> usize {
        /// Levels that hold this share count as something to explain.
        /// *Default*: moves no figure.
        const WORTH: f64 = 2.0 * EMPTY;
        self.main
            .iter()
            .flat_map(|main| &main.shares)
            .filter(|share| **share > WORTH)
            .count()
    }
}

/// Where rare interruptions begin among sorted levels.
pub fn cut(levels: &[f64]) -> Option<f64> {
    /// Up to this share samples are the timer's own: no more are expected to be interrupted.
    /// *Judgement*: 2 % may be interrupted.
    const ORDINARY: f64 = 0.98;
    /// What is cut off lies beyond that: this many times as far from it as it lies from the middle,
    /// and this many levels. *Judgement*.
    const BEYOND: (f64, f64) = (2.0, 3.0);
    let (middle, high) = (quantile(levels, 0.5)?, quantile(levels, ORDINARY)?);
    Some(high + BEYOND.0 * (high - middle) + BEYOND.1)
}

/// How much more the number of samples up to the middle level scatters between blocks than by
/// chance. Phases that lock and costs that change in spells make neighbours alike.
fn dispersion(in_order: &[f64], middle: f64) -> f64 {
    /// With fewer blocks nothing can be told.
    /// *Default*: moves no figure.
    const MORE_THAN: usize = 3;
    /// Nor with a smaller variance of counts by chance: all but one sample in a hundred lie on one
    /// side. *Default*: moves no figure.
    const LEAST_VARIANCE: f64 = 0.5;
    let counts: Vec<f64> = in_order
        .chunks_exact(BLOCK)
        .map(|block| block.iter().filter(|&&level| level <= middle).count() as f64)
        .collect();
    let Some(centre) = mean(&counts).filter(|_| counts.len() > MORE_THAN) else {
        return 1.0;
    };
    let share = centre / BLOCK as f64;
    let by_chance = centre * (1.0 - share);
    if by_chance < LEAST_VARIANCE {
        return 1.0;
    }
    let squares: f64 = counts.iter().map(|count| (count - centre).powi(2)).sum();
    (squares / (counts.len() - 1) as f64 / by_chance).max(1.0)
}

/// The second and third central moments of all but the rare interruptions, in steps squared and
/// cubed.
pub fn core_moments(cells: &Cells) -> [f64; 2] {
    let core = cells.core();
    let centre = mean(core).unwrap_or(0.0);
    let moment = |order: i32| {
        core.iter()
            .map(|level| (level - centre).powi(order))
            .sum::<f64>()
            / core.len().max(1) as f64
    };
    [moment(2), moment(3)]
}

/// The variance of all but the rare interruptions among samples, in ticks squared. `None` without
/// samples.
pub fn core_variance(samples: &[i64], step: f64) -> Option<f64> {
    Some(core_moments(&Cells::from_samples(samples, step)?)[0] * step * step)
}

/// The share of rare interruptions among samples. `None` without samples.
pub fn rare_among(samples: &[i64], step: f64) -> Option<f64> {
    let cells = Cells::from_samples(samples, step)?;
    Some(1.0 - cells.core().len() as f64 / cells.samples())
}

/// All samples but the rare interruptions, in their order, in steps.
pub fn without_rare(samples: &[i64], step: f64) -> Vec<f64> {
    let in_order: Vec<f64> = samples
        .iter()
        .map(|&ticks| (ticks as f64 / step).round())
        .collect();
    let Some(cut) = cut(&sorted(&in_order)) else {
        return Vec::new();
    };
    in_order.into_iter().filter(|&level| level <= cut).collect()
}
