//! Chains of dependent instructions, timed: what tells at which frequency the core really runs.
//!
//! What ticks: `CLOCK_MONOTONIC`, read once before a chain and once after it. How it lies: a chain that was
//! interrupted is longer than its instructions, never shorter, so the median of many chains is to be believed and
//! their mean is not. The clock may advance in steps of up to 1 µs; a chain should take 100 µs or more.

use crate::posix::Monotonic;
use crate::{Timer, Unavailable, work};

/// Nanoseconds that a chain of `count` dependent additions takes, measured `repeat` times. The chain has a multiple
/// of 16 additions: `count` is rounded up.
///
/// # Errors
/// Says why the monotonic clock cannot be read.
pub fn time_additions(count: u64, repeat: u32) -> Result<Vec<i64>, Unavailable> {
    time(|| work::dependent_additions(count), repeat)
}

/// Nanoseconds that a chain of `count` dependent multiplications takes, measured `repeat` times. The chain has a
/// multiple of 8 multiplications: `count` is rounded up.
///
/// # Errors
/// Says why the monotonic clock cannot be read.
pub fn time_multiplications(count: u64, repeat: u32) -> Result<Vec<i64>, Unavailable> {
    time(|| work::dependent_multiplications(count), repeat)
}

fn time(chain: impl Fn(), repeat: u32) -> Result<Vec<i64>, Unavailable> {
    const { assert!(matches!(Monotonic::INFO.ns_per_tick, Some(1.0)), "its ticks are nanoseconds") };
    let clock = Monotonic::open()?;
    Ok((0..repeat)
        .map(|_| {
            let first = clock.read();
            chain();
            let second = clock.read();
            clock.ticks(second).since(clock.ticks(first))
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_figure_a_chain() {
        for time in [time_additions, time_multiplications] {
            if let Ok(chains) = time(1 << 12, 7) {
                assert_eq!(chains.len(), 7);
                assert!(
                    chains.iter().all(|&ns| ns >= 0),
                    "CLOCK_MONOTONIC does not go backwards: {chains:?}"
                );
            }
        }
    }

    #[test]
    fn a_longer_chain_takes_longer() {
        let shortest = |count| time_additions(count, 20).ok().and_then(|chains| chains.into_iter().min());
        if let (Some(short), Some(long)) = (shortest(1 << 10), shortest(1 << 20)) {
            assert!(long > short, "{long} ns against {short} ns");
        }
    }
}
