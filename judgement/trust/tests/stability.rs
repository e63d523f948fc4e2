//! Tests the stability verdict, one kind of clock or disturbance per file.

mod coarse_steps;
mod cpu_clocks;
mod jumps_and_rates;
mod wall_clocks;

use super::*;

fn series(rate: f64, disturb: impl Fn(usize, i64) -> i64) -> Vec<[i64; 3]> {
    (0..40_usize)
        .map(|k| {
            let reference = 1_000_000 * k as i64;
            let timer = ((reference + 30) as f64 * rate) as i64;
            [reference, disturb(k, timer), reference + 60]
        })
        .collect()
}

fn stable(series: Vec<[i64; 3]>) -> crate::model::Stable {
    verdicts(Evidence {
        series,
        ..Evidence::default()
    })
    .stable
}
