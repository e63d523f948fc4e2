//! Plots of a clock: intervals between two reads over the work between them, and a histogram of the
//! costs of single reads.

use super::{Axis, Plot, number};
use crate::fields::Row;
use crate::text::numbers::{short_time, time};
use estimators::model::{ResolutionKind, TimerRow};

/// The size of the plots in pixels.
const SIZE: (u32, u32) = (400, 280);
/// The largest number of lines at multiples of the step that can be distinguished.
const MAX_LEVELS: f64 = 40.0;

/// All plots of a clock; none for other timers.
pub fn plots(row: Row) -> Vec<Plot> {
    let all = [staircase, costs].map(|plot| plot(row.clock()?));
    all.into_iter().flatten().collect()
}

/// The factor from ticks of the clock to nanoseconds, in which intervals are plotted; 1 if its rate is
/// unknown.
fn per_tick(row: &TimerRow) -> f64 {
    row.ns_per_tick.unwrap_or(1.0)
}

/// Draws lines at the multiples of the step, and describes them; neither if no step was found, or if
/// the lines would be too close to each other.
fn draw_steps(row: &TimerRow, plot: &mut Plot) -> String {
    let resolved = row
        .resolution
        .filter(|step| step.kind == ResolutionKind::Resolved);
    let step = resolved.map(|step| step.ticks * per_tick(row));
    let [across, up] = plot.axes.clone();
    let is_visible = |step: &f64| *step > 0.0 && up.length() <= MAX_LEVELS * step;
    let Some(step) = step.filter(is_visible) else {
        return String::new();
    };
    for level in up.multiples(step) {
        plot.line("level", across.ends.map(|end| [end, level]));
    }
    format!(" Lines: multiples of the step, {}.", (up.write)(step))
}

fn staircase(row: &TimerRow) -> Option<Plot> {
    let figure = row.figures.as_ref()?.staircase.as_ref()?;
    let works = || {
        figure
            .work
            .iter()
            .map(|work| *work as f64 * figure.ns_per_work)
    };
    let intervals = || {
        figure
            .ticks
            .iter()
            .map(|ticks| *ticks as f64 * per_tick(row))
    };
    let (shortest, longest) = (intervals().reduce(f64::min)?, intervals().reduce(f64::max)?);
    let margin = 0.05 * (longest - shortest);
    let across = Axis::new(
        "work between the reads",
        short_time,
        [0.0, works().reduce(f64::max)?],
    );
    let write = row
        .ns_per_tick
        .map_or(number as fn(f64) -> String, |_| short_time);
    let up = Axis::new("interval", write, [shortest - margin, longest + margin]);
    let mut plot = Plot::new("Intervals over work", SIZE, [across, up])?;
    let lines = draw_steps(row, &mut plot);
    plot.points(works().zip(intervals()).map(Into::into));
    plot.caption = format!(
        "A sample of {} intervals between two reads, with more and more work between them.{lines}",
        figure.intervals
    );
    Some(plot)
}

fn costs(row: &TimerRow) -> Option<Plot> {
    let figure = row.figures.as_ref()?.singles.as_ref()?;
    let (first, width) = (figure.first_ns, figure.width_ns);
    let median = row.cost_ns?.value;
    let last = first + width * figure.counts.len() as f64;
    let across = Axis::new("cost", short_time, [first.min(median), last.max(median)]);
    let highest = figure.counts.iter().copied().max().unwrap_or_default();
    let up = Axis::new("reads", number, [0.0, 1.05 * highest as f64]);
    let ends = up.ends.map(|count| [median, count]);
    let mut plot = Plot::new("Single reads", SIZE, [across, up])?;
    plot.bars(first, width, &figure.counts);
    plot.line("median", ends);
    let reference = row.cost.as_ref().filter(|_| !figure.own_readings);
    plot.caption = format!(
        "How long single reads took in all processes, timed by {}. Line: the median, {}.",
        reference.map_or("the clock itself", |cost| &cost.reference),
        time(median)
    );
    Some(plot)
}
