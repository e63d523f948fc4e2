//! Steps of a few ticks. Truncation to whole ticks fills the gaps between the multiples of such a
//! step, so that no lattice shows; the spectrum of the intervals still does.
//!
//! A counter of step `p` (in ticks) shows `⌊np⌋`, and moves by `⌊mp⌋` or `⌈mp⌉` in `m` steps. So
//! the mean of `exp(2πi·d/p)` over intervals `d` is real and positive, whatever their lengths are:
//! `sinc²(1/p)` where `np` lies anywhere between two ticks, and `(sin(π/p) / (r·sin(π/rp)))²` where
//! it lies at `r` places, as `rp` is whole. That is 1 for whole steps, all of whose intervals are
//! multiples of them. Whole ticks cannot tell the frequency `f` from `1 − f`, but the two have
//! different heights.
//!
//! Intervals that grow in equal units of work have lines as well. Theirs are real by chance only.

use std::f64::consts::{PI, TAU};

use crate::resolution::densest;
use crate::resolution::lattice::Lattice;
use crate::statistics::Z;
use crate::statistics::phasors::{Complex, Sweep};

/// Longest step that is looked for, in ticks: those from four on show a lattice as well.
/// *Computed*.
const LONGEST: f64 = 5.2;

/// Shortest step that is told from one tick.
/// *Computed*: of shorter ones sinc² is below 0.17, as of sidelobes of the work.
const SHORTEST: f64 = 1.5;

/// A line stands out by this many deviations of chance.
/// *Chance*: two in a billion a frequency.
const STANDS_OUT: f64 = 4.5;

/// Lines of more than this part of the tallest are as tall: those of a whole step.
/// *Judgement*: whole steps have several of height 1.
const AS_TALL: f64 = 0.9;

/// The share of intervals that may be anything.
/// *Judgement*.
const LOST: f64 = 0.05;

/// Deviations of chance within which a line has to be of the right height and phase, so that its
/// step is told, and beyond which a step is excluded. *Chance*: 0.03 % and 5 % of a plane.
const WITHIN: (f64, f64) = (4.0, 2.45);

/// What it may be off by besides, as intervals that grow in equal units do not hold all parts of a
/// step alike. *Seen*.
const UNEVEN: f64 = 0.04;

/// Ticks that most intervals lie apart, so that they hold them about alike.
/// *Judgement*.
const WIDE: f64 = 16.0;

/// The spectrum of intervals.
pub struct Spectrum {
    /// Intervals, less the mean of all of them, and how often each is there.
    counted: Vec<(f64, f64)>,
    mean: f64,
    deviation: f64,
    /// What chance adds to either part of it, as a standard deviation.
    noise: f64,
    /// What lines may be off by besides.
    uneven: f64,
    /// Between two frequencies that are looked at, in turns a tick.
    stride: f64,
    /// At multiples of that up to half a turn.
    lines: Vec<Complex>,
}

/// What it says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FoundLine {
    /// The step.
    Step(Lattice),
    /// It may be this step, or another one, or none.
    Unclear(f64),
    /// None that stands out.
    Nothing,
}

impl Spectrum {
    /// Of intervals with random work, which are sorted and not negative. `None` where they are too
    /// few.
    pub fn from_intervals(intervals: &[i64]) -> Option<Self> {
        /// Fewest intervals of a spectrum.
        /// *Chance*: four deviations are a third.
        const FEWEST: usize = 60;
        /// Ticks that they lie apart, at least.
        /// *Judgement*.
        const LEAST: i64 = 3;
        /// Of the turns that a line is wide.
        /// *Numerical*.
        const STRIDE: f64 = 0.25;
        let window = window(intervals);
        let (first, last) = (*window.first()?, *window.last()?);
        if window.len() < FEWEST || last - first < LEAST {
            return None;
        }
        let (count, span) = (window.len() as f64, (last - first) as f64);
        let mean = window.iter().map(|&value| value as f64).sum::<f64>() / count;
        let of = |same: &[i64]| (same[0] as f64 - mean, same.len() as f64 / count);
        let counted: Vec<(f64, f64)> = window.chunk_by(|a, b| a == b).map(of).collect();
        let deviation = counted
            .iter()
            .map(|(value, share)| share * value * value)
            .sum::<f64>()
            .sqrt();
        let stride = 0.5 / (0.5 * span / STRIDE).ceil();
        let half_turn = (0.5 / stride).round() as usize;
        let lines = Sweep::new(&counted, 0.0, stride)
            .take(half_turn + 1)
            .collect();
        let mostly = window[window.len() - 1 - window.len() / 20] - window[window.len() / 20];
        let uneven = UNEVEN * (WIDE / (mostly as f64).max(1.0)).max(1.0);
        Some(Self {
            counted,
            mean,
            deviation,
            noise: (0.5 / count).sqrt(),
            uneven,
            stride,
            lines,
        })
    }

