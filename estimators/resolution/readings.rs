//! Shows steps of little more than one unit by the differences of readings of one process, with
//! several reads between the two: after these, durations of reads do not show any more, but a step
//! does. The mean of cos(2π*d*/*s*) over differences of *d* units is at least sinc²(1/*s*), and zero
//! if every unit is shown. A *line* is this mean at one frequency, 1/*s*; differences, which are
//! whole numbers, do not distinguish it from 1 − 1/*s*.

use std::f64::consts::PI;
use std::ops::RangeInclusive;

use crate::statistics::phasors::{Complex, spectrum};
use crate::statistics::{DEVIATION_PER_MEDIAN, median};

/// The longest step that is searched for, in units. *Computed*: steps of four units or more also
/// show a lattice.
pub const MAX_STEP: f64 = 5.2;

/// The shortest step that intervals distinguish from one unit. *Computed*: an interval holds
/// 0.016 nats of evidence for a step of this length, 0.002 for one of 1.2 units.
pub const MIN_INTERVAL_STEP: f64 = 1.45;

/// The shortest step that differences of readings distinguish from one unit. *Computed*: sinc² is
/// below 0.003 for shorter steps, which is the noise of 50 000 differences.
const MIN_STEP: f64 = 1.05;

/// The height of a line in standard deviations of the noise. *Chance*: the noise reaches it at two in
/// a billion frequencies.
const MIN_HEIGHT: f64 = 6.0;

/// The mean unit vectors at one frequency.
struct SpectralLine {
    /// In turns per unit.
    frequency: f64,
    /// Of the differences with several reads between the readings.
    line: Complex,
    /// Of the differences of successive readings.
    successive: Complex,
}

/// The spectrum of differences between readings.
pub struct ReadingSpectrum {
    /// The lines at equidistant frequencies.
    lines: Vec<SpectralLine>,
    /// The standard deviation of lines if there is no step.
    noise: f64,
    /// The numbers of reads from one reading to the other.
    reads: RangeInclusive<i32>,
}

impl ReadingSpectrum {
    /// Takes the differences of successive readings of each process. `None` if they are few or long.
    pub fn of(reading_differences: &[Vec<i64>]) -> Option<Self> {
        /// The longest typical difference, in units. *Numerical*.
        const MAX_DIFFERENCE: f64 = 2_048.0;
        /// The largest and the least number of reads from one reading to the other. *Judgement*.
        const READS: (f64, f64) = (32.0, 4.0);
        /// The least number of differences. *Judgement*.
        const MIN_DIFFERENCES: f64 = 1_000.0;
        let typical = median(reading_differences.iter().flatten().map(|&d| d as f64))?.max(1.0);
        let reads = (MAX_DIFFERENCE / typical).min(READS.0).floor();
        if reads < READS.1 {
            return None;
        }
        let longest = (1.5 * reads * typical) as i64;
        let mut counts = vec![0.0; longest as usize + 1];
        let mut successive = counts.clone();
        for differences in reading_differences {
            for start in 0..differences.len() {
                let following = differences[start..].iter().take(reads as usize);
                let reached = following.scan(0_i64, |sum, &difference| {
                    *sum = sum.saturating_add(difference);
                    (difference >= 0 && *sum <= longest).then_some(*sum as usize)
                });
                for (number, sum) in reached.enumerate() {
                    if number == 0 {
                        successive[sum] += 1.0;
                    }
                    if number >= reads as usize / 2 {
                        counts[sum] += 1.0;
                    }
                }
            }
        }
        if counts.iter().sum::<f64>() < MIN_DIFFERENCES {
            return None;
        }
        let lines: Vec<SpectralLine> = spectrum(&counts)
            .into_iter()
            .zip(spectrum(&successive))
            .map(|((frequency, line), (_, successive))| SpectralLine {
                frequency,
                line,
                successive,
            })
            .filter(|line| (1.0 - 1.0 / MIN_STEP..=0.5).contains(&line.frequency))
            .collect();
        // The lines of steps are real.
        let noise = median(lines.iter().map(|it| it.line.imaginary.abs()))?;
        Some(Self {
            lines,
            noise: DEVIATION_PER_MEDIAN * noise,
            reads: reads as i32 / 2 + 1..=reads as i32,
        })
    }

