//! Sums of unit vectors: how well the phases of values agree at a frequency.

use std::f64::consts::TAU;

/// A number with a real and an imaginary part.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Complex {
    /// The real part.
    pub real: f64,
    /// The imaginary part.
    pub imaginary: f64,
}

impl Complex {
    /// The unit vector at so many turns.
    pub fn unit(turns: f64) -> Self {
        let (imaginary, real) = (TAU * turns.fract()).sin_cos();
        Self { real, imaginary }
    }

    /// The sum of unit vectors at so many turns, each with its weight.
    pub fn sum(parts: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let add = |sum: Self, (turns, weight)| sum.plus(Self::unit(turns), weight);
        parts.into_iter().fold(Self::default(), add)
    }

    /// Its distance from zero.
    pub fn length(self) -> f64 {
        self.real.hypot(self.imaginary)
    }

    /// Its angle, in turns.
    pub fn turns(self) -> f64 {
        self.imaginary.atan2(self.real) / TAU
    }

    /// With so much of another one added.
    pub fn plus(self, other: Self, weight: f64) -> Self {
        Self {
            real: self.real + weight * other.real,
            imaginary: self.imaginary + weight * other.imaginary,
        }
    }

    /// Turned by the angle of a unit vector.
    pub fn times(self, other: Self) -> Self {
        Self {
            real: self.real * other.real - self.imaginary * other.imaginary,
            imaginary: self.real * other.imaginary + self.imaginary * other.real,
        }
    }
}

/// The sums of unit vectors at one frequency after the other, without end: each vector is turned
/// on, which takes a tenth of a sine.
pub struct Sweep<'a> {
    /// Values with their weights.
    values: &'a [(f64, f64)],
    first: f64,
    stride: f64,
    number: usize,
    /// Of each value: its unit vector, and what that is turned by.
    hands: Vec<[Complex; 2]>,
}

impl<'a> Sweep<'a> {
    /// Frequencies after which unit vectors are computed anew.
    /// *Numerical*: they are off by 1e-14 then.
    const ANEW: usize = 64;

    /// From the frequency `first` on.
    pub fn new(values: &'a [(f64, f64)], first: f64, stride: f64) -> Self {
        let turn = |(value, _): &(f64, f64)| [Complex::default(), Complex::unit(value * stride)];
        Self {
            values,
            first,
            stride,
            number: 0,
            hands: values.iter().map(turn).collect(),
        }
    }
}

impl Iterator for Sweep<'_> {
    type Item = Complex;

    fn next(&mut self) -> Option<Complex> {
        let anew = self.number.is_multiple_of(Self::ANEW);
        let frequency = self.first + self.number as f64 * self.stride;
        self.number += 1;
        let mut sum = Complex::default();
        for ((value, weight), [at, by]) in self.values.iter().zip(&mut self.hands) {
            *at = match anew {
                true => Complex::unit(value * frequency),
                false => at.times(*by),
            };
            sum = sum.plus(*at, *weight);
        }
        Some(sum)
    }
}
