//! Tests whether the edges of a clock are equally spaced in time. An *edge* is the moment at which
//! the returned value changes, an *interval* the number of reads between two successive edges.
//! Browsers move each edge at random within its step, so that programs cannot measure time by
//! edges. The returned values are the same as with unmoved edges, but the intervals differ.

use crate::statistics::SIGNIFICANT_DEVIATIONS;

/// The least number of intervals for a test. *Judgement*: with this many intervals in random order,
/// the correlation of neighbours is below −0.2 in one of six clocks, but intervals between unmoved
/// edges are not irregular.
pub const MIN_INTERVALS: usize = 24;

/// The relative difference from the median from which an interval between two edges is irregular.
/// *Computed*: if both edges are uniformly distributed within a step, the interval has a triangular
/// distribution over two steps, and 56 % are irregular.
const IRREGULAR_DIFFERENCE: f64 = 0.25;

/// The least share of irregular intervals if all edges are moved. *Judgement*: between the 56 % of
/// moved edges and the few that interrupts and garbage collections cause.
const MIN_ALL_MOVED_SHARE: f64 = 0.35;

/// The largest correlation of neighbouring intervals if edges are moved. *Computed*: a late edge
/// makes one interval longer and the next one shorter by the same amount, a correlation of −0.5;
/// slow reads make neighbours similar.
const MAX_MOVED_CORRELATION: f64 = -0.2;

/// The least share of irregular intervals if only some edges are moved, as in Firefox, which moves
/// some by half a step. *Judgement*: in intervals of four reads or more, counting whole reads alone
/// makes fewer intervals irregular.
const MIN_SOME_MOVED_SHARE: f64 = 0.1;

/// The number of consecutive intervals in a sum for the variance ratio. *Judgement*: with sixty
/// intervals between moved edges, 29 of 30 clocks pass.
const SUMMED_INTERVALS: usize = 4;

/// Returns the intervals between edges that are one step apart, in runs of consecutive intervals. A
/// step is the smallest positive difference of successive readings. Differences that begin or end
/// with a longer difference are left out and separate two runs.
pub fn reads_between_edges(readings: &[i64]) -> Vec<Vec<u32>> {
    let edges: Vec<(usize, i64)> = readings
        .windows(2)
        .enumerate()
        .filter(|(_, pair)| pair[1] != pair[0])
        .map(|(at, pair)| (at, pair[1] - pair[0]))
        .collect();
    let Some(step) = edges
        .iter()
        .map(|(_, step)| *step)
        .filter(|step| *step > 0)
        .min()
    else {
        return Vec::new();
    };
    let mut runs = vec![Vec::new()];
    for pair in edges.windows(2) {
        // The first edge may follow a long interruption; its position is then unknown.
        let single_steps = pair.iter().all(|(_, moved)| *moved == step);
        match runs.last_mut() {
            Some(run) if single_steps => run.push((pair[1].0 - pair[0].0) as u32),
            Some(run) if run.is_empty() => {}
            _ => runs.push(Vec::new()),
        }
    }
    runs.retain(|run| !run.is_empty());
    runs
}

/// Returns whether edges are moved, from the runs of [`reads_between_edges`]; `None` if there are
/// too few intervals, or too few reads in an interval.
pub fn edges_are_moved(runs: &[Vec<u32>]) -> Option<bool> {
    let mut all: Vec<u32> = runs.iter().flatten().copied().collect();
    if all.len() < MIN_INTERVALS {
        return None;
    }
    all.sort_unstable();
    let median = f64::from(all[all.len() / 2]);
    // Too few reads between edges do not show the positions of the edges.
    if median < 4.0 {
        return None;
    }
    let irregular = all
        .iter()
        .filter(|&&reads| (f64::from(reads) - median).abs() > IRREGULAR_DIFFERENCE * median)
        .count();
    let irregular = irregular as f64 / all.len() as f64;
    Some(
        irregular > MIN_ALL_MOVED_SHARE && neighbour_correlation(runs)? < MAX_MOVED_CORRELATION
            || irregular > MIN_SOME_MOVED_SHARE && intervals_compensate(runs),
    )
}

/// Variance ratio test (Lo and MacKinlay, *Review of Financial Studies* 1, 1988): returns whether
/// intervals compensate each other, as between edges that are moved around a grid. Sums of such
/// intervals scatter less than sums of independent intervals. Slow reads have the opposite effect.
fn intervals_compensate(runs: &[Vec<u32>]) -> bool {
    let count = runs.iter().map(Vec::len).sum::<usize>() as f64;
    let mean = runs.iter().flatten().copied().map(f64::from).sum::<f64>() / count;
    let scatter = |length: usize| {
        let sums = runs.iter().flat_map(|run| run.windows(length));
        let squared_deviation = |span: &[u32]| {
            span.iter()
                .map(|&reads| f64::from(reads) - mean)
                .sum::<f64>()
                .powi(2)
        };
        let (sum, number) = sums
            .map(squared_deviation)
            .fold((0.0, 0.0), |(sum, number), square| {
                (sum + square, number + 1.0)
            });
        sum / number / length as f64
    };
    let ratio = scatter(SUMMED_INTERVALS) / scatter(1);
    let length = SUMMED_INTERVALS as f64;
    let deviation = (2.0 * (2.0 * length - 1.0) * (length - 1.0) / (3.0 * length * count)).sqrt();
    // Without consecutive intervals the ratio is NaN, and the result is false.
    ratio < 1.0 - SIGNIFICANT_DEVIATIONS * deviation
}

