//! Fits lines through readings of two clocks: the slope is the rate of one clock by the other.

use crate::statistics::median;

/// A reading of a clock at a time of another clock, each in its own unit since the first reading.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reading {
    /// The time of the other clock.
    pub time: f64,
    /// The clock.
    pub clock: f64,
    /// Largest error of the time.
    pub error: f64,
}

/// The slope of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slope {
    /// Units of the clock in a unit of the time.
    pub rate: f64,
    /// Largest relative error of the rate.
    pub uncertainty: f64,
}

impl Reading {
    /// Converts readings `[time, clock, time]` in ticks. The clock was read between both reads of the
    /// time: at their middle, with an error of half their distance. `time_unit` and `clock_unit` are
    /// the lengths of their ticks.
    pub fn from_ticks(readings: &[[i64; 3]], time_unit: f64, clock_unit: f64) -> Vec<Self> {
        let &[begin, zero, _] = readings.first().unwrap_or(&[0; 3]);
        let reading = |&[before, clock, after]: &[i64; 3]| {
            let [before, after] =
                [before, after].map(|time| time.wrapping_sub(begin) as f64 * time_unit);
            Self {
                time: f64::midpoint(before, after),
                clock: clock.wrapping_sub(zero) as f64 * clock_unit,
                error: (after - before).abs() / 2.0,
            }
        };
        readings.iter().map(reading).collect()
    }

    /// Returns the slope of the line to a later reading; `steps` is the largest error of the distance
    /// of two readings from the steps of both clocks. `None` unless time passed.
    pub fn slope_to(&self, later: &Self, steps: f64) -> Option<Slope> {
        let passed = later.time - self.time;
        (passed > 0.0).then(|| Slope {
            rate: (later.clock - self.clock) / passed,
            uncertainty: (self.error + later.error + steps) / passed,
        })
    }
}

impl Slope {
    /// Returns the median rate and the median uncertainty; `None` without slopes.
    pub fn median(slopes: &[Self]) -> Option<Self> {
        Some(Self {
            rate: median(slopes.iter().map(|slope| slope.rate))?,
            uncertainty: median(slopes.iter().map(|slope| slope.uncertainty))?,
        })
    }
}
