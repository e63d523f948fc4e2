//! Plots of a clock: intervals between two reads over the work between them, a histogram of such
//! intervals, and a histogram of the costs of single reads.

use super::{Axis, AxisScale, Plot, PlotShape, describe_levels, histogram, levels};
use crate::model::{
    CostHistogram, IntervalHistogram, ResolutionKind, Staircase, TimerRow, value_of,
};
use crate::text::numbers::time;

pub fn plots(row: &TimerRow) -> Vec<Plot> {
    let Some(figures) = &row.figures else {
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
            .map(|figure| intervals(row, figure)),
        figures.singles.as_ref().map(|figure| costs(row, figure)),
    ];
    plots.into_iter().flatten().collect()
}

/// The factor that converts ticks of the clock to values of the axis, which are nanoseconds if the
/// rate of the clock is known, otherwise ticks; and the scale of the axis.
fn unit(row: &TimerRow) -> (f64, AxisScale) {
    match row.ns_per_tick {
        Some(ns) => (ns, AxisScale::Time),
        None => (1.0, AxisScale::Number),
    }
}

/// The step of the clock in the unit of the axis; `None` if the step is unknown.
fn step(row: &TimerRow) -> Option<f64> {
    let resolution = row
        .resolution
        .filter(|resolution| resolution.kind == ResolutionKind::Resolved)?;
    Some(resolution.ticks * unit(row).0).filter(|step| step.is_finite() && *step > 0.0)
}

fn staircase(row: &TimerRow, figure: &Staircase) -> Option<Plot> {
    let (per_tick, scale) = unit(row);
    let intervals = || figure.ticks.iter().map(|ticks| *ticks as f64 * per_tick);
    let shortest = intervals().reduce(f64::min)?;
    let longest = intervals().reduce(f64::max)?;
    // The axis begins at 0, except if the lower half of the plot would then be empty because a read
    // costs far more than the step.
    let from = if shortest > longest / 2.0 {
        shortest - 0.1 * (longest - shortest)
    } else {
        shortest.min(0.0)
    };
    let to = longest.max(from + per_tick) + 0.04 * (longest - from);
    let most_work = *figure.work.iter().max()? as f64 * figure.ns_per_work;
    let across = Axis::new(
        "work between the reads",
        AxisScale::Time,
        0.0,
        most_work.max(1.0),
    );
    let up = Axis::new("interval", scale, from, to);
    let mut shapes = levels(step(row), &up, |at| {
        PlotShape::Level((0.0, at), (across.to, at))
    });
    let caption = format!(
        "A sample of {} intervals between two reads, with more and more work between them. {}",
        figure.intervals,
        describe_levels(step(row), &shapes)
    );
    let points = figure.work.iter().zip(intervals());
    shapes.extend(
        points.map(|(work, interval)| {
            PlotShape::Point((*work as f64 * figure.ns_per_work, interval))
        }),
    );
    let axes = [across, up];
    Some(Plot::new(
        "staircase",
        "Intervals over work",
        caption,
        axes,
        shapes,
    ))
}

fn intervals(row: &TimerRow, figure: &IntervalHistogram) -> Plot {
    let (per_tick, scale) = unit(row);
    // A bin is centred on whole ticks and extends half a tick to both sides.
    let first = (figure.first_ticks as f64 - 0.5) * per_tick;
    let width = figure.width_ticks as f64 * per_tick;
    let (bars, up) = histogram(first, width, &figure.counts, "intervals");
    let across = Axis::new(
        "interval",
        scale,
        first,
        first + width * figure.counts.len() as f64,
    );
    let mut shapes = levels(step(row), &across, |at| {
        PlotShape::Level((at, 0.0), (at, up.to))
    });
    let caption = format!(
        "Intervals with random work between the reads. {}",
        describe_levels(step(row), &shapes)
    );
    shapes.extend(bars);
    let title = "Intervals against the steps";
    Plot::new("intervals", title, caption, [across, up], shapes)
}

fn costs(row: &TimerRow, figure: &CostHistogram) -> Plot {
    let median = value_of(row.cost_ns).filter(|ns| ns.is_finite());
    let resolution = step(row)
        .and(value_of(row.resolution_ns))
        .filter(|ns| ns.is_finite());
    let last = figure.first_ns + figure.width_ns * figure.counts.len() as f64;
    let margin = resolution
        .filter(|ns| *ns < last - figure.first_ns)
        .map_or(0.0, |ns| 1.1 * ns);
    let (from, to) = median.map_or((figure.first_ns, last), |median| {
        (
            figure.first_ns.min(median - margin),
            last.max(median + margin),
        )
    });
    let across = Axis::new("cost", AxisScale::Time, from, to);
    let (bars, up) = histogram(figure.first_ns, figure.width_ns, &figure.counts, "reads");
    let band = median.zip(resolution).map(|(median, ns)| {
        PlotShape::Band((median - ns).max(across.from), (median + ns).min(across.to))
    });
    let reference = row
        .cost
        .as_ref()
        .map(|cost| cost.reference.as_str())
        .filter(|_| !figure.own_readings)
        .unwrap_or("the clock itself");
    let shaded = if band.is_some() {
        " Shaded: within one resolution of the median."
    } else {
        ""
    };
    let caption = format!(
        "How long single reads took in all processes, in multiples of the step of {reference}, which timed them. Line: the median, {}.{shaded}",
        time(median)
    );
    let shapes = band
        .into_iter()
        .chain(bars)
        .chain(median.map(PlotShape::Median))
        .collect();
    Plot::new("costs", "Single reads", caption, [across, up], shapes)
}
