//! Finds steps of a few ticks from the spectrum of intervals. Truncation to whole ticks fills the
//! gaps between the multiples of such a step, so the intervals show no lattice; their spectrum
//! still shows the step. A *line* is the mean of unit vectors at one frequency, a complex number;
//! its *height* is its absolute value.
//!
//! A counter of step `p` (in ticks) returns `⌊np⌋` and moves by `⌊mp⌋` or `⌈mp⌉` in `m` steps. So
//! the mean of `exp(2πi·d/p)` over intervals `d` is real and positive, whatever their lengths:
//! `sinc²(1/p)` if `np` is uniformly distributed between two ticks, and `(sin(π/p) /
//! (r·sin(π/rp)))²` if `np` takes `r` positions because `rp` is an integer. For integer steps the
//! mean is 1, because all intervals are multiples of the step. Integer intervals do not distinguish
//! the frequency `f` from `1 − f`, but the two lines have different heights.
//!
//! Intervals that grow in equal units of work also have spectral lines, which are real only by
//! chance.

use std::f64::consts::{PI, TAU};

use super::{EQUAL_STEP_TOLERANCE, INTERRUPTED_SHARE, SIGNIFICANT_ERRORS, densest_window};
use crate::resolution::lattice::Lattice;
use crate::statistics::Z;
use crate::statistics::phasors::{Complex, Sweep};

/// The longest step that is searched for in the spectrum, in ticks. *Computed*: steps of four ticks
/// or more also show a lattice.
const MAX_STEP_TICKS: f64 = 5.2;

/// The shortest step that can be distinguished from one tick, in ticks. *Computed*: for shorter
/// steps sinc² is below 0.17, like the lines of the work.
pub const MIN_STEP_TICKS: f64 = 1.5;

/// The least height of a significant line, in standard deviations of the noise of a line, which are
/// √2 times those of its real part. *Chance*: the noise exceeds it at two in a billion frequencies.
const MIN_LINE_DEVIATIONS: f64 = 4.5;

/// The least deviation of a line from the expected height and phase at which a step is excluded, in
/// standard deviations of the noise. *Chance*: 5 % of a normal distribution in the plane lie outside.
const EXCLUDING_DEVIATIONS: f64 = 2.45;

/// Additional error of a line, because intervals that grow in equal units of work do not sample all
/// phases of a step equally. *Seen*.
pub const PHASE_SAMPLING_ERROR: f64 = 0.04;

/// The least width of the distribution of intervals, in ticks, at which all phases of a step are
/// about equally frequent. *Judgement*.
const MIN_SAMPLED_WIDTH: f64 = 16.0;

/// The spectrum of intervals.
pub struct Spectrum {
    /// The distinct intervals minus `mean`, in ticks, each with its share of all intervals.
    counted: Vec<(f64, f64)>,
    /// Mean of the intervals, in ticks.
    mean: f64,
    /// Standard deviation of the intervals, in ticks.
    deviation: f64,
    /// Standard deviation of the real part of a line, and of its imaginary part, due to the random
    /// choice of the intervals.
    noise: f64,
    /// Additional error of lines, see `PHASE_SAMPLING_ERROR`.
    phase_error: f64,
    /// Distance between two sampled frequencies, in turns per tick.
    stride: f64,
    /// The lines at multiples of `stride`, up to half a turn per tick.
    lines: Vec<Complex>,
}

/// The result of the search for a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FoundLine {
    /// The step is determined.
    Step(Lattice),
    /// A significant line that fits two steps equally well; the longer one, in ticks.
    Ambiguous(f64),
    /// No significant line.
    Nothing,
}

