//! Model distributions of the cost of single invocations, in steps of the clock that measures them:
//! a mixture of one or two costs, each convolved with a normal and an exponential distribution.
//! This convolution, which is the same for both costs, is the *blur*; its exponential part is the
//! *tail*.

use statrs::function::erf::erfc;

/// A mixture of one or two costs with a common blur.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mixture {
    /// Locations of the two costs, in steps. The mean of each blurred cost is its location plus
    /// `tail`.
    pub locations: [f64; 2],
    /// The share of the second cost.
    pub weight: f64,
    /// Standard deviation of the normal part of the blur, in steps.
    pub normal: f64,
    /// Mean of the exponential part of the blur, in steps.
    pub tail: f64,
}

/// The normal or the exponential part of a blur is ignored if it is shorter than this share of a
/// step, or of the sum of both parts. *Numerical*: the closed form would suffer from cancellation.
const NEGLIGIBLE_BLUR: f64 = 0.02;

impl Mixture {
    /// A single constant cost.
    pub fn one_constant_cost(location: f64) -> Self {
        Self {
            locations: [location; 2],
            weight: 0.0,
            normal: 0.0,
            tail: 0.0,
        }
    }

    /// A single cost with the given mean, standard deviation and skewness. The skewness is limited
    /// to the range from 0 (normal) to 2 (exponential).
    pub fn one_cost(mean: f64, deviation: f64, skewness: f64) -> Self {
        // The third central moment of the sum of a normal and an exponential variable is twice the
        // cube of the mean of the exponential one.
        let tail = deviation * (skewness.clamp(0.0, 2.0) / 2.0).cbrt();
        let normal = (deviation * deviation - tail * tail).max(0.0).sqrt();
        Self {
            locations: [mean - tail; 2],
            weight: 0.0,
            normal,
            tail,
        }
    }

    /// Two constant costs whose mixture has the given mean, standard deviation and skewness.
    pub fn two_costs(mean: f64, deviation: f64, skewness: f64) -> Self {
        // skewness = (1 − 2w) / √(w (1 − w)) for the weight w of the higher cost.
        let weight = 0.5 - skewness / (2.0 * (4.0 + skewness * skewness).sqrt());
        let distance = deviation / (weight * (1.0 - weight)).sqrt();
        let first = mean - weight * distance;
        Self {
            locations: [first, first + distance],
            weight,
            normal: 0.0,
            tail: 0.0,
        }
    }

    /// The mean, in steps.
    pub fn mean(&self) -> f64 {
        self.locations[0] + self.weight * (self.locations[1] - self.locations[0]) + self.tail
    }

    /// The variance, in squared steps.
    pub fn variance(&self) -> f64 {
        let distance = self.locations[1] - self.locations[0];
        self.weight * (1.0 - self.weight) * distance * distance
            + self.normal * self.normal
            + self.tail * self.tail
    }

    /// The third central moment, in cubed steps.
    pub fn third_central_moment(&self) -> f64 {
        let distance = self.locations[1] - self.locations[0];
        let weight = self.weight;
        weight * (1.0 - weight) * (1.0 - 2.0 * weight) * distance.powi(3) + 2.0 * self.tail.powi(3)
    }

    /// The same distribution, shifted up by `steps`.
    pub fn shifted(self, steps: f64) -> Self {
        Self {
            locations: self.locations.map(|location| location + steps),
            ..self
        }
    }

    /// The cumulative distribution function: the share of costs up to `level`.
    pub fn cumulative(&self, level: f64) -> f64 {
        self.weighted_mean(|location| self.component_cumulative(level - location).0)
    }

    /// The integral of the cumulative distribution function up to `level`.
    pub fn integral(&self, level: f64) -> f64 {
        self.weighted_mean(|location| self.component_cumulative(level - location).1)
    }

    /// The mean of `value` over the locations, weighted with their shares.
    fn weighted_mean(&self, value: impl Fn(f64) -> f64) -> f64 {
        let first = value(self.locations[0]);
        if self.weight == 0.0 {
            first
        } else {
            first + self.weight * (value(self.locations[1]) - first)
        }
    }

