//! Allan deviation: how much the rate of a clock differs from one window to the next, by the length of the windows.

use crate::analysis::statistics::median;

/// How much the lengths of windows that are held against each other may differ, as a share of them.
/// *Default*: moves no figure.
const ALIKE: f64 = 0.15;

/// Fewest pairs of windows that tell a deviation.
/// *Default*: moves no figure.
const FEWEST: u32 = 3;

/// The overlapping Allan deviation over windows of about that length, and how long they are in the mean. `samples` are (time,
/// phase) in ascending time. Two windows follow each other from each sample on, from sample to sample: nothing is
/// interpolated, as that would smooth what is looked for. Where samples are equally spaced this is
/// √(Σ (x[i+2n] − 2 x[i+n] + x[i])² / (2 (N − 2n))) / (n τ₀) (Riley, *Handbook of Frequency Stability Analysis*, NIST Special
/// Publication 1065, section 5.2.4). `None` where too few windows follow each other.
#[must_use]
pub fn deviation(samples: &[(f64, f64)], window: f64) -> Option<(f64, f64)> {
    let nearest = |time: f64| {
        let after = samples.partition_point(|&(other, _)| other < time);
        let nearer = |at: &usize| samples.get(*at).map_or(f64::INFINITY, |(other, _)| (other - time).abs());
        [after.saturating_sub(1), after].into_iter().min_by(|a, b| nearer(a).total_cmp(&nearer(b)))
    };
    let end = samples.last()?.0 + 1e-6 * window;
    let next = |(time, _): (f64, f64), length: f64| {
        if time + length > end {
            return None;
        }
        let sample = *samples.get(nearest(time + length)?)?;
        let found = sample.0 - time;
        (found > 0.0 && (found / length - 1.0).abs() <= ALIKE).then_some((sample, found))
    };
    let (mut terms, mut sum, mut lengths) = (0, 0.0, 0.0);
    for &first in samples {
        let Some((middle, before)) = next(first, window) else { continue };
        let Some((last, after)) = next(middle, before) else { continue };
        sum += ((last.1 - middle.1) / after - (middle.1 - first.1) / before).powi(2);
        lengths += before + after;
        terms += 1;
    }
    let count = f64::from(terms);
    (terms >= FEWEST).then(|| (lengths / (2.0 * count), (sum / (2.0 * count)).sqrt()))
}

/// The deviation at windows of 1, 2, 4, … usual distances between samples, each with its length.
#[must_use]
pub fn deviations(samples: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let gaps: Vec<f64> = samples.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    let usual = median(&gaps).filter(|gap| *gap > 0.0 && gap.is_finite());
    let (Some(usual), Some(first), Some(last)) = (usual, samples.first(), samples.last()) else {
        return Vec::new();
    };
    let longest = (last.0 - first.0) / 2.0 * (1.0 + ALIKE);
    let windows =
        (0..62).map(|octave| usual * (1_u64 << octave) as f64).take_while(|window| *window <= longest);
    windows.filter_map(|window| deviation(samples, window)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;

    fn even(phases: &[f64]) -> Vec<(f64, f64)> {
        phases.iter().enumerate().map(|(at, phase)| (at as f64, *phase)).collect()
    }

    #[test]
    fn a_steady_rate_has_no_deviation() {
        let phases: Vec<f64> = (0..50).map(|i| 3.0 + 0.25 * f64::from(i)).collect();
        let found = deviations(&even(&phases));
        assert_eq!(found.len(), 5);
        assert!(found.iter().all(|(_, deviation)| *deviation < 1e-12), "{found:?}");
    }

    #[test]
    fn the_published_example() {
        // Nine frequencies whose overlapping Allan deviation Riley gives as 91.22945 at one spacing and 85.95287 at two
        // (NIST SP 1065, section 12.2, the suite of nine points).
        let frequencies = [892.0, 809.0, 823.0, 798.0, 671.0, 644.0, 883.0, 903.0, 677.0];
        let mut phases = vec![0.0];
        for frequency in frequencies {
            phases.push(phases[phases.len() - 1] + frequency);
        }
        let at = |window| deviation(&even(&phases), window).expect("long enough").1;
        assert!((at(1.0) - 91.22945).abs() < 1e-4, "{}", at(1.0));
        assert!((at(2.0) - 85.95287).abs() < 1e-4, "{}", at(2.0));
    }

    #[test]
    fn gaps_do_not_make_a_clock_steadier() {
        // A clock of steps of 4 whose phase is random, looked at once in 14, with gaps of 40 to 300 for half of the time.
        let (mut time, mut random) = (0.0, StdRng::seed_from_u64(1));
        let mut random = || random.random_range(0.0..1.0);
        let samples: Vec<(f64, f64)> = (0..4_000)
            .map(|at| {
                time += if at % 70 < 40 { 13.5 + random() } else { 40.0 + 260.0 * random() };
                (time, -4.0 * random())
            })
            .collect();
        for (window, found) in deviations(&samples).into_iter().take(5) {
            // White noise of the phase: √3 σ / τ.
            let expected = 3_f64.sqrt() * 4.0 / 12_f64.sqrt() / window;
            assert!((found / expected - 1.0).abs() < 0.15, "{window}: {found} for {expected}");
        }
    }

    #[test]
    fn what_is_too_little_tells_nothing() {
        assert_eq!(deviations(&[]), []);
        assert_eq!(deviations(&[(1.0, 0.0); 4]), []);
        assert_eq!(deviations(&[(0.0, 0.0), (1.0, 0.0), (2.0, 1.0)]), []);
        assert_eq!(deviation(&even(&[0.0; 9]), f64::NAN), None);
    }

    proptest! {
        #[test]
        fn neither_offset_nor_rate_matters(
            steps in prop::collection::vec((0.1..3.0_f64, -1e3..1e3_f64), 7..60),
            offset in -1e3..1e3_f64,
            rate in -1.0..1.0_f64,
        ) {
            let mut time = 0.0;
            let samples: Vec<(f64, f64)> = steps
                .into_iter()
                .map(|(step, phase)| {
                    time += step;
                    (time, phase)
                })
                .collect();
            let other: Vec<(f64, f64)> = samples.iter().map(|&(t, x)| (t, x + offset + rate * t)).collect();
            for ((_, a), (_, b)) in deviations(&samples).into_iter().zip(deviations(&other)) {
                prop_assert!((a - b).abs() < 1e-6 * (1.0 + a));
            }
        }

        #[test]
        fn whatever_the_samples_are(samples in prop::collection::vec((any::<f64>(), any::<f64>()), 0..20)) {
            let found = deviations(&samples);
            prop_assert!(found.len() <= 62);
        }
    }
}
