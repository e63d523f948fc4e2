//! Tests the stability verdict, one kind of clock or disturbance per file.

mod coarse_steps;
mod cpu_clocks;
mod jumps_and_rates;
mod wall_clocks;

use super::*;
use estimators::model::Stable;

fn series(rate: f64, disturb: impl Fn(usize, i64) -> i64) -> Vec<[i64; 3]> {
    (0..40_usize)
        .map(|k| {
            let reference = 1_000_000 * k as i64;
            let timer = ((reference + 30) as f64 * rate) as i64;
            [reference, disturb(k, timer), reference + 60]
        })
        .collect()
}

fn stable(series: Vec<[i64; 3]>) -> Stable {
    verdicts(Evidence {
        series,
        ..Evidence::default()
    })
    .stable
}

/// Checks the outcome of a verdict on stability, and that its evidence contains these words.
#[track_caller]
fn assert_stable(found: &Stable, outcome: Outcome, words: &str) {
    assert_eq!(found.outcome, outcome, "{}", found.evidence);
    assert!(found.evidence.contains(words), "{}", found.evidence);
}

/// The jumps and freezes that a verdict found.
fn leaps(found: &Stable) -> (u32, u32) {
    (found.jumps, found.freezes)
}

/// The rate that a verdict found, in ppm, and half the width of its interval.
fn rate(found: &Stable) -> (f64, f64) {
    let rate = found.offset_ppm.zip(found.offset_uncertainty_ppm);
    rate.unwrap_or_else(|| panic!("no rate: {found:?}"))
}
