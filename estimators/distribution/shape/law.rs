//! The laws that costs of single invocations are taken to follow, in steps of the clock that shows
//! them: one or two costs, each blurred by a normal law and by an exponential tail.

use statrs::function::erf::erfc;

/// One cost or two, with the same blur.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Law {
    /// Where the two costs begin: the mean of each lies a tail above.
    pub place: [f64; 2],
    /// The share of the second.
    pub weight: f64,
    /// Standard deviation of the normal blur.
    pub normal: f64,
    /// Mean of the exponential tail.
    pub tail: f64,
}

/// A blur shorter than this part of a step, or of the other blur, does not show: the closed form
/// with it would cancel. *Numerical*.
const NO_BLUR: f64 = 0.02;

impl Law {
    /// A single cost that does not vary.
    pub fn constant(place: f64) -> Self {
        Self {
            place: [place; 2],
            weight: 0.0,
            normal: 0.0,
            tail: 0.0,
        }
    }

    /// One cost of this mean, standard deviation and skewness, which is kept between 0 (normal) and
    /// 2 (a tail).
    pub fn one(mean: f64, deviation: f64, skewness: f64) -> Self {
        // The third central moment of a normal law with an exponential tail is twice the cube of
        // the tail.
        let tail = deviation * (skewness.clamp(0.0, 2.0) / 2.0).cbrt();
        let normal = (deviation * deviation - tail * tail).max(0.0).sqrt();
        Self {
            place: [mean - tail; 2],
            weight: 0.0,
            normal,
            tail,
        }
    }

    /// Two costs of this mean, standard deviation and skewness together.
    pub fn two(mean: f64, deviation: f64, skewness: f64) -> Self {
        // skewness = (1 − 2w) / √(w (1 − w)) for the weight w of the more expensive one.
        let weight = 0.5 - skewness / (2.0 * (4.0 + skewness * skewness).sqrt());
        let apart = deviation / (weight * (1.0 - weight)).sqrt();
        let first = mean - weight * apart;
        Self {
            place: [first, first + apart],
            weight,
            normal: 0.0,
            tail: 0.0,
        }
    }

    pub fn mean(&self) -> f64 {
        self.place[0] + self.weight * (self.place[1] - self.place[0]) + self.tail
    }

    pub fn variance(&self) -> f64 {
        let apart = self.place[1] - self.place[0];
        self.weight * (1.0 - self.weight) * apart * apart
            + self.normal * self.normal
            + self.tail * self.tail
    }

    /// The third central moment.
    pub fn third(&self) -> f64 {
        let apart = self.place[1] - self.place[0];
        let weight = self.weight;
        weight * (1.0 - weight) * (1.0 - 2.0 * weight) * apart.powi(3) + 2.0 * self.tail.powi(3)
    }

    /// The same elsewhere.
    pub fn shifted(self, by: f64) -> Self {
        Self {
            place: self.place.map(|place| place + by),
            ..self
        }
    }

    /// The share of costs up to `level`.
    pub fn cumulative(&self, level: f64) -> f64 {
        self.of_both(|place| self.blurred(level - place).0)
    }

    /// The integral of that share from far below to `level`.
    pub fn integral(&self, level: f64) -> f64 {
        self.of_both(|place| self.blurred(level - place).1)
    }

    fn of_both(&self, of: impl Fn(f64) -> f64) -> f64 {
        let first = of(self.place[0]);
        if self.weight == 0.0 {
            first
        } else {
            first + self.weight * (of(self.place[1]) - first)
        }
    }

    /// Cumulative share and its integral at `above` a single place.
    fn blurred(&self, above: f64) -> (f64, f64) {
        let least = NO_BLUR.max(NO_BLUR * (self.normal + self.tail));
        let (normal, tail) = (self.normal, self.tail);
        let (share, integral) = if normal < least {
            if above < 0.0 {
                (0.0, 0.0)
            } else {
                (1.0, above)
            }
        } else {
            let reduced = above / normal;
            let (share, density) = (
                standard(reduced),
                (-reduced * reduced / 2.0).exp() / std::f64::consts::TAU.sqrt(),
            );
            (share, normal * (reduced * share + density))
        };
        if tail < least {
            return (share, integral);
        }
        // With an exponential tail the density is (share before − share after) over its mean: so
        // both follow.
        let later = if normal < least {
            if above < 0.0 {
                0.0
            } else {
                1.0 - (-above / tail).exp()
            }
        } else {
            let ratio = normal / tail;
            let shift = above / normal - ratio;
            // Far below, the product of a huge and a tiny number; there it is all but nothing.
            let exponent = ratio * ratio / 2.0 - above / tail;
            let product = if shift < -7.0 {
                0.0
            } else {
                exponent.min(700.0).exp() * standard(shift)
            };
            (share - product).clamp(0.0, share)
        };
        (later, (integral - tail * later).max(0.0))
    }
}

/// The standard normal law.
fn standard(x: f64) -> f64 {
    /// So far out nothing is left that a sum with one would show.
    /// *Computed*: erfc(8.3 / √2) / 2 is below 2⁻⁵³.
    const OUTSIDE: f64 = 8.3;
    if x.abs() > OUTSIDE {
        return f64::from(x > 0.0);
    }
    0.5 * erfc(-x / std::f64::consts::SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integrals_are_those_of_the_shares() {
        let laws = [
            Law::constant(2.2),
            Law::one(2.0, 0.7, 0.0),
            Law::one(2.0, 0.7, 0.8),
            Law::one(2.0, 0.7, 2.0),
            Law::two(2.0, 0.7, 0.6),
            Law {
                place: [1.0, 3.0],
                weight: 0.3,
                normal: 0.2,
                tail: 0.5,
            },
        ];
        for law in laws {
            for level in [-0.5, 1.3, 2.0, 2.9, 6.0] {
                let parts = 20_000;
                let width = (level + 8.0) / f64::from(parts);
                let at = |part: i32| law.cumulative(-8.0 + (f64::from(part) + 0.5) * width);
                let sum: f64 = (0..parts).map(at).sum::<f64>() * width;
                assert!(
                    (law.integral(level) - sum).abs() < 2e-3,
                    "{law:?} at {level}: {}",
                    law.integral(level)
                );
            }
        }
    }

    #[test]
    fn moments_and_medians_match_targets() {
        for skewness in [0.0, 0.5, 1.0, 2.0] {
            for law in [Law::one(5.0, 0.5, skewness), Law::two(5.0, 0.5, skewness)] {
                assert!(
                    (law.mean() - 5.0).abs() < 1e-9 && (law.variance() - 0.25).abs() < 1e-9,
                    "{law:?}"
                );
                assert!((law.third() / 0.125 - skewness).abs() < 1e-9, "{law:?}");
            }
        }
        assert!((Law::one(5.0, 0.5, 0.0).cumulative(5.0) - 0.5).abs() < 1e-6);
        let tail = Law::one(5.0, 0.5, 2.0).cumulative(4.5 + 0.5 * 2.0_f64.ln());
        assert!((tail - 0.5).abs() < 1e-6, "{tail}");
    }
}
