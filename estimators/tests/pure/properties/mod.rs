//! What holds for the pure functions whatever they are given.

mod order;
mod order_statistics;
mod rates;
mod resolution;
mod single_invocations;

use proptest::collection::vec;
use proptest::prelude::*;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

use estimators::cost::singles::successive;
use estimators::distribution::{Levels, Located, variance_in_batches};
use estimators::rate::order::Backward;
use estimators::rate::{ns_per_tick, ticks_per_work};
use estimators::resolution::agreement::{Process, confirm_by_processes};
use estimators::resolution::{KnownDurations, Step, resolve};
use estimators::statistics::{
    mean, mean_over_processes, median, midmean, midmean_without_highest, quantile, sorted,
};
use estimators::trace::Differences;

fn group(work: u64, deltas: Vec<i64>) -> Differences {
    let deltas = deltas.into();
    Differences { work, deltas }
}

fn near(found: f64, expected: f64, share: f64) -> bool {
    (found - expected).abs() <= share * expected.abs().max(1e-9)
}

fn shuffled<T: Clone>(values: &[T], seed: u64) -> Vec<T> {
    let mut values = values.to_vec();
    values.shuffle(&mut StdRng::seed_from_u64(seed));
    values
}

/// Figures as they occur: times in nanoseconds or ticks.
fn figures(least: usize) -> impl Strategy<Value = Vec<f64>> {
    vec(0.0..1e9_f64, least..60)
}
