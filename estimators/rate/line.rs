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

/// The lines that pass through successive readings within their errors.
#[derive(Clone, Debug)]
pub struct LineFit {
    /// The first reading, and later ones of which each has less than half of the error of the one
    /// before: on a busy machine, the first reading may be much less precise than others.
    anchors: Vec<Reading>,
    /// The last reading, or one before it that shows more precisely where the clock is now.
    last: Reading,
    /// The number of readings.
    pub readings: u32,
    /// The lowest and the highest rate of a line through all readings.
    rates: [f64; 2],
}

impl LineFit {
    /// The lines through one reading.
    pub fn new(first: Reading) -> Self {
        Self {
            anchors: vec![first],
            last: first,
            readings: 1,
            rates: [f64::NEG_INFINITY, f64::INFINITY],
        }
    }

    /// Adds a reading and returns `true` if a line passes through it, too.
    pub fn extend(&mut self, reading: Reading) -> bool {
        let passed = reading.time - self.last.time;
        if passed <= 0.0 {
            return true;
        }
        let [mut lowest, mut highest] = self.rates;
        for slope in self
            .anchors
            .iter()
            .filter_map(|it| it.slope_to(&reading, 0.0))
        {
            let error = slope.rate.abs() * slope.uncertainty;
            lowest = lowest.max(slope.rate - error);
            highest = highest.min(slope.rate + error);
        }
        if lowest > highest {
            return false;
        }
        self.rates = [lowest, highest];
        self.readings += 1;
        let [rate, error] = [f64::midpoint(lowest, highest), (highest - lowest) / 2.0];
        if reading.error <= self.last.error + error / rate.abs() * passed {
            self.last = reading;
        }
        let is_precise = |anchor: &Reading| reading.error < anchor.error / 2.0;
        if self.anchors.last().is_some_and(is_precise) {
            self.anchors.push(reading);
        }
        true
    }

    /// The time of the first reading.
    pub fn start(&self) -> f64 {
        self.anchors[0].time
    }

    /// The time from the first reading to the last.
    pub fn span(&self) -> f64 {
        self.last.time - self.start()
    }

    /// Returns the rate and its largest error. The last readings may be from after a change that they
    /// do not show yet, and a time service adjusts rates slightly: the error of the rate does not
    /// shrink beyond a span of `longest`.
    pub fn rate(&self, longest: f64) -> [f64; 2] {
        let [lowest, highest] = self.rates;
        let rate = f64::midpoint(lowest, highest);
        let error_since = |anchor: &Reading| {
            let span = (self.last.time - anchor.time).min(longest);
            rate.abs() * (anchor.error + self.last.error) / span
        };
        let error = self
            .anchors
            .iter()
            .map(error_since)
            .filter(|error| *error > 0.0)
            .fold(f64::INFINITY, f64::min);
        [rate, error.max((highest - lowest) / 2.0)]
    }

    /// Returns the reading of the clock at a time, with its largest error, for this rate and error.
    pub fn clock_at(&self, time: f64, [rate, error]: [f64; 2]) -> [f64; 2] {
        let clocks = self.anchors.iter().chain([&self.last]).map(|reading| {
            let passed = time - reading.time;
            // A reading near a change may be as far from the line as its error.
            let error = rate.abs() * 2.0 * reading.error + error * passed.abs();
            [reading.clock + rate * passed, error]
        });
        let more_precise = |a: [f64; 2], b: [f64; 2]| if b[1] < a[1] { b } else { a };
        clocks.fold([0.0, f64::INFINITY], more_precise)
    }
}
