//! Counts samples by *level*: the multiple of the measuring clock's step that a sample shows. The
//! share of samples at or below a level is the mean of the cumulative distribution function over
//! the *cell* of this level, which is the step above it.

use crate::statistics::{Z, mean, quantile, sorted};

/// The largest number of levels of a cluster to which a model is fitted; for more levels,
/// interpolation is more precise than a model. *Judgement*.
const MAX_CLUSTER_LEVELS: f64 = 24.0;
/// A level with a smaller share of the samples counts as empty. *Chance*: fewer than 10 of 5 000
/// samples.
const MIN_LEVEL_SHARE: f64 = 0.002;
/// The largest distance between neighbouring non-empty levels of one cluster. *Computed*: a single
/// cost shows at two levels.
pub const MAX_LEVEL_GAP: f64 = 3.0;
/// The least share of samples in the main cluster: a smaller cluster is a section of a wide
/// distribution. *Judgement*.
const MIN_MAIN_SHARE: f64 = 0.25;
/// The share of samples that are certainly not interruptions. *Judgement*: 2 % may be interrupted.
pub const UNINTERRUPTED_SHARE: f64 = 0.98;
/// Error of the shares of levels in addition to sampling error. *Judgement*: phases are not quite
/// random, processes not quite identical, and no model is exact.
pub const SHARE_ERROR: f64 = 0.003;
/// The number of consecutive samples in a block, whose counts show whether samples are independent.
/// *Judgement*: halved or doubled, it changes only the widths of intervals.
const BLOCK_SAMPLES: usize = 50;

/// The variance of a narrow mode, in squared steps. *Computed*: a single cost shows 0.25 at most, two
/// in one cell twice that.
const MAX_MODE_VARIANCE: f64 = 0.5;
/// Neighbouring levels with samples, delimited by empty levels.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// The first level.
    pub first: f64,
    /// The share of the cluster's samples at each level, starting with `first`. The outermost
    /// levels hold almost no samples.
    pub shares: Vec<f64>,
    /// The share of all samples below the cluster.
    pub share_below: f64,
    /// The share of all samples up to the last level of the cluster.
    pub up_to_last: f64,
}

impl Cluster {
    /// The share of all samples in the cluster.
    pub fn share(&self) -> f64 {
        self.up_to_last - self.share_below
    }

    /// The range of costs of the cluster, in steps.
    pub fn window(&self) -> std::ops::RangeInclusive<f64> {
        self.first - 1.0..=self.first + self.shares.len() as f64
    }

    /// The mean of the levels of the cluster, in steps.
    pub fn mean(&self) -> f64 {
        self.moments()[0]
    }

    /// Mean, variance and third central moment of the levels of the cluster, in steps, squared
    /// steps and cubed steps.
    pub fn moments(&self) -> [f64; 3] {
        let moment = |order: i32, centre: f64| {
            self.shares
                .iter()
                .enumerate()
                .map(|(number, share)| share * (self.first + number as f64 - centre).powi(order))
                .sum::<f64>()
        };
        let mean = moment(1, 0.0);
        [mean, moment(2, mean), moment(3, mean)]
    }
}

/// Samples counted by level.
#[derive(Clone, Debug)]
pub struct LevelCounts {
    /// The level of every sample, sorted.
    pub levels: Vec<f64>,
    /// The cluster that contains the median; `None` if it has too many levels or too few samples
    /// for a model.
    pub main: Option<Cluster>,
    /// The other clusters.
    pub others: Vec<Cluster>,
    /// The overdispersion of counts relative to independent samples: 1 or more.
    pub dispersion: f64,
    /// The gap at the median; `None` if no gap separates clusters there.
    pub median_gap: Option<MedianGap>,
}

