//! Tests which jumps the stability verdict finds, and the interval of the rate, also over several
//! processes.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::*;

/// Returns comparisons of a clock at a distance of `apart` nanoseconds ± 10 %, each 60 ns wide;
/// `ahead` gives its offset from the reference at a time, in nanoseconds.
fn jittered_comparisons(
    apart: i64,
    count: usize,
    seed: u64,
    ahead: impl Fn(f64) -> f64,
) -> Vec<[i64; 3]> {
    let mut random = StdRng::seed_from_u64(seed);
    let mut now = 0;
    (0..count)
        .map(|_| {
            now += apart + random.random_range(-apart / 10..=apart / 10);
            let read = now + random.random_range(1..60);
            [now, read + ahead(read as f64) as i64, now + 60]
        })
        .collect()
}

fn stable_from_sparse(sparse_comparisons: Vec<[i64; 3]>) -> Stable {
    verdicts(Evidence {
        sparse_comparisons,
        ..Evidence::default()
    })
    .stable
}

/// Returns whether a jump was found, or is not larger than the verdict says could be overlooked.
fn found_or_below_limit(found: &Stable, jump_ns: f64) -> bool {
    found.jumps + found.freezes > 0 || found.smallest_jump_ns.is_some_and(|seen| seen >= jump_ns)
}

#[test]
fn jumps_of_any_length_are_found() {
    for (apart, jump) in [
        (8_000_000_000, 8e6),
        (8_000_000_000, 30e6),
        (1_500_000_000, 1e6),
        (500_000_000, 1e6),
    ] {
        for seed in 0..50 {
            let at = apart as f64 * (1.5 + seed as f64 / 10.0);
            let found = stable_from_sparse(jittered_comparisons(apart, 9, seed, |now| {
                if now > at { jump } else { 0.0 }
            }));
            assert!(
                found_or_below_limit(&found, jump),
                "{apart} {jump}: {}",
                found.evidence
            );
            let (offset, half) = rate(&found);
            assert!(
                offset.abs() <= half,
                "{apart} {jump}: {offset} ± {half} ppm of a clock that keeps its rate"
            );
        }
    }
    let ahead = |now| if now > 2e9 { 30e6 } else { 0.0 };
    let found = stable_from_sparse(jittered_comparisons(500_000_000, 9, 1, ahead));
    assert_stable(&found, Outcome::Fail, "");
    assert_eq!(found.jumps, 1, "{}", found.evidence);
}

/// The clock loses 1 000 ppm and jumps ahead by 100 µs ten times a second, so that its mean rate is
/// right.
#[test]
fn jumps_make_rate_uncertain() {
    let ahead = |now: f64| 1e5 * (now / 1e8).floor() - 1e-3 * now;
    let (mut held, mut all) = (0, 0);
    for seed in 0..200 {
        for (apart, count) in [(150_000_000, 12), (400_000_000, 30), (1_500_000_000, 9)] {
            let found = stable_from_sparse(jittered_comparisons(apart, count, seed, ahead));
            assert!(found_or_below_limit(&found, 1e5), "{}", found.evidence);
            let (offset, half) = rate(&found);
            held += u32::from(offset.abs() <= half);
            all += 1;
        }
        // Closely spaced comparisons find the jumps.
        let close_comparisons = jittered_comparisons(14_000_000, 60, seed, ahead);
        let close = verdicts(Evidence {
            close_comparisons,
            ..Evidence::default()
        })
        .stable;
        assert_stable(&close, Outcome::Fail, "");
    }
    assert!(
        20 * held >= 19 * all,
        "{held} of {all} intervals hold the rate of 0"
    );
}

#[test]
fn steady_clock_has_narrow_interval() {
    for seed in 0..50 {
        let ahead = |now| 3e-6 * now;
        let found = stable_from_sparse(jittered_comparisons(500_000_000, 25, seed, ahead));
        let (offset, half) = rate(&found);
        assert!(
            (offset - 3.0).abs() <= half && half < 0.02,
            "{offset} ± {half}"
        );
    }
}

