//! Sums unit vectors whose angles are values times a frequency. A sum is long if the values repeat
//! with this frequency, because their vectors then point in the same direction.

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
    /// The unit vector at an angle, in turns.
    pub fn unit(turns: f64) -> Self {
        let (imaginary, real) = (TAU * turns.fract()).sin_cos();
        Self { real, imaginary }
    }

    /// The weighted sum of unit vectors; `parts` holds the angle of each vector, in turns, and its
    /// weight.
    pub fn sum(parts: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let add = |sum: Self, (turns, weight)| sum.plus(Self::unit(turns), weight);
        parts.into_iter().fold(Self::default(), add)
    }

    /// The square of the absolute value.
    pub fn square(self) -> f64 {
        self.real * self.real + self.imaginary * self.imaginary
    }

    /// The angle, in turns.
    pub fn turns(self) -> f64 {
        self.imaginary.atan2(self.real) / TAU
    }

    /// The sum with `weight` times `other`.
    pub fn plus(self, other: Self, weight: f64) -> Self {
        Self {
            real: self.real + weight * other.real,
            imaginary: self.imaginary + weight * other.imaginary,
        }
    }

    /// The product with `other`. Multiplication by a unit vector rotates by the angle of that
    /// vector.
    pub fn times(self, other: Self) -> Self {
        Self {
            real: self.real * other.real - self.imaginary * other.imaginary,
            imaginary: self.real * other.imaginary + self.imaginary * other.real,
        }
    }
}

/// Endless iterator over the sums of unit vectors at equidistant frequencies. From one frequency to
/// the next each vector is rotated, which takes a tenth of the time of a sine.
pub struct Sweep<'a> {
    /// Values with their weights.
    values: &'a [(f64, f64)],
    /// The first frequency, in turns per unit of the values.
    first: f64,
    /// The distance between two frequencies.
    stride: f64,
    /// The number of frequencies returned so far.
    number: usize,
    /// For each value: its unit vector, and the rotation of that vector per frequency.
    vectors: Vec<[Complex; 2]>,
}

impl<'a> Sweep<'a> {
    /// The number of frequencies after which unit vectors are recomputed. *Numerical*: the error of
    /// rotation is then 1e-14.
    const FREQUENCIES_PER_RECOMPUTATION: usize = 64;

    /// Starts at the frequency `first`.
    pub fn new(values: &'a [(f64, f64)], first: f64, stride: f64) -> Self {
        let initial = |(value, _): &(f64, f64)| [Complex::default(), Complex::unit(value * stride)];
        Self {
            values,
            first,
            stride,
            number: 0,
            vectors: values.iter().map(initial).collect(),
        }
    }
}

impl Iterator for Sweep<'_> {
    type Item = Complex;

    fn next(&mut self) -> Option<Complex> {
        let recompute = self
            .number
            .is_multiple_of(Self::FREQUENCIES_PER_RECOMPUTATION);
        let frequency = self.first + self.number as f64 * self.stride;
        self.number += 1;
        let mut sum = Complex::default();
        for ((value, weight), [vector, rotation]) in self.values.iter().zip(&mut self.vectors) {
            *vector = match recompute {
                true => Complex::unit(value * frequency),
                false => vector.times(*rotation),
            };
            sum = sum.plus(*vector, *weight);
        }
        Some(sum)
    }
}

/// Returns the mean unit vectors of the values 0, 1, 2, … with these counts at frequencies from 0 to 1 turn
/// per value, at least four in the width of a peak, by a fast Fourier transform.
pub fn spectrum(counts: &[f64]) -> Vec<(f64, Complex)> {
    /// The least number of frequencies per value. *Numerical*.
    const OVERSAMPLING: usize = 4;
    let all: f64 = counts.iter().sum();
    let size = (OVERSAMPLING * counts.len()).next_power_of_two();
    let frequency = |at: usize| at as f64 / size as f64;
    let units: Vec<Complex> = (0..size / 2)
        .map(|at| Complex::unit(frequency(at)))
        .collect();
    let share = |at: usize| Complex {
        real: counts.get(at).unwrap_or(&0.0) / all,
        imaginary: 0.0,
    };
    let unused_bits = size.leading_zeros() + 1;
    let mut sums: Vec<Complex> = (0..size)
        .map(|at| share(at.reverse_bits() >> unused_bits))
        .collect();
    let mut half = 1;
    while half < size {
        for block in sums.chunks_mut(2 * half) {
            let (even, odd) = block.split_at_mut(half);
            let units = units.iter().step_by(size / 2 / half);
            for ((even, odd), unit) in even.iter_mut().zip(odd).zip(units) {
                let turned = odd.times(*unit);
                (*even, *odd) = (even.plus(turned, 1.0), even.plus(turned, -1.0));
            }
        }
        half *= 2;
    }
    let sums = sums.into_iter().enumerate();
    sums.map(|(at, sum)| (frequency(at), sum)).collect()
}
