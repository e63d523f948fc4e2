//! Builds plots of a timer and of all clocks of a report, independent of the output. `svg.rs` draws
//! plots for papers and pages, `terminal.rs` with characters.

mod clock;
mod ranking;
mod svg;
mod terminal;
mod wait;

use crate::fields::{Row, Source};
use crate::text::numbers::{count, short_time, significant, trimmed};

pub use ranking::ranking;

/// A plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// The short name, used in file names.
    pub name: &'static str,
    /// The title.
    pub title: &'static str,
    /// A description of the content, also for readers who cannot see the plot.
    pub caption: String,
    /// Width and height in pixels.
    pub size: (u32, u32),
    /// The horizontal axis.
    pub across: Axis,
    /// The vertical axis.
    pub up: Axis,
    /// The shapes in drawing order.
    shapes: Vec<Shape>,
}

/// An axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The quantity on the axis, with its unit.
    pub label: String,
    /// The lower end.
    from: f64,
    /// The upper end, which is above the lower end.
    to: f64,
    scale: Scale,
}

/// The meaning of the numbers on an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scale {
    /// A number in the unit of the label.
    Number,
    /// Nanoseconds, printed with a suitable unit.
    Time,
    /// The decimal logarithm of nanoseconds.
    LogTime,
    /// The decimal logarithm of a number.
    LogNumber,
}

/// A shape, at coordinates in the units of the axes.
#[derive(Clone, Debug, PartialEq)]
enum Shape {
    /// The range within one resolution of the median, from left to right.
    Band(f64, f64),
    /// A line at a multiple of the step, or a line of equal Quality, between two points.
    Level((f64, f64), (f64, f64)),
    /// A bar: left end, right end and height.
    Bar(f64, f64, f64),
    Point(f64, f64),
    /// A vertical line at the median.
    Median(f64),
    /// A text next to a point.
    Label((f64, f64), String),
}

/// The usual width and height in pixels.
const SIZE: (u32, u32) = (480, 290);

impl Axis {
    fn new(label: impl Into<String>, scale: Scale, from: f64, to: f64) -> Self {
        let label = label.into();
        Self {
            label,
            from,
            to,
            scale,
        }
    }

    /// The position of a value between the ends, in [0, 1]; `None` outside the ends.
    fn share(&self, value: f64) -> Option<f64> {
        let share = (value - self.from) / (self.to - self.from);
        (0.0..=1.0).contains(&share).then_some(share)
    }

    /// Round numbers on the axis, at most `most`, with their text.
    fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        let is_log = matches!(self.scale, Scale::LogTime | Scale::LogNumber);
        let least = (self.to - self.from) / most as f64;
        let decade = 10_f64.powf(least.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * decade);
        let step = step
            .into_iter()
            .find(|step| *step >= least)
            .unwrap_or(least);
        let step = if is_log { step.max(1.0) } else { step };
        let first = (self.from / step).ceil();
        let count = ((self.to / step).floor() - first + 1.0).clamp(0.0, most as f64 + 1.0);
        let ticks = (0..count as usize).map(|at| (first + at as f64) * step);
        ticks.map(|at| (at, self.text(at))).collect()
    }

    fn text(&self, value: f64) -> String {
        match self.scale {
            Scale::Number if value.abs() < 1.0 => trimmed(&significant(value, 3)),
            Scale::Number => trimmed(&count(Some(value))),
            Scale::Time => short_time(value),
            Scale::LogTime => short_time(10_f64.powf(value)),
            Scale::LogNumber => trimmed(&count(Some(10_f64.powf(value)))),
        }
    }
}

impl Plot {
    /// A plot of the usual size.
    fn new(
        name: &'static str,
        title: &'static str,
        caption: String,
        [across, up]: [Axis; 2],
        shapes: Vec<Shape>,
    ) -> Self {
        Self {
            name,
            title,
            caption,
            size: SIZE,
            across,
            up,
            shapes,
        }
    }

    /// All plots of a row.
    #[must_use]
    pub fn of_row(row: Row) -> Vec<Self> {
        let mut all = match row.source {
            Source::Clock(row) => clock::plots(row),
            Source::Wait(row, _) => wait::plots(row),
            Source::Period(_) => Vec::new(),
        };
        // Reports from other programs may hold any values.
        let is_sound = |axis: &Axis| {
            axis.from.is_finite() && axis.to.is_finite() && axis.to - axis.from > axis.to * 1e-9
        };
        all.retain(|plot| is_sound(&plot.across) && is_sound(&plot.up));
        all
    }
}

/// The bars of a histogram and the axis of their heights.
fn histogram(first: f64, width: f64, counts: &[u64], label: &str) -> (Vec<Shape>, Axis) {
    let bars = counts
        .iter()
        .enumerate()
        .filter(|(_, count)| **count > 0)
        .map(|(at, count)| {
            let from = first + width * at as f64;
            Shape::Bar(from, from + width, *count as f64)
        });
    let highest = counts.iter().copied().max().unwrap_or_default() as f64;
    (
        bars.collect(),
        Axis::new(label, Scale::Number, 0.0, (1.05 * highest).max(1.0)),
    )
}

/// Shapes at the multiples of a step on an axis, created by `line`; none if they are too close.
fn levels(step: Option<f64>, axis: &Axis, line: impl Fn(f64) -> Shape) -> Vec<Shape> {
    const MOST: f64 = 40.0;
    let step = step.filter(|step| *step > 0.0 && (axis.to - axis.from) / step <= MOST);
    let Some(step) = step else {
        return Vec::new();
    };
    let first = (axis.from / step).ceil();
    let multiples = (0..=MOST as usize).map(|at| (first + at as f64) * step);
    multiples
        .take_while(|at| *at <= axis.to)
        .map(line)
        .collect()
}

/// Describes the lines for the caption.
fn levels_in_words(step: Option<f64>, levels: &[Shape]) -> String {
    match step {
        None => "No step was found.".to_owned(),
        Some(step) if levels.is_empty() => {
            format!(
                "Steps of {} are too short to be distinguished here.",
                short_time(step)
            )
        }
        Some(step) => format!("Lines: multiples of the step, {}.", short_time(step)),
    }
}