impl Spectrum {
    /// Computes the spectrum of intervals with random work, which are sorted and not negative.
    /// `None` if they hardly differ.
    pub fn from_intervals(intervals: &[i64]) -> Option<Self> {
        /// The least range of intervals, in ticks. *Judgement*.
        const MIN_RANGE_TICKS: i64 = 3;
        /// Distance between frequencies, as a share of the width of a line. *Numerical*.
        const FREQUENCY_STRIDE: f64 = 0.25;
        let window = fullest_window(intervals);
        let (first, last) = (*window.first()?, *window.last()?);
        if last - first < MIN_RANGE_TICKS {
            return None;
        }
        let (count, span) = (window.len() as f64, (last - first) as f64);
        let mean = window.iter().map(|&value| value as f64).sum::<f64>() / count;
        let with_share = |same: &[i64]| (same[0] as f64 - mean, same.len() as f64 / count);
        let counted: Vec<(f64, f64)> = window.chunk_by(|a, b| a == b).map(with_share).collect();
        let deviation = counted
            .iter()
            .map(|(value, share)| share * value * value)
            .sum::<f64>()
            .sqrt();
        let stride = 0.5 / (0.5 * span / FREQUENCY_STRIDE).ceil();
        let half_turn = (0.5 / stride).round() as usize;
        let lines = Sweep::new(&counted, 0.0, stride)
            .take(half_turn + 1)
            .collect();
        let central_range =
            window[window.len() - 1 - window.len() / 20] - window[window.len() / 20];
        let phase_error =
            PHASE_SAMPLING_ERROR * (MIN_SAMPLED_WIDTH / (central_range as f64).max(1.0)).max(1.0);
        Some(Self {
            counted,
            mean,
            deviation,
            noise: (0.5 / count).sqrt(),
            phase_error,
            stride,
            lines,
        })
    }

    /// Searches for the step of the counter among the significant lines. `is_due_to_work` returns
    /// whether a line with the given frequency, step and height may be due to the work.
    pub fn find_step(&self, is_due_to_work: impl Fn(f64, f64, f64) -> bool) -> FoundLine {
        if self.is_narrow() {
            return FoundLine::Nothing;
        }
        for frequency in self.peaks() {
            let fit = self.fit_frequency(frequency);
            if is_due_to_work(fit.frequency, 1.0 / fit.frequency, fit.line.length())
                || fit.line.real < 0.0
                || fit.line.imaginary.abs() > SIGNIFICANT_ERRORS * self.noise + PHASE_SAMPLING_ERROR
            {
                continue;
            }
            // Integer intervals do not distinguish a frequency from 1 minus this frequency.
            let steps = [fit.frequency, 1.0 - fit.frequency]
                .map(|frequency| (1.0 / frequency, fit.error / frequency / frequency));
            let misfit = |&(step, error): &(f64, f64)| self.line_misfit(fit.line, step, error);
            let allowed = |step: &(f64, f64)| {
                step.0 >= MIN_STEP_TICKS
                    && misfit(step) <= SIGNIFICANT_ERRORS * self.noise + PHASE_SAMPLING_ERROR
            };
            return match steps.map(|step| Some(step).filter(allowed)) {
                [None, None] => FoundLine::Nothing,
                [Some(step), None] | [None, Some(step)] => FoundLine::Step(self.refine(step)),
                [Some(long), Some(short)]
                    if long.0 - short.0 <= EQUAL_STEP_TOLERANCE.0 * short.0 =>
                {
                    let (step, half) = (f64::midpoint(long.0, short.0), (long.0 - short.0) / 2.0);
                    FoundLine::Step(Lattice {
                        step,
                        error: long.1.max(self.refine(long).error) + half / Z,
                    })
                }
                [Some(long), Some(short)] => match misfit(&long) - misfit(&short) {
                    difference if difference < -SIGNIFICANT_ERRORS * self.noise => {
                        FoundLine::Step(self.refine(long))
                    }
                    difference if difference > SIGNIFICANT_ERRORS * self.noise => {
                        FoundLine::Step(self.refine(short))
                    }
                    _ => FoundLine::Ambiguous(long.0),
                },
            };
        }
        FoundLine::Nothing
    }

    /// Returns the step, in ticks, that belongs to the highest line above `height` that is not due
    /// to the work: the longer one of the two steps that are possible for its frequency. `None` if
    /// the work explains all such lines.
    pub fn unexplained_step(
        &self,
        height: f64,
        is_due_to_work: impl Fn(f64) -> bool,
    ) -> Option<f64> {
        let mut peaks = self.peaks().into_iter();
        peaks
            .find(|&peak| self.line_at(peak).length() > height && !is_due_to_work(peak))
            .map(|peak| 1.0 / peak)
    }

    /// Returns whether most intervals lie within so few ticks that they do not sample all phases of
    /// a step.
    pub fn is_narrow(&self) -> bool {
        self.phase_error > PHASE_SAMPLING_ERROR
    }

