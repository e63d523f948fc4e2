//! Plots of a clock: intervals between two reads over the work between them, a histogram of such
//! intervals, and a histogram of the costs of single reads.

use super::{Axis, Canvas, Plot, Point, number};
use crate::fields::Row;
use crate::model::{
    CostHistogram, IntervalHistogram, ResolutionKind, Staircase, TimerRow, value_of,
};
use crate::text::numbers::{short_time, time};

/// The size of the plots in pixels.
const SIZE: (u32, u32) = (400, 280);
/// The largest number of lines at multiples of the step that can be distinguished.
const MAX_LEVELS: f64 = 40.0;

/// All plots of a clock; none for other timers.
pub fn plots(row: Row) -> Vec<Plot> {
    let Some((row, figures)) = row
        .clock()
        .and_then(|row| Some((row, row.figures.as_ref()?)))
    else {
        return Vec::new();
    };
    let plots = [
        figures
            .staircase
            .as_ref()
            .and_then(|figure| staircase(row, figure)),
        figures
            .intervals
            .as_ref()
            .and_then(|figure| intervals(row, figure)),
        figures
            .singles
            .as_ref()
            .and_then(|figure| costs(row, figure)),
    ];
    plots.into_iter().flatten().collect()
}

/// An axis of times.
fn times(label: &'static str, from: f64, to: f64) -> Axis {
    Axis {
        label,
        write: short_time,
        from,
        to,
        is_log: false,
    }
}

/// The factor from ticks of the clock to nanoseconds, in which intervals are plotted; 1 if its rate is
/// unknown.
fn per_tick(row: &TimerRow) -> f64 {
    row.ns_per_tick.unwrap_or(1.0)
}

/// The axis of intervals, of which the ends are in ticks of the clock.
fn ticks(row: &TimerRow, from: f64, to: f64) -> Axis {
    let [from, to] = [from, to].map(|ticks| ticks * per_tick(row));
    let write = if row.ns_per_tick.is_some() {
        short_time
    } else {
        number
    };
    Axis {
        write,
        ..times("interval", from, to)
    }
}

/// Draws lines at the multiples of the step on an axis, and returns their description; neither
/// if no step was found, or if the lines would be too close to each other.
fn draw_steps(row: &TimerRow, canvas: &mut Canvas, axis: usize) -> String {
    let resolved = row
        .resolution
        .filter(|step| step.kind == ResolutionKind::Resolved);
    let step = resolved.map(|step| step.ticks * per_tick(row));
    let is_visible = |step: &f64| *step > 0.0 && canvas.axes[axis].length() <= MAX_LEVELS * step;
    let Some(step) = step.filter(is_visible) else {
        return String::new();
    };
    let ends = canvas.axes.each_ref().map(|axis| [axis.from, axis.to]);
    for multiple in canvas.axes[axis].multiples(step) {
        let mut ends = ends;
        ends[axis] = [multiple; 2];
        let [[left, right], [low, high]] = ends;
        canvas.line("level", [left, low], [right, high]);
    }
    let write = canvas.axes[axis].write;
    format!(" Lines: multiples of the step, {}.", write(step))
}

fn staircase(row: &TimerRow, figure: &Staircase) -> Option<Plot> {
    let intervals = || figure.ticks.iter().map(|ticks| *ticks as f64);
    let (shortest, longest) = (intervals().reduce(f64::min)?, intervals().reduce(f64::max)?);
    let margin = 0.05 * (longest - shortest);
    let most_work = *figure.work.iter().max()? as f64 * figure.ns_per_work;
    let across = times("work between the reads", 0.0, most_work);
    let up = ticks(row, shortest - margin, longest + margin);
    let mut canvas = Canvas::new(SIZE, [across, up])?;
    let lines = draw_steps(row, &mut canvas, 1);
    let works = figure
        .work
        .iter()
        .map(|work| *work as f64 * figure.ns_per_work);
    let points = works.zip(intervals().map(|ticks| ticks * per_tick(row)));
    let points: Vec<Point> = points.map(Point::from).collect();
    canvas.points(&points);
    let caption = format!(
        "A sample of {} intervals between two reads, with more and more work between them.{lines}",
        figure.intervals
    );
    Some(canvas.finish("Intervals over work", caption))
}

/// The axis of the counts of a histogram, and its bars, the first of which begins at `first`.
fn histogram(
    label: &'static str,
    counts: &[u64],
    first: f64,
    width: f64,
) -> (Axis, impl Iterator<Item = (f64, f64, f64)>) {
    let highest = counts.iter().copied().max().unwrap_or_default() as f64;
    let up = Axis {
        label,
        write: number,
        from: 0.0,
        to: 1.05 * highest,
        is_log: false,
    };
    let bars = counts.iter().enumerate().filter(|(_, count)| **count > 0);
    let bars = bars.map(move |(index, count)| {
        let from = first + width * index as f64;
        (from, from + width, *count as f64)
    });
    (up, bars)
}

fn intervals(row: &TimerRow, figure: &IntervalHistogram) -> Option<Plot> {
    // A bin is centred on whole ticks and extends half a tick to both sides.
    let first = figure.first_ticks as f64 - 0.5;
    let width = figure.width_ticks as f64;
    let across = ticks(row, first, first + width * figure.counts.len() as f64);
    let (up, bars) = histogram(
        "intervals",
        &figure.counts,
        across.from,
        width * per_tick(row),
    );
    let mut canvas = Canvas::new(SIZE, [across, up])?;
    let lines = draw_steps(row, &mut canvas, 0);
    canvas.bars("data", bars);
    let caption = format!("Intervals with random work between the reads.{lines}");
    Some(canvas.finish("Intervals against the steps", caption))
}

fn costs(row: &TimerRow, figure: &CostHistogram) -> Option<Plot> {
    let median = value_of(row.cost_ns)?;
    let last = figure.first_ns + figure.width_ns * figure.counts.len() as f64;
    let across = times("cost", figure.first_ns.min(median), last.max(median));
    let (up, bars) = histogram("reads", &figure.counts, figure.first_ns, figure.width_ns);
    let top = up.to;
    let mut canvas = Canvas::new(SIZE, [across, up])?;
    let step = value_of(row.resolution_ns);
    let band = step.map(|step| (median - step, median + step, top));
    canvas.bars("band", band.into_iter());
    canvas.bars("data", bars);
    canvas.line("median", [median, 0.0], [median, top]);
    let reference = row.cost.as_ref().filter(|_| !figure.own_readings);
    let caption = format!(
        "How long single reads took in all processes, timed by {}. Line: the median, {}.{}",
        reference.map_or("the clock itself", |cost| &cost.reference),
        time(median),
        step.map_or("", |_| " Shaded: within one resolution of it.")
    );
    Some(canvas.finish("Single reads", caption))
}