impl LevelCounts {
    /// Counts samples in ticks of a timer that moves in steps of `step` ticks. `None` without
    /// samples.
    pub fn from_samples(samples: &[i64], step: f64) -> Option<Self> {
        let in_order: Vec<f64> = samples
            .iter()
            .map(|&ticks| (ticks as f64 / step).round())
            .collect();
        let levels = sorted(&in_order);
        let median_gap = gap_at_median(&levels);
        let middle = quantile(&levels, median_share(median_gap))?.floor();
        let dispersion = dispersion(&in_order, middle);
        let cells = Self {
            levels,
            main: None,
            others: Vec::new(),
            dispersion,
            median_gap,
        };
        let (mut main, mut others) = (None, Vec::new());
        for cluster in cells.clusters() {
            if cluster.window().contains(&middle) {
                main = Some(cluster).filter(|main| main.share() >= MIN_MAIN_SHARE);
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

    /// Groups the non-empty levels into clusters: two neighbours belong to different clusters if
    /// their distance exceeds [`MAX_LEVEL_GAP`]. Clusters with too many levels are left out.
    fn clusters(&self) -> Vec<Cluster> {
        let count = self.levels.len() as f64;
        let occupied = self
            .levels
            .chunk_by(|a, b| a == b)
            .filter(|same| same.len() as f64 >= MIN_LEVEL_SHARE * count);
        let mut ranges: Vec<(f64, f64)> = Vec::new();
        for level in occupied.map(|same| same[0]) {
            match ranges.last_mut() {
                Some((_, last)) if level - *last <= MAX_LEVEL_GAP => *last = level,
                _ => ranges.push((level, level)),
            }
        }
        let cluster = |(first, last): (f64, f64)| {
            let (first, last) = (first - 1.0, last + 1.0);
            let (share_below, up_to_last) = (self.share(first - 1.0), self.share(last));
            let share = |number: usize| {
                let level = first + number as f64;
                (self.share(level) - self.share(level - 1.0)) / (up_to_last - share_below)
            };
            let shares = (0..=(last - first) as usize).map(share).collect();
            Cluster {
                first,
                shares,
                share_below,
                up_to_last,
            }
        };
        ranges
            .into_iter()
            .filter(|(first, last)| last - first < MAX_CLUSTER_LEVELS)
            .map(cluster)
            .collect()
    }

    /// The number of samples.
    pub fn samples(&self) -> f64 {
        self.levels.len() as f64
    }

    /// The share of samples at or below a level.
    pub fn share(&self, level: f64) -> f64 {
        self.levels.partition_point(|&other| other <= level) as f64 / self.levels.len() as f64
    }

    /// The cumulative distribution function, interpolated linearly between the centres of the
    /// cells.
    pub fn interpolated(&self, level: f64) -> f64 {
        let below = (level - 0.5).floor();
        let share = self.share(below);
        share + (self.share(below + 1.0) - share) * (level - 0.5 - below)
    }

    /// The mean of the mode around a level: of the samples between the nearest minima on either side.
    /// `None` if they vary more than costs in one cell do.
    pub fn narrow_mode(&self, level: f64) -> Option<f64> {
        let share = |level: f64| self.share(level) - self.share(level - 1.0);
        let higher = |level: &f64| {
            [level - 1.0, level + 1.0]
                .into_iter()
                .find(|side| share(*side) > share(*level))
        };
        let peak = std::iter::successors(Some(level.floor()), higher).last()?;
        let side = |step: f64| {
            let next = move |level: &f64| {
                let next = level + step;
                (share(next) > 0.0 && share(next) <= share(*level)).then_some(next)
            };
            std::iter::successors(Some(peak), next).skip(1)
        };
        let levels: Vec<f64> = side(-1.0).chain([peak]).chain(side(1.0)).collect();
        let all: f64 = levels.iter().map(|level| share(*level)).sum();
        let moment = |value: &dyn Fn(f64) -> f64| {
            levels
                .iter()
                .map(|level| share(*level) * value(*level))
                .sum::<f64>()
                / all
        };
        let centre = moment(&|level| level);
        let variance = moment(&|level| (level - centre).powi(2));
        (variance < MAX_MODE_VARIANCE).then_some(centre)
    }

    /// The levels of all samples except rare interruptions, which lie so far above the others that
    /// the timer cannot be their cause.
    pub fn core(&self) -> &[f64] {
        let Some(threshold) = interruption_threshold(&self.levels) else {
            return &[];
        };
        &self.levels[..self.levels.partition_point(|&level| level <= threshold)]
    }

    /// The number of levels of the main cluster with a significant share.
    pub fn significant_levels(&self) -> usize {
        self.main
            .iter()
            .flat_map(|main| &main.shares)
            .filter(|share| **share > MIN_LEVEL_SHARE)
            .count()
    }
}

/// A gap between neighbouring levels at the median: about half of the samples lie on either side.
#[derive(Clone, Copy, Debug)]
pub struct MedianGap {
    /// A share of the samples that is just reached below the gap.
    pub lower_share: f64,
    /// A share of the samples that is just reached above the gap.
    pub upper_share: f64,
}

/// The share of samples that the median is above: 0.5, or less if half of the samples have much
/// lower costs than the other half, so that no sample lies between. The median is then the highest
/// of the lower costs.
pub fn median_share(gap: Option<MedianGap>) -> f64 {
    gap.map_or(0.5, |gap| gap.lower_share)
}

/// Returns the widest gap between neighbouring levels at the median, within the sampling error of
/// its rank; `None` if no gap separates clusters there. `levels` are sorted.
fn gap_at_median(levels: &[f64]) -> Option<MedianGap> {
    let count = levels.len() as f64;
    let rank_error = 0.5 * Z * count.sqrt();
    let first = (0.5 * count - rank_error).max(0.0) as usize;
    let last = ((0.5 * count + rank_error) as usize + 2).min(levels.len());
    let gaps = levels[first..last]
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .enumerate();
    let (number, width) = gaps.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let below = (first + number) as f64 + 1.0;
    (width > MAX_LEVEL_GAP).then(|| MedianGap {
        lower_share: (below - 0.5 - rank_error).max(0.5) / count,
        upper_share: (below + 0.5 + 2.0 * rank_error).min(count - 0.5) / count,
    })
}

/// Returns the level above which samples are rare interruptions; `levels` are sorted. `None`
/// without levels.
pub fn interruption_threshold(levels: &[f64]) -> Option<f64> {
    /// The distance from that quantile beyond which samples are interruptions: this multiple of the
    /// distance between the median and the quantile, plus this number of levels. *Judgement*:
    /// halved or doubled, it moves one timer at most.
    const INTERRUPTION_DISTANCE: (f64, f64) = (2.0, 3.0);
    let (middle, high) = (
        quantile(levels, 0.5)?,
        quantile(levels, UNINTERRUPTED_SHARE)?,
    );
    Some(high + INTERRUPTION_DISTANCE.0 * (high - middle) + INTERRUPTION_DISTANCE.1)
}

/// Returns the overdispersion, between blocks, of the number of samples at or below the `middle`
/// level: the variance of these numbers divided by their variance by chance, but at least 1. Locked
/// phases and costs that change slowly correlate neighbouring samples.
fn dispersion(in_order: &[f64], middle: f64) -> f64 {
    let counts: Vec<f64> = in_order
        .chunks_exact(BLOCK_SAMPLES)
        .map(|block| block.iter().filter(|&&level| level <= middle).count() as f64)
        .collect();
    let Some(centre) = mean(&counts) else {
        return 1.0;
    };
    let share = centre / BLOCK_SAMPLES as f64;
    let by_chance = centre * (1.0 - share);
    let squares: f64 = counts.iter().map(|count| (count - centre).powi(2)).sum();
    // NaN, and then 1, for a single block and for samples that all lie on one side of the middle.
    (squares / (counts.len() - 1) as f64 / by_chance).max(1.0)
}

/// The second and third central moments of all samples except rare interruptions, in squared and
/// cubed steps.
pub fn core_moments(cells: &LevelCounts) -> [f64; 2] {
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

/// The share of rare interruptions among samples. `None` without samples.
pub fn interruption_share(samples: &[i64], step: f64) -> Option<f64> {
    let cells = LevelCounts::from_samples(samples, step)?;
    Some(1.0 - cells.core().len() as f64 / cells.samples())
}

/// All samples except rare interruptions, in their order, in steps.
pub fn without_interruptions(samples: &[i64], step: f64) -> Vec<f64> {
    let in_order: Vec<f64> = samples
        .iter()
        .map(|&ticks| (ticks as f64 / step).round())
        .collect();
    let Some(threshold) = interruption_threshold(&sorted(&in_order)) else {
        return Vec::new();
    };
    in_order
        .into_iter()
        .filter(|&level| level <= threshold)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples of costs of 2.3, 5.2 and 9 steps, with shares of 55, 30 and 15 %, at all phases.
    fn three_costs() -> Vec<i64> {
        let costs = (0..100).flat_map(|at| {
            let cost = [2.3, 5.2, 9.0][usize::from(at >= 55) + usize::from(at >= 85)];
            (0..20).map(move |phase| (cost + f64::from(phase) / 20.0 + 0.02) as i64)
        });
        costs.collect()
    }

    #[test]
    fn mode_at_its_edge_has_its_mean() {
        let cells = LevelCounts::from_samples(&three_costs(), 1.0).unwrap();
        for median in [2.3, 2.9, 3.4] {
            let mode = cells.narrow_mode(median).unwrap();
            assert!((mode - 2.3).abs() < 0.05, "{median}: {mode}");
        }
    }

    #[test]
    fn wide_mode_is_not_narrow() {
        let smooth: Vec<i64> = (0..400).map(|at| (at * at) / 8_000).collect();
        assert_eq!(
            LevelCounts::from_samples(&smooth, 1.0)
                .unwrap()
                .narrow_mode(3.0),
            None
        );
    }
}
