//! Builds plots of a clock, and a plot of all clocks of a report. `svg.rs` draws them.

mod clock;
mod ranking;
mod svg;

use crate::fields::{Row, RowSource};
use crate::text::numbers::{count, short_time, significant, trimmed};

pub use ranking::{NARROW, WIDE, ranking};

/// A plot, independent of how it is drawn.
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
    /// The labels that stand for several clocks, each with the names of all of them.
    pub clusters: Vec<(String, String)>,
    /// The shapes in drawing order.
    shapes: Vec<PlotShape>,
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
    scale: AxisScale,
}

/// The meaning of the numbers on an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
enum AxisScale {
    /// A number in the unit of the label.
    Number,
    /// Nanoseconds, printed with a suitable unit.
    Time,
    /// The decimal logarithm of nanoseconds.
    LogTime,
    /// The decimal logarithm of cycles, and the nanoseconds of a cycle if they are known.
    LogCycles(Option<f64>),
}

/// A point: across and up, in the units of the axes.
type PlotPoint = (f64, f64);

/// A shape, at coordinates in the units of the axes.
#[derive(Clone, Debug, PartialEq)]
enum PlotShape {
    /// The shaded range between two positions on the horizontal axis.
    Band(f64, f64),
    /// A grey line between two points: a multiple of the step, or clocks of equal Quality.
    Level(PlotPoint, PlotPoint),
    /// A bar of a histogram: left end, right end and height.
    Bar(f64, f64, f64),
    Point(PlotPoint),
    /// A vertical line at the median of the horizontal axis.
    Median(f64),
    /// A ring around a point.
    Ring(PlotPoint),
    /// A text next to a point.
    Label(PlotPoint, String),
}

impl Axis {
    fn new(label: impl Into<String>, scale: AxisScale, from: f64, to: f64) -> Self {
        Self {
            label: label.into(),
            from,
            to,
            scale,
        }
    }

    /// The position of a value between the ends, from 0 at the lower end to 1 at the upper end;
    /// `None` outside the ends.
    fn position(&self, value: f64) -> Option<f64> {
        let position = (value - self.from) / (self.to - self.from);
        (0.0..=1.0).contains(&position).then_some(position)
    }

    /// At most `max_count` round numbers on the axis, at equal distances, with their text.
    fn ticks(&self, max_count: usize) -> Vec<(f64, String)> {
        let is_log = matches!(self.scale, AxisScale::LogTime | AxisScale::LogCycles(_));
        let min_step = (self.to - self.from) / max_count as f64;
        let decade = 10_f64.powf(min_step.log10().floor());
        let round_steps =
            [1.0, 2.0, if is_log { 3.0 } else { 5.0 }, 5.0, 10.0].map(|factor| factor * decade);
        let step = round_steps
            .into_iter()
            .find(|step| *step >= min_step)
            .unwrap_or(min_step);
        // Fractions of a decade would not be round numbers.
        let step = if is_log { step.max(1.0) } else { step };
        let first = (self.from / step).ceil();
        let count = ((self.to / step).floor() - first + 1.0).clamp(0.0, max_count as f64 + 1.0);
        let values = (0..count as usize).map(|index| (first + index as f64) * step);
        values.map(|value| (value, self.text(value))).collect()
    }

    /// The same axis of cycles in time; `None` if the time of a cycle is unknown.
    fn in_time(&self) -> Option<Self> {
        let AxisScale::LogCycles(Some(ns)) = self.scale else {
            return None;
        };
        let [from, to] = [self.from, self.to].map(|cycles| cycles + ns.log10());
        let label = self.label.replace(" in cycles", "");
        Some(Self::new(label, AxisScale::LogTime, from, to))
    }

    /// Formats a value of the axis.
    fn text(&self, value: f64) -> String {
        match self.scale {
            AxisScale::Number if value.abs() < 1.0 => trimmed(&significant(value, 3)),
            AxisScale::Number => trimmed(&count(Some(value))),
            AxisScale::Time => short_time(value),
            AxisScale::LogTime => short_time(10_f64.powf(value)),
            AxisScale::LogCycles(_) => trimmed(&count(Some(10_f64.powf(value)))),
        }
    }
}

impl Plot {
    /// A plot of 400 × 280 pixels.
    fn new(
        name: &'static str,
        title: &'static str,
        caption: String,
        [across, up]: [Axis; 2],
        shapes: Vec<PlotShape>,
    ) -> Self {
        Self {
            name,
            title,
            caption,
            size: (400, 280),
            clusters: Vec::new(),
            across,
            up,
            shapes,
        }
    }

    /// All plots of a clock; none for other timers.
    pub fn for_row(row: Row) -> Vec<Self> {
        let mut all = match row.source {
            RowSource::Clock(row) => clock::plots(row),
            _ => Vec::new(),
        };
        // Reports from other programs may contain any values, so axes may be infinite or empty.
        let is_valid = |axis: &Axis| {
            axis.from.is_finite() && axis.to.is_finite() && axis.to - axis.from > axis.to * 1e-9
        };
        all.retain(|plot| is_valid(&plot.across) && is_valid(&plot.up));
        all
    }
}

/// The bars of a histogram whose first bin begins at `first`, and the axis of their heights.
fn histogram(first: f64, width: f64, counts: &[u64], label: &str) -> (Vec<PlotShape>, Axis) {
    let bars = counts
        .iter()
        .enumerate()
        .filter(|(_, count)| **count > 0)
        .map(|(index, count)| {
            let from = first + width * index as f64;
            PlotShape::Bar(from, from + width, *count as f64)
        });
    let highest = counts.iter().copied().max().unwrap_or_default() as f64;
    (
        bars.collect(),
        Axis::new(label, AxisScale::Number, 0.0, (1.05 * highest).max(1.0)),
    )
}

/// The shapes that `line` creates at each multiple of the step on the axis; none if the step is
/// unknown or the multiples would be too close to each other.
fn levels(step: Option<f64>, axis: &Axis, line: impl Fn(f64) -> PlotShape) -> Vec<PlotShape> {
    const MAX_LEVELS: f64 = 40.0;
    let step = step.filter(|step| *step > 0.0 && (axis.to - axis.from) / step <= MAX_LEVELS);
    let Some(step) = step else {
        return Vec::new();
    };
    let first = (axis.from / step).ceil();
    let multiples = (0..=MAX_LEVELS as usize).map(|index| (first + index as f64) * step);
    multiples
        .take_while(|multiple| *multiple <= axis.to)
        .map(line)
        .collect()
}

/// Describes the lines at the multiples of the step for the caption.
fn describe_levels(step: Option<f64>, levels: &[PlotShape]) -> String {
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
