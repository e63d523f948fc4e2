//! Describes the distribution of single calls over all processes: its modes, its tail, and the
//! deviations within and between processes. The authors of the Quality suggest such a description in
//! addition to the spread (ICPE 2011, section 6).

use super::estimates::{Estimates, ProcessEstimate, medians};
use crate::cost::singles::MeasuringClock;
use crate::distribution::{Levels, variance_of_constant};
use crate::model::{Distribution, Mode};
use crate::statistics::{mean, midmean, standard_deviation};

/// The smallest share of calls in a mode; a smaller one counts as part of the tail. *Default*: moves
/// no figure.
const MIN_MODE_SHARE: f64 = 0.005;
/// A level with a smaller share of the calls counts as empty. *Chance*: fewer than 10 of 5 000 calls.
const MIN_LEVEL_SHARE: f64 = 0.002;
/// The largest distance between levels of one mode, in steps. *Computed*: a single cost shows at two
/// levels.
const MAX_LEVEL_GAP: f64 = 3.0;
/// The number of levels of the widest mode: what spreads over more is no mode. *Judgement*.
const MAX_MODE_LEVELS: f64 = 24.0;

/// Levels that no gap divides, in steps.
struct Cluster {
    mean: f64,
    variance: f64,
    share: f64,
    width: f64,
}

/// Describes the distribution; `None` without processes.
pub fn distribution(estimates: &Estimates, clock: &MeasuringClock) -> Option<Distribution> {
    let step_ns = clock.step * clock.ns_per_tick;
    let described: Vec<(Vec<Cluster>, &ProcessEstimate)> = (estimates.processes.iter())
        .map(|process| (modes(&process.calls.finest().levels), process))
        .collect();
    let tail = mean(
        described
            .iter()
            .map(|(_, process)| process.calls.finest().levels.interruption_share()),
    )?;
    let deviation = |(modes, process): &(Vec<Cluster>, &ProcessEstimate)| {
        let finest = process.calls.finest();
        let distance = |mode: &&Cluster| (mode.mean - finest.median).abs();
        let own = modes
            .iter()
            .min_by(|a, b| distance(a).total_cmp(&distance(b)));
        let variance = own.map_or(finest.levels.variance(), |mode| {
            mode.variance - variance_of_constant(mode.mean)
        });
        variance.max(0.0).sqrt()
    };
    // The modes come from the processes with the median number of modes. Each mode is at its mean
    // distance from the median of the process.
    let mut counts: Vec<usize> = described.iter().map(|(modes, _)| modes.len()).collect();
    counts.sort_unstable();
    let count = counts[counts.len() / 2];
    let typical = || described.iter().filter(|(modes, _)| modes.len() == count);
    let costs = medians(&estimates.processes);
    let centre = midmean(&costs)?;
    let mode = |number: usize| {
        let from_median = midmean(
            typical().map(|(modes, process)| modes[number].mean - process.calls.finest().median),
        )?;
        Some(Mode {
            ns: (centre + from_median * step_ns).max(0.0),
            share: midmean(typical().map(|(modes, _)| modes[number].share))?,
        })
    };
    Some(Distribution {
        modes: (0..count).filter_map(mode).collect(),
        within_ns: midmean(described.iter().map(deviation))? * step_ns,
        between_ns: standard_deviation(&costs),
        tail_share: tail.clamp(0.0, 1.0),
    })
}

/// The modes of one process; none if the calls spread over too many levels.
fn modes(levels: &Levels) -> Vec<Cluster> {
    let occupied: Vec<(f64, f64)> = levels
        .shares()
        .filter(|(_, share)| *share >= MIN_LEVEL_SHARE)
        .collect();
    let cluster = |same: &[(f64, f64)]| {
        let share: f64 = same.iter().map(|(_, share)| share).sum();
        let moment = |value: &dyn Fn(f64) -> f64| {
            same.iter()
                .map(|(level, share)| value(*level) * share)
                .sum::<f64>()
                / share
        };
        let mean = moment(&|level| level);
        Cluster {
            mean,
            variance: moment(&|level| (level - mean).powi(2)),
            share,
            width: same[same.len() - 1].0 - same[0].0,
        }
    };
    let clusters = occupied.chunk_by(|(one, _), (next, _)| next - one <= MAX_LEVEL_GAP);
    let modes: Vec<Cluster> = clusters
        .map(cluster)
        .filter(|cluster| cluster.share > MIN_MODE_SHARE)
        .collect();
    match modes.iter().all(|mode| mode.width < MAX_MODE_LEVELS) {
        true => modes,
        false => Vec::new(),
    }
}