    /// Refines the step by a regression through zero over the number of steps in each interval.
    fn refine(&self, (step, error): (f64, f64)) -> Lattice {
        let (mut product, mut square, mut squares) = (0.0, 0.0, 0.0);
        for (value, share) in &self.counted {
            let value = value + self.mean;
            let steps = (value / step).round();
            product += share * steps * value;
            square += share * steps * steps;
            squares += share * value * value;
        }
        let longest = self
            .counted
            .last()
            .map_or(0.0, |(value, _)| (value + self.mean) / step);
        // If the number of steps in an interval may be miscounted, the step from the frequency is
        // used.
        if SIGNIFICANT_ERRORS * error * longest > 0.5 * step {
            return Lattice { step, error };
        }
        let slope = product / square;
        let residual = (squares - slope * product).max(1.0 / 6.0);
        Lattice {
            step: slope,
            error: (residual / square).sqrt() * self.noise * 2.0_f64.sqrt(),
        }
    }

    /// Returns the longest step in ticks that the intervals do not exclude; 1 if they exclude all
    /// longer steps. `is_due_to_work` returns whether a line with the given frequency and step is
    /// due to the work.
    pub fn longest_possible_step(&self, is_due_to_work: impl Fn(f64, f64) -> bool) -> f64 {
        let grid = 1..self.lines.len();
        let frequency = |at: usize| at as f64 * self.stride;
        let long = grid.clone().map(|at| (at, 1.0 / frequency(at)));
        let short = grid.rev().map(|at| (at, 1.0 / (1.0 - frequency(at))));
        let mut steps = long
            .chain(short)
            .filter(|(_, step)| *step <= MAX_STEP_TICKS);
        let reach = EXCLUDING_DEVIATIONS * self.noise + self.phase_error - PHASE_SAMPLING_ERROR;
        let found = steps.find(|&(at, step)| {
            let min_height = (1.0 - INTERRUPTED_SHARE) * squared_sinc(1.0 / step) - reach;
            let highest_line = || self.most_real(frequency(at), 0.5 * self.stride);
            // Between two sampled frequencies a line may be higher by a tenth.
            1.1 * self.lines[at].length() >= min_height
                && self.line_misfit(highest_line(), step, self.stride * step * step) <= reach
                && !is_due_to_work(frequency(at), step)
        });
        found.map_or(1.0, |(_, step)| step)
    }

    /// Returns the distance between `line` and the nearest line that is expected for a counter with
    /// step `step`, whose standard error is `error`.
    fn line_misfit(&self, line: Complex, step: f64, error: f64) -> f64 {
        let (lowest, highest) = expected_heights(step, error);
        let deviation = line.real - line.real.clamp((1.0 - INTERRUPTED_SHARE) * lowest, highest);
        deviation.hypot(line.imaginary)
    }

    /// Returns the frequencies of significant lines in descending order of height; lines about as
    /// high as the highest come first, in ascending order of frequency.
    fn peaks(&self) -> Vec<f64> {
        let length = |at: usize| self.lines.get(at).map_or(0.0, |line| line.length());
        let first = (1.0 / MAX_STEP_TICKS / self.stride) as usize;
        let is_significant = |at: &usize| {
            let height = length(*at);
            height > MIN_LINE_DEVIATIONS * self.noise * 2.0_f64.sqrt()
                && height >= length(at - 1)
                && height >= length(at + 1)
        };
        let mut peaks: Vec<(usize, f64)> = (first.max(1)..self.lines.len())
            .filter(is_significant)
            .map(|at| (at, length(at)))
            .collect();
        peaks.sort_by(|a, b| b.1.total_cmp(&a.1));
        let highest = peaks.first().map_or(0.0, |peak| peak.1);
        let reach = SIGNIFICANT_ERRORS * self.noise;
        let equally_high = peaks.partition_point(|peak| peak.1 >= highest - reach);
        peaks[..equally_high].sort_by_key(|peak| peak.0);
        peaks
            .into_iter()
            .map(|(at, _)| at as f64 * self.stride)
            .collect()
    }