    /// The step of the counter, if it stands out. `of_work` says whether a line of this frequency
    /// and step may be that of the work.
    pub fn step(&self, of_work: impl Fn(f64, f64, f64) -> bool) -> FoundLine {
        /// Steps that are apart by no more than this share are told as one, whose interval holds
        /// both. *Judgement*: as `SLIGHT`.
        const SAME_STEP: f64 = 0.02;
        /// Deviations of chance by which a line has to be nearer to what one step would show than
        /// to what another one would. *Chance*.
        const CLEARLY: f64 = 3.0;
        if self.is_narrow() {
            return FoundLine::Nothing;
        }
        for frequency in self.peaks() {
            let fit = self.fit(frequency);
            if of_work(fit.frequency, 1.0 / fit.frequency, fit.line.length())
                || fit.line.real < 0.0
                || fit.line.imaginary.abs() > WITHIN.0 * self.noise + UNEVEN
            {
                continue;
            }
            // Whole ticks do not tell the frequency from what it lacks of one turn.
            let steps = [fit.frequency, 1.0 - fit.frequency]
                .map(|turns| (1.0 / turns, fit.error / turns / turns));
            let off = |&(step, error): &(f64, f64)| self.off(fit.line, step, error);
            let allowed = |step: &(f64, f64)| {
                step.0 >= SHORTEST && off(step) <= WITHIN.0 * self.noise + UNEVEN
            };
            return match steps.map(|step| Some(step).filter(allowed)) {
                [None, None] => FoundLine::Nothing,
                [Some(step), None] | [None, Some(step)] => FoundLine::Step(self.refined(step)),
                [Some(long), Some(short)] if long.0 - short.0 <= SAME_STEP * short.0 => {
                    let (step, half) = (f64::midpoint(long.0, short.0), (long.0 - short.0) / 2.0);
                    FoundLine::Step(Lattice {
                        step,
                        error: long.1.max(self.refined(long).error) + half / Z,
                    })
                }
                [Some(long), Some(short)] => match off(&long) - off(&short) {
                    closer if closer < -CLEARLY * self.noise => FoundLine::Step(self.refined(long)),
                    closer if closer > CLEARLY * self.noise => FoundLine::Step(self.refined(short)),
                    _ => FoundLine::Unclear(long.0),
                },
            };
        }
        FoundLine::Nothing
    }

    /// The longest step that a line of more than this height, which no step explains, could be of.
    pub fn unexplained(&self, height: f64, of_work: impl Fn(f64) -> bool) -> Option<f64> {
        let mut peaks = self.peaks().into_iter();
        peaks
            .find(|&peak| self.at(peak).length() > height && !of_work(peak))
            .map(|peak| 1.0 / peak)
    }

    /// Whether most intervals lie within so few ticks that they do not hold all parts of a step.
    pub fn is_narrow(&self) -> bool {
        self.uneven > UNEVEN
    }

    /// The step as all intervals tell it: a line through zero over the number of steps in each.
    fn refined(&self, (step, error): (f64, f64)) -> Lattice {
        /// The part of a step that the longest interval has to be known to.
        /// *Judgement*.
        const COUNTED: f64 = 0.2;
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
        // Where their number may be miscounted the frequency says it.
        if WITHIN.0 * error * longest > COUNTED * step {
            return Lattice { step, error };
        }
        let slope = product / square;
        let residual = (squares - slope * product).max(1.0 / 6.0);
        Lattice {
            step: slope,
            error: (residual / square).sqrt() * self.noise * 2.0_f64.sqrt(),
        }
    }

    /// The longest step that the intervals do not exclude; 1 where they exclude all others.
    pub fn longest(&self, of_work: impl Fn(f64, f64) -> bool) -> f64 {
        let grid = 1..self.lines.len();
        let frequency = |at: usize| at as f64 * self.stride;
        let long = grid.clone().map(|at| (at, 1.0 / frequency(at)));
        let short = grid.rev().map(|at| (at, 1.0 / (1.0 - frequency(at))));
        let mut steps = long.chain(short).filter(|(_, step)| *step <= LONGEST);
        let found = steps.find(|&(at, step)| {
            let reach = WITHIN.1 * self.noise + self.uneven - UNEVEN;
            let least = (1.0 - LOST) * squared_sinc(1.0 / step) - reach;
            let around = || self.most_real(frequency(at), 0.5 * self.stride);
            // Between two frequencies a line may be longer by a tenth.
            1.1 * self.lines[at].length() >= least
                && self.off(around(), step, self.stride * step * step) <= reach
                && !of_work(frequency(at), step)
        });
        found.map_or(1.0, |(_, step)| step)
    }

    /// How far from such a line those of a counter lie that moves by this step, which is known to
    /// `error`.
    fn off(&self, line: Complex, step: f64, error: f64) -> f64 {
        let (lowest, highest) = heights(step, error);
        let beyond = line.real - line.real.clamp((1.0 - LOST) * lowest, highest);
        beyond.hypot(line.imaginary)
    }