    /// The cumulative distribution function of one blurred cost, and its integral, at a distance of
    /// `above` from the location.
    fn component_cumulative(&self, above: f64) -> (f64, f64) {
        let least = NEGLIGIBLE_BLUR.max(NEGLIGIBLE_BLUR * (self.normal + self.tail));
        let (normal, tail) = (self.normal, self.tail);
        let (share, integral) = if normal < least {
            if above < 0.0 {
                (0.0, 0.0)
            } else {
                (1.0, above)
            }
        } else {
            let deviations = above / normal;
            let (share, density) = (
                normal_cumulative(deviations),
                (-deviations * deviations / 2.0).exp() / std::f64::consts::TAU.sqrt(),
            );
            (share, normal * (deviations * share + density))
        };
        if tail < least {
            return (share, integral);
        }
        // With an exponential tail, the density is the difference of the cumulative distributions
        // without and with the tail, divided by the mean of the tail; this gives both results.
        let with_tail = if normal < least {
            if above < 0.0 {
                0.0
            } else {
                1.0 - (-above / tail).exp()
            }
        } else {
            let ratio = normal / tail;
            let shift = above / normal - ratio;
            // Far below the location, the product of a huge and a tiny number is almost zero.
            let exponent = ratio * ratio / 2.0 - above / tail;
            let product = if shift < -7.0 {
                0.0
            } else {
                exponent.min(700.0).exp() * normal_cumulative(shift)
            };
            (share - product).clamp(0.0, share)
        };
        (with_tail, (integral - tail * with_tail).max(0.0))
    }
}

/// The standard normal cumulative distribution function.
fn normal_cumulative(x: f64) -> f64 {
    0.5 * erfc(-x / std::f64::consts::SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integral_matches_numerical_sum() {
        let mixtures = [
            Mixture::one_constant_cost(2.2),
            Mixture::one_cost(2.0, 0.7, 0.0),
            Mixture::one_cost(2.0, 0.7, 0.8),
            Mixture::one_cost(2.0, 0.7, 2.0),
            Mixture::two_costs(2.0, 0.7, 0.6),
            Mixture {
                locations: [1.0, 3.0],
                weight: 0.3,
                normal: 0.2,
                tail: 0.5,
            },
        ];
        for mixture in mixtures {
            for level in [-0.5, 1.3, 2.0, 2.9, 6.0] {
                let parts = 20_000;
                let width = (level + 8.0) / f64::from(parts);
                let at = |part: i32| mixture.cumulative(-8.0 + (f64::from(part) + 0.5) * width);
                let sum: f64 = (0..parts).map(at).sum::<f64>() * width;
                assert!(
                    (mixture.integral(level) - sum).abs() < 2e-3,
                    "{mixture:?} at {level}: {}",
                    mixture.integral(level)
                );
            }
        }
    }

    #[test]
    fn moments_and_medians_match_targets() {
        for skewness in [0.0, 0.5, 1.0, 2.0] {
            for mixture in [
                Mixture::one_cost(5.0, 0.5, skewness),
                Mixture::two_costs(5.0, 0.5, skewness),
            ] {
                assert!(
                    (mixture.mean() - 5.0).abs() < 1e-9 && (mixture.variance() - 0.25).abs() < 1e-9,
                    "{mixture:?}"
                );
                assert!(
                    (mixture.third_central_moment() / 0.125 - skewness).abs() < 1e-9,
                    "{mixture:?}"
                );
            }
        }
        assert!((Mixture::one_cost(5.0, 0.5, 0.0).cumulative(5.0) - 0.5).abs() < 1e-6);
        let tail = Mixture::one_cost(5.0, 0.5, 2.0).cumulative(4.5 + 0.5 * 2.0_f64.ln());
        assert!((tail - 0.5).abs() < 1e-6, "{tail}");
    }
}
