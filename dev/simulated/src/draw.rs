//! Draws from distributions.

use rand::{Rng, RngExt};

/// Draws a number whose logarithm is uniformly distributed.
pub fn log_uniform(low: f64, high: f64, random: &mut impl Rng) -> f64 {
    low * (high / low).powf(random.random_range(0.0..1.0))
}

/// Draws from the exponential distribution.
pub fn exponential(mean: f64, random: &mut impl Rng) -> f64 {
    -mean * (1.0 - random.random_range(0.0..1.0_f64)).ln()
}

/// Draws from the standard normal distribution (Box and Muller, 1958).
pub fn normal(random: &mut impl Rng) -> f64 {
    let (radius, angle) = (
        exponential(2.0, random).sqrt(),
        random.random_range(0.0..std::f64::consts::TAU),
    );
    radius * angle.cos()
}

/// Draws from the gamma distribution with scale 1 and a shape of at least 1 (Marsaglia and Tsang,
/// ACM TOMS 26, 2000).
pub(crate) fn gamma(shape: f64, random: &mut impl Rng) -> f64 {
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(random);
        let v = (1.0 + c * x).powi(3);
        let u: f64 = random.random_range(0.0..1.0);
        if v > 0.0 && u.ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return d * v;
        }
    }
}
