//! Steps between one and four ticks. Truncation to whole ticks occupies every value, so no gap shows; the spectrum of
//! the intervals still does. For a counter of step `p` (in ticks), truncated to whole ticks, the mean of
//! `exp(2πi·d/p)` over intervals `d` of random length has the magnitude `sinc²(1/p)`: each of the two truncations is uniform
//! over one tick. Whole ticks cannot tell the frequency `f` from `1 − f`, but the two have different magnitudes.

use std::f64::consts::TAU;

use super::lattice::Lattice;

/// Shortest step that stands out, in ticks.
const SHORTEST: f64 = 1.6;

/// Fewest intervals that a spectrum is taken of.
const FEWEST: usize = 600;

/// Frequencies that are looked at, in turns a tick: of steps of 4.5 ticks, and the highest that whole ticks tell.
const FREQUENCIES: (f64, f64) = (0.22, 0.5);

/// A peak stands out by so many deviations of chance, and by so many times what the ends of the window leak.
const STANDS_OUT: (f64, f64) = (5.0, 4.0);

/// How far the height of a peak may be off, as a share; and that of its octave.
const HEIGHTS: (f64, f64) = (0.15, 0.1);

/// A fraction of the frequency with this part of its height is there as well.
const THERE: f64 = 0.7;

/// A frequency is that of the work where a unit of work is a whole number of turns, give or take this.
const OF_WORK: f64 = 0.03;

/// The step of the counter, if it lies between 1.6 and 4.5 ticks and stands out. `intervals` are sorted, not negative,
/// and come from random amounts of work whose unit takes `work_unit` ticks: a peak at that length is the work's.
pub(super) fn find(intervals: &[i64], work_unit: f64) -> Option<Lattice> {
    let window = densest_window(intervals)?;
    let span = (window[window.len() - 1] - window[0]) as f64;
    let noise = 1.0 / (window.len() as f64).sqrt();
    // A smooth distribution over the window leaks this much into the frequencies looked at.
    let floor = STANDS_OUT.0 * noise + STANDS_OUT.1 / span;
    let stride = 0.2 / span;
    let mut frequency = FREQUENCIES.0;
    while frequency <= FREQUENCIES.1 {
        let magnitude = magnitude(&window, frequency);
        if magnitude > floor && is_peak(&window, frequency, stride, magnitude) {
            let exact = climb(&window, frequency, stride);
            let top = self::magnitude(&window, exact);
            let octave = self::magnitude(&window, 2.0 * exact);
            let matches = |frequency: f64| {
                (top / squared_sinc(frequency) - 1.0).abs() < HEIGHTS.0
                    && (octave - squared_sinc(2.0 * frequency)).abs() < HEIGHTS.1
            };
            for candidate in [exact, 1.0 - exact] {
                if !matches(candidate) {
                    continue;
                }
                // A fraction of the frequency present as well: this is an overtone of a longer step.
                let is_there = |longer: &f64| {
                    let frequency = candidate / longer;
                    self::magnitude(&window, frequency) > THERE * squared_sinc(frequency)
                        && !is_of_work(frequency, work_unit)
                };
                if let Some(longer) = [4.0, 3.0, 2.0].into_iter().find(is_there) {
                    let base = climb(&window, candidate / longer, stride);
                    return Some(Lattice { step: 1.0 / base, error: noise / span / base / base });
                }
                if candidate < 1.0 / SHORTEST && !is_of_work(exact, work_unit) {
                    let error = noise / top / span / candidate;
                    return Some(Lattice { step: 1.0 / candidate, error: error / candidate });
                }
            }
        }
        frequency += stride;
    }
    None
}

/// Whether durations that grow in whole units of work would make this peak themselves.
fn is_of_work(frequency: f64, work_unit: f64) -> bool {
    // Whole ticks cannot tell these four frequencies apart.
    [frequency, 1.0 - frequency, 1.0 + frequency, 2.0 - frequency].into_iter().any(|frequency| {
        let turns = frequency * work_unit;
        work_unit > 0.0 && turns > 0.5 && (turns - turns.round()).abs() < OF_WORK
    })
}

/// The largest share of intervals that lies within 256 ticks, if it spans at least 24.
fn densest_window(intervals: &[i64]) -> Option<Vec<i64>> {
    const WIDTH: i64 = 256;
    const LEAST: i64 = 24;
    let mut best = 0..0;
    let mut end = 0;
    for start in 0..intervals.len() {
        while end < intervals.len() && intervals[end] - intervals[start] < WIDTH {
            end += 1;
        }
        if end - start > best.len() {
            best = start..end;
        }
    }
    let window = intervals[best].to_vec();
    (window.len() >= FEWEST && window[window.len() - 1] - window[0] >= LEAST).then_some(window)
}

fn magnitude(window: &[i64], frequency: f64) -> f64 {
    let (mut sine, mut cosine) = (0.0, 0.0);
    for same in window.chunk_by(|a, b| a == b) {
        let (s, c) = (TAU * frequency * same[0] as f64).sin_cos();
        sine += s * same.len() as f64;
        cosine += c * same.len() as f64;
    }
    sine.hypot(cosine) / window.len() as f64
}

fn is_peak(window: &[i64], frequency: f64, stride: f64, here: f64) -> bool {
    here >= magnitude(window, frequency - stride) && here >= magnitude(window, frequency + stride)
}

fn climb(window: &[i64], from: f64, mut stride: f64) -> f64 {
    let mut best = from;
    for _ in 0..24 {
        stride /= 2.0;
        for candidate in [best - stride, best + stride] {
            if magnitude(window, candidate) > magnitude(window, best) {
                best = candidate;
            }
        }
    }
    best
}

fn squared_sinc(frequency: f64) -> f64 {
    let angle = std::f64::consts::PI * frequency;
    (angle.sin() / angle).powi(2)
}
