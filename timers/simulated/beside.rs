//! A simulated clock that is to be had in two ways, one of which may be off.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// Readings of one way, the other, and the first again, of a clock of such steps whose reads take so long. The other way is ahead by
/// `skew_ns`, or behind.
#[must_use]
pub fn beside(step_ns: i64, read_ns: f64, skew_ns: i64, count: u32, seed: u64) -> Vec<[i64; 3]> {
    let mut random = StdRng::seed_from_u64(seed);
    let mut now = random.random_range(1e12..1e15);
    let mut read = |skew: i64, random: &mut StdRng| {
        let latch = random.random_range(0.2..0.8);
        now += latch * read_ns;
        let shown = (now as i64).div_euclid(step_ns) * step_ns + skew;
        now += (1.0 - latch) * read_ns + random.random_range(0.0..0.2 * read_ns);
        shown
    };
    (0..count).map(|_| [read(0, &mut random), read(skew_ns, &mut random), read(0, &mut random)]).collect()
}