    /// Returns whether the lines of a step, and of those whose frequencies differ by at most `reach`,
    /// are too low.
    pub fn excludes(&self, step: f64, reach: f64) -> bool {
        let (nearest, highest) = self.highest_near(step, reach);
        highest < 0.9 * squared_sinc(1.0 / step) - 3.0 * self.noise
            && !is_periodic(nearest.successive)
    }

    /// Returns whether a line of a step, or of one whose frequency differs by at most `reach`, is
    /// high, and not because of the durations of reads.
    pub fn supports(&self, step: f64, reach: f64) -> bool {
        let (nearest, highest) = self.highest_near(step, reach);
        let expected = 0.8 * squared_sinc(1.0 / step) - 2.0 * self.noise;
        highest > expected.max(MIN_HEIGHT * self.noise) && !self.is_due_to_reads(nearest)
    }

    /// Returns the longest step up to this one that is not excluded.
    pub fn longest_possible(&self, most: f64) -> f64 {
        let long = self.lines.iter().map(|line| 1.0 / line.frequency);
        let short = (self.lines.iter().rev()).map(|line| 1.0 / (1.0 - line.frequency));
        long.chain(short)
            .find(|step| *step <= most && !self.excludes(*step, 0.0))
            .unwrap_or(MIN_STEP)
    }

    /// The line nearest to a step, and the height of the highest one that is at most `reach` from it.
    fn highest_near(&self, step: f64, reach: f64) -> (&SpectralLine, f64) {
        let frequency = (1.0 / step).min(1.0 - 1.0 / step);
        let (first, end) = (self.lines[0].frequency, self.lines.len() - 1);
        let stride = self.lines[1].frequency - first;
        let at = |frequency: f64| (frequency - first) / stride;
        let [low, nearest, high] = [
            at(frequency - reach).floor(),
            at(frequency).round(),
            at(frequency + reach).ceil(),
        ]
        .map(|at| (at.max(0.0) as usize).min(end));
        let near = self.lines[low..=high].iter().map(|it| it.line.real);
        (&self.lines[nearest], near.fold(f64::MIN, f64::max))
    }

    /// Returns whether independent durations of reads cause a good part of a line, or few reads take
    /// whole numbers of turns.
    fn is_due_to_reads(&self, line: &SpectralLine) -> bool {
        /// The largest part. *Judgement*.
        const MAX_PART: f64 = 0.3;
        let one = line.successive;
        let (mut power, mut sum) = (Complex::unit(0.0), 0.0);
        for reads in 1..=*self.reads.end() {
            power = power.times(one);
            if self.reads.contains(&reads) {
                sum += power.real;
            }
        }
        let explained = sum / self.reads.clone().count() as f64;
        is_periodic(one) || explained.abs() > MAX_PART * squared_sinc(1.0 - line.frequency)
    }
}

/// Returns whether so few reads take whole numbers of turns that their readings have few phases;
/// `one` is the line of the differences of successive readings.
fn is_periodic(one: Complex) -> bool {
    /// The largest number of reads. *Judgement*.
    const MAX_READS: i32 = 4;
    /// The largest distance from a whole number of turns. *Judgement*.
    const MAX_TURNS: f64 = 0.04;
    /// The least squared height of a line that durations of reads cause. *Judgement*.
    const MIN_SQUARE: f64 = 0.09;
    let is_whole = |reads: i32| {
        let turns = f64::from(reads) * one.turns();
        (turns - turns.round()).abs() < MAX_TURNS
    };
    one.square() > MIN_SQUARE && (1..=MAX_READS).any(is_whole)
}

fn squared_sinc(frequency: f64) -> f64 {
    let angle = PI * frequency;
    (angle.sin() / angle).powi(2)
}
