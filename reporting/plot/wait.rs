//! Plots of a sleep primitive: a histogram of lateness (observed minus requested time), and the
//! observed over the requested time.

use super::{Axis, AxisScale, Plot, PlotShape, describe_levels, histogram, levels};
use crate::model::{
    Granularity, Lateness, LatenessHistogram, USUAL_WAIT_NS, WaitFigures, WaitRow, value_of,
};
use crate::text::numbers::short_time;

pub fn plots(row: &WaitRow) -> Vec<Plot> {
    let Some(figures) = &row.figures else {
        return Vec::new();
    };
    let usual = Lateness::nearest(figures.by_length(), USUAL_WAIT_NS);
    [usual.and_then(lateness), staircase(figures)]
        .into_iter()
        .flatten()
        .collect()
}

/// The histogram of lateness, whose bins divide each decade of nanoseconds.
fn lateness(late: &Lateness) -> Option<Plot> {
    const BINS_PER_DECADE: f64 = LatenessHistogram::BINS_PER_DECADE;
    /// The last bin that is drawn, at 10^18 ns, because waits are shorter.
    const LAST_BIN: u32 = 18 * BINS_PER_DECADE as u32;
    let bins = &late.histogram.bins;
    // Bin 0 counts waits that were not late, and has no place on a logarithmic axis.
    let late_bins = || bins.range(1..=LAST_BIN).map(|(bin, count)| (*bin, *count));
    let end = LatenessHistogram::end;
    let from = end(late_bins().next()?.0 - 1).floor();
    let to = end(late_bins().next_back()?.0).ceil().max(from + 1.0);
    let mut counts = vec![0; ((to - from) * BINS_PER_DECADE).round() as usize];
    for (bin, count) in late_bins() {
        let at = ((end(bin - 1) - from) * BINS_PER_DECADE).round() as usize;
        if let Some(bar) = counts.get_mut(at) {
            *bar = count;
        }
    }
    let (mut shapes, up) = histogram(from, 1.0 / BINS_PER_DECADE, &counts, "waits");
    shapes.extend(value_of(late.p50_ns).map(|median| PlotShape::Median(median.log10())));
    let not_late = bins.get(&0).copied().unwrap_or_default();
    let across = Axis::new("lateness (logarithmic)", AxisScale::LogTime, from, to);
    let caption = format!(
        "{} waits of {}: observed minus requested time. {not_late} were less than 1 ns late. Line: the median.",
        late.waits,
        short_time(late.request_ns as f64)
    );
    let title = "How late waits were";
    Some(Plot::new("lateness", title, caption, [across, up], shapes))
}

fn staircase(figures: &WaitFigures) -> Option<Plot> {
    let points = &figures.staircase;
    let max = |index: usize| points.iter().map(|point| point[index]).fold(0.0, f64::max);
    let across = Axis::new("requested time", AxisScale::Time, 0.0, max(0));
    let up = Axis::new("observed time", AxisScale::Time, 0.0, 1.04 * max(1));
    let step = figures
        .granularities()
        .find_map(Granularity::step)
        .map(|step| step.value);
    let mut shapes = levels(step, &up, |at| PlotShape::Level((0.0, at), (across.to, at)));
    let caption = format!(
        "A sample of {} waits of random lengths. {}",
        points.len(),
        describe_levels(step, &shapes)
    );
    shapes.extend(
        points
            .iter()
            .map(|[requested, observed]| PlotShape::Point((*requested, *observed))),
    );
    let title = "Observed over requested time";
    Some(Plot::new("staircase", title, caption, [across, up], shapes))
}