/// Returns the verdict for windows of 40 ms, each in a separate process that runs faster by a
/// number of ppm.
fn verdict_for_processes(ppm: &[f64]) -> Stable {
    verdict_for_window_and_processes(-0.47, ppm)
}

/// Returns the verdict for such windows and a longer one, whose process runs faster by `longest`.
fn verdict_for_window_and_processes(longest: f64, ppm: &[f64]) -> Stable {
    let process_comparisons = ppm
        .iter()
        .enumerate()
        .map(|(seed, ppm)| {
            let ends = jittered_comparisons(40_000_000, 2, seed as u64, |now| 1e-6 * ppm * now);
            [ends[0], ends[1]]
        })
        .collect();
    let sparse_comparisons = jittered_comparisons(500_000_000, 25, 7, |now| 1e-6 * longest * now);
    verdicts(Evidence {
        sparse_comparisons,
        process_comparisons,
        ..Evidence::default()
    })
    .stable
}

#[test]
fn process_rates_widen_the_uncertainty() {
    // Thirteen runs of a clock that calibrates itself.
    let mut found_by = vec![-0.47; 9];
    let agreeing = verdict_for_processes(&found_by);
    let (offset, half) = rate(&agreeing);
    assert!(
        (offset + 0.47).abs() < 0.01 && (1.0..6.0).contains(&half),
        "{offset} ± {half}"
    );
    assert_eq!(agreeing.rate_processes, Some(9));
    assert_stable(
        &agreeing,
        Outcome::Pass,
        "9 fresh processes are within that",
    );
    found_by.extend([-1.7, 0.8, 16.9, 18.1]);
    let found = verdict_for_processes(&found_by);
    let (offset, half) = rate(&found);
    assert!(
        found_by.iter().all(|ppm| (ppm - offset).abs() <= half),
        "{offset} ± {half}"
    );
    // The reported range includes all rates.
    assert_stable(&found, Outcome::Pass, "reference to 0 ± 21 ppm");
    assert_stable(&found, Outcome::Pass, "13 fresh processes are within that");
    // The process of the long window may be the outlier.
    let outlier = verdict_for_processes(&[18.1; 9]);
    let (offset, half) = rate(&outlier);
    assert!(
        (offset - 18.1).abs() < 4.0 && offset - half <= -0.47,
        "{offset} ± {half}"
    );
}

#[test]
fn false_rates_of_most_disqualify() {
    for (processes, outcome) in [
        // A rate that is known to no better than a twentieth is no pass: one of three ran half as fast.
        (&[0.0, 0.0, -500_000.0][..], Outcome::NotTested),
        // With the one that was watched for longest, two of four, or three of five.
        (&[0.0, 5_000.0, 5_000.0], Outcome::NotTested),
        (&[0.0, 5_000.0, 5_000.0, 5_000.0], Outcome::Fail),
    ] {
        assert_stable(&verdict_for_processes(processes), outcome, "");
    }
    // One outlier in several processes may occur by chance: its rate is in the interval.
    let found = verdict_for_processes(&[0.0, 0.0, 5_000.0]);
    assert_stable(&found, Outcome::Pass, "");
    let half = found.offset_uncertainty_ppm.unwrap();
    assert!(half >= 4_990.0, "±{half}: {}", found.evidence);
}

/// The process that was watched for longest is no more than one of the processes.
#[test]
fn false_rate_of_one_process_disqualifies_no_clock() {
    let found = verdict_for_window_and_processes(-1_513.0, &[0.0; 9]);
    assert_stable(&found, Outcome::Pass, "");
    let (offset, half) = rate(&found);
    assert!(
        offset.abs() < 4.0 && half > 1_500.0,
        "{offset} ± {half}: {}",
        found.evidence
    );
    for processes in [&[][..], &[-1_520.0; 9]] {
        let found = verdict_for_window_and_processes(-1_513.0, processes);
        assert_stable(&found, Outcome::Fail, "ppm slower than");
    }
}