    /// Frequencies that stand out, the tallest first; of those that are as tall the lowest.
    fn peaks(&self) -> Vec<f64> {
        let length = |at: usize| self.lines.get(at).map_or(0.0, |line| line.length());
        let first = (1.0 / LONGEST / self.stride) as usize;
        let stands_out = |at: &usize| {
            let here = length(*at);
            here > STANDS_OUT * self.noise * 2.0_f64.sqrt()
                && here >= length(at - 1)
                && here >= length(at + 1)
        };
        let mut peaks: Vec<(usize, f64)> = (first.max(1)..self.lines.len())
            .filter(stands_out)
            .map(|at| (at, length(at)))
            .collect();
        peaks.sort_by(|a, b| b.1.total_cmp(&a.1));
        let tallest = peaks.first().map_or(0.0, |peak| peak.1);
        let as_tall = peaks.partition_point(|peak| peak.1 >= AS_TALL * tallest);
        peaks[..as_tall].sort_by_key(|peak| peak.0);
        peaks
            .into_iter()
            .map(|(at, _)| at as f64 * self.stride)
            .collect()
    }

    /// The line around this frequency, as one of zero phase at intervals of zero, as far as chance
    /// allows.
    fn fit(&self, frequency: f64) -> Fit {
        /// Standard errors within which the number of turns at the mean has to be known.
        /// *Chance*.
        const KNOWN: f64 = 4.0;
        let mut top = frequency;
        let mut stride = self.stride;
        for _ in 0..24 {
            stride /= 2.0;
            for candidate in [top - stride, top + stride] {
                if self.around_mean(candidate).length() > self.around_mean(top).length() {
                    top = candidate;
                }
            }
        }
        let line = self.at(top);
        let chance = self.noise / line.length() / TAU;
        let (alone, through_zero) = (
            chance / self.deviation,
            chance / self.deviation.hypot(self.mean),
        );
        if KNOWN * alone * self.mean > 0.5 {
            return Fit {
                frequency: top,
                line: Complex {
                    real: line.length(),
                    imaginary: 0.0,
                },
                error: alone,
            };
        }
        let phase = line.turns();
        let frequency = top - phase * self.mean / (self.deviation.powi(2) + self.mean.powi(2));
        Fit {
            frequency,
            line: self.at(frequency),
            error: through_zero,
        }
    }

    /// The line where it is real and longest, no farther than `reach` from this frequency.
    fn most_real(&self, frequency: f64, reach: f64) -> Complex {
        /// Places in a turn at the mean.
        /// *Numerical*.
        const PLACES: f64 = 16.0;
        /// Places, at most.
        /// *Numerical*.
        const MOST: f64 = 96.0;
        let count = (PLACES * reach * self.mean).min(MOST).ceil() as i32;
        let places = (-count..=count)
            .map(|place| frequency + reach * f64::from(place) / f64::from(count.max(1)));
        places
            .map(|frequency| self.at(frequency))
            .fold(self.at(frequency), |best, line| {
                if line.real > best.real { line } else { best }
            })
    }

    fn at(&self, frequency: f64) -> Complex {
        let centre = Complex::unit(frequency * self.mean);
        self.around_mean(frequency).times(centre)
    }

    fn around_mean(&self, frequency: f64) -> Complex {
        let counted = self.counted.iter();
        Complex::sum(counted.map(|(value, share)| (frequency * value, *share)))
    }
}

/// A line, and what its frequency is known to.
struct Fit {
    frequency: f64,
    line: Complex,
    error: f64,
}

/// What heights the line of a counter of this step may have.
fn heights(step: f64, error: f64) -> (f64, f64) {
    /// Most places between ticks that make a difference.
    /// *Numerical*.
    const MOST: u32 = 6;
    let lowest = squared_sinc(1.0 / step);
    let whole = |places: &f64| {
        let ticks = places * step;
        (ticks - ticks.round()).abs() <= 3.0 * places * error
    };
    let places = (1..=MOST).map(f64::from).find(whole);
    let highest =
        places.map(|places| ((PI / step).sin() / (places * (PI / step / places).sin())).powi(2));
    (lowest, highest.unwrap_or(lowest).max(lowest))
}

fn squared_sinc(frequency: f64) -> f64 {
    let angle = PI * frequency;
    (angle.sin() / angle).powi(2)
}

/// Intervals that lie closest together: enough of them within as few ticks as possible.
fn window(intervals: &[i64]) -> &[i64] {
    /// This many are enough.
    /// *Numerical*.
    const ENOUGH: usize = 2_000;
    /// Ticks.
    /// *Numerical*.
    const NARROWEST: i64 = 512;
    /// Ticks.
    /// *Numerical*.
    const WIDEST: i64 = 8_192;
    let mut width = NARROWEST;
    loop {
        let window = densest(intervals, width);
        if window.len() >= ENOUGH || window.len() == intervals.len() || width >= WIDEST {
            return window;
        }
        width *= 2;
    }
}