/// The correlation of neighbouring intervals; `None` without variation.
fn neighbour_correlation(runs: &[Vec<u32>]) -> Option<f64> {
    let pairs: Vec<[f64; 2]> = runs
        .iter()
        .flat_map(|run| run.windows(2))
        .map(|pair| [f64::from(pair[0]), f64::from(pair[1])])
        .collect();
    let count = pairs.len() as f64;
    let means = [0, 1].map(|side| pairs.iter().map(|pair| pair[side]).sum::<f64>() / count);
    let product = |a: usize, b: usize| {
        pairs
            .iter()
            .map(|pair| (pair[a] - means[a]) * (pair[b] - means[b]))
            .sum::<f64>()
    };
    let correlation = product(0, 1) / (product(0, 0) * product(1, 1)).sqrt();
    correlation.is_finite().then_some(correlation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    /// Draws the position of an edge within its step.
    type MovedBy = fn(&mut StdRng) -> f64;

    const IN_PLACE: MovedBy = |_| 0.0;
    const ANYWHERE: MovedBy = |random| random.random();
    /// Like Firefox: one in three edges is moved by half a step.
    const SOME: MovedBy = |random| {
        if random.random_bool(1.0 / 3.0) {
            0.5
        } else {
            0.0
        }
    };

    /// Whether edges are found to be moved in readings of a clock with a step of 100 000 ticks, each
    /// read taking 500 ticks on average and sometimes much longer.
    fn detected(
        seed: u64,
        count: usize,
        moved_by: MovedBy,
        noise: f64,
        pauses: f64,
    ) -> Option<bool> {
        const STEP: f64 = 100_000.0;
        let mut random = StdRng::seed_from_u64(seed);
        let thresholds: Vec<f64> = (0..count).map(|_| moved_by(&mut random)).collect();
        let mut time = 7.0 * STEP;
        let mut speed = 1.0;
        let read = |_| {
            if random.random::<f64>() < pauses {
                time += random.random::<f64>() * 5.0 * STEP;
                speed = 1.0 + noise * random.random::<f64>();
            }
            time += 500.0 * speed * (1.0 + noise * random.random::<f64>());
            let cell = (time / STEP).floor();
            let past = time / STEP - cell >= thresholds[cell as usize % count];
            ((cell + if past { 0.0 } else { -1.0 }) * STEP) as i64
        };
        let readings: Vec<i64> = (0..count).map(read).collect();
        edges_are_moved(&reads_between_edges(&readings))
    }

    /// There are no false positives; moved edges may be missed if the duration of reads varies by
    /// more than half.
    #[test]
    fn separates_moved_edges() {
        const SEEDS: u64 = 200;
        for (moved_by, noise, pauses, unseen) in [
            (ANYWHERE, 0.0, 0.0, 0),
            (ANYWHERE, 0.1, 0.000_1, 0),
            (ANYWHERE, 0.6, 0.000_5, SEEDS / 20),
            (SOME, 0.1, 0.000_1, SEEDS / 20),
        ] {
            let mut missed = 0;
            for seed in 0..SEEDS {
                let is_found = |moved_by| detected(seed, 40_000, moved_by, noise, pauses);
                missed += u64::from(is_found(moved_by) != Some(true));
                let false_alarm = is_found(IN_PLACE);
                assert_eq!(false_alarm, Some(false), "seed {seed}, noise {noise}");
            }
            assert!(missed <= unseen, "noise {noise}: {missed}");
        }
    }

    /// Many irregular intervals that do not compensate each other.
    #[test]
    fn uncompensated_intervals_are_not_moved() {
        let mut random = StdRng::seed_from_u64(7);
        let mut detected = 0;
        for _ in 0..2_000 {
            let interval = |_| {
                40 - if random.random::<f64>() < 0.3 {
                    random.random_range(11..30)
                } else {
                    0
                }
            };
            detected +=
                u32::from(edges_are_moved(&[(0..200).map(interval).collect()]) == Some(true));
        }
        assert!(detected <= 10, "{detected} of 2000");
    }

    #[test]
    fn too_few_edges_give_nothing() {
        assert_eq!(detected(1, 3_000, ANYWHERE, 0.0, 0.0), None);
        // In the last, each read is an edge.
        for readings in [vec![], vec![5; 100], (0..1_000).collect()] {
            assert_eq!(edges_are_moved(&reads_between_edges(&readings)), None);
        }
    }
}