    /// Returns the highest line near `frequency`. If the number of turns up to the mean interval is
    /// known, the frequency is corrected so that the phase is zero at an interval of zero.
    fn fit_frequency(&self, frequency: f64) -> Fit {
        let mut best = frequency;
        let mut stride = self.stride;
        for _ in 0..24 {
            stride /= 2.0;
            for candidate in [best - stride, best + stride] {
                if self.line_around_mean(candidate).length() > self.line_around_mean(best).length()
                {
                    best = candidate;
                }
            }
        }
        let line = self.line_at(best);
        let phase_noise = self.noise / line.length() / TAU;
        let (error_of_line, error_through_zero) = (
            phase_noise / self.deviation,
            phase_noise / self.deviation.hypot(self.mean),
        );
        if SIGNIFICANT_ERRORS * error_of_line * self.mean > 0.5 {
            return Fit {
                frequency: best,
                line: Complex {
                    real: line.length(),
                    imaginary: 0.0,
                },
                error: error_of_line,
            };
        }
        let phase = line.turns();
        let frequency = best - phase * self.mean / (self.deviation.powi(2) + self.mean.powi(2));
        Fit {
            frequency,
            line: self.line_at(frequency),
            error: error_through_zero,
        }
    }

    /// Returns the line with the largest real part among frequencies up to `reach` from
    /// `frequency`.
    fn most_real(&self, frequency: f64, reach: f64) -> Complex {
        /// Sampled frequencies per turn at the mean interval. *Numerical*.
        const FREQUENCIES_PER_TURN: f64 = 16.0;
        /// The largest number of sampled frequencies. *Numerical*.
        const MAX_FREQUENCIES: f64 = 96.0;
        let count = (FREQUENCIES_PER_TURN * reach * self.mean)
            .min(MAX_FREQUENCIES)
            .ceil() as i32;
        let frequencies = (-count..=count)
            .map(|offset| frequency + reach * f64::from(offset) / f64::from(count.max(1)));
        frequencies.map(|frequency| self.line_at(frequency)).fold(
            self.line_at(frequency),
            |best, line| {
                if line.real > best.real { line } else { best }
            },
        )
    }

    /// Returns the line at this frequency.
    fn line_at(&self, frequency: f64) -> Complex {
        let centre = Complex::unit(frequency * self.mean);
        self.line_around_mean(frequency).times(centre)
    }

    /// Returns the line at this frequency, with phases counted from the mean interval instead of
    /// zero.
    fn line_around_mean(&self, frequency: f64) -> Complex {
        let counted = self.counted.iter();
        Complex::sum(counted.map(|(value, share)| (frequency * value, *share)))
    }
}

/// A line with its frequency, in turns per tick.
struct Fit {
    frequency: f64,
    line: Complex,
    /// Standard error of the frequency.
    error: f64,
}

/// Returns the least and the greatest height of the line of a counter whose step is `step` ticks
/// with the standard error `error`; see the formulas at the top of the file.
fn expected_heights(step: f64, error: f64) -> (f64, f64) {
    /// The largest number of positions between two ticks (`r` in the formula) that changes the
    /// height noticeably. *Numerical*.
    const MAX_POSITIONS: u32 = 6;
    let lowest = squared_sinc(1.0 / step);
    let is_integer = |positions: &f64| {
        let ticks = positions * step;
        (ticks - ticks.round()).abs() <= 3.0 * positions * error
    };
    let positions = (1..=MAX_POSITIONS).map(f64::from).find(is_integer);
    let highest = positions
        .map(|positions| ((PI / step).sin() / (positions * (PI / step / positions).sin())).powi(2));
    (lowest, highest.unwrap_or(lowest).max(lowest))
}

fn squared_sinc(frequency: f64) -> f64 {
    let angle = PI * frequency;
    (angle.sin() / angle).powi(2)
}

/// Returns the narrowest window of the sorted intervals that holds enough of them.
fn fullest_window(intervals: &[i64]) -> &[i64] {
    /// The number of intervals that is enough. *Numerical*.
    const MIN_WINDOW_INTERVALS: usize = 2_000;
    /// The narrowest window, in ticks. *Numerical*.
    const MIN_WINDOW_TICKS: i64 = 512;
    /// The widest window, in ticks. *Numerical*.
    const MAX_WINDOW_TICKS: i64 = 8_192;
    let mut width = MIN_WINDOW_TICKS;
    loop {
        let window = densest_window(intervals, width);
        if window.len() >= MIN_WINDOW_INTERVALS
            || window.len() == intervals.len()
            || width >= MAX_WINDOW_TICKS
        {
            return window;
        }
        width *= 2;
    }
}
