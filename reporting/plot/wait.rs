//! Plots of a sleep primitive: the distribution of lateness, and the observed over the requested
//! time.

use super::{Axis, Plot, Scale, Shape, histogram, levels, levels_in_words};
use crate::model::{
    Granularity, Lateness, LatenessHistogram, USUAL_WAIT_NS, WaitFigures, WaitRow, value_of,
};
use crate::text::numbers::short_time;

pub(super) fn plots(row: &WaitRow) -> Vec<Plot> {
    let Some(figures) = &row.figures else {
        return Vec::new();
    };
    let usual = Lateness::nearest(figures.by_length(), USUAL_WAIT_NS);
    [usual.and_then(lateness), staircase(figures)]
        .into_iter()
        .flatten()
        .collect()
}

fn lateness(late: &Lateness) -> Option<Plot> {
    const BINS: f64 = LatenessHistogram::BINS;
    /// The last bin, at 10^18 ns; no report contains longer times.
    const LAST_BIN: u32 = 18 * BINS as u32;
    let bins = &late.histogram.bins;
    // Bin 0 counts waits that were not late, and lies below all decades.
    let known = || bins.range(1..=LAST_BIN).map(|(bin, count)| (*bin, *count));
    let end = LatenessHistogram::end;
    let from = end(known().next()?.0 - 1).floor();
    let to = end(known().next_back()?.0).ceil().max(from + 1.0);
    let mut counts = vec![0; ((to - from) * BINS).round() as usize];
    for (bin, count) in known() {
        let at = ((end(bin - 1) - from) * BINS).round() as usize;
        if let Some(bar) = counts.get_mut(at) {
            *bar = count;
        }
    }
    let (mut shapes, up) = histogram(from, 1.0 / BINS, &counts, "waits");
    shapes.extend(value_of(late.p50_ns).map(|median| Shape::Median(median.log10())));
    let none_late = bins.get(&0).copied().unwrap_or_default();
    let across = Axis::new("lateness (logarithmic)", Scale::LogTime, from, to);
    let caption = format!(
        "{} waits of {}: observed less asked. {none_late} were not late by 1 ns. Line: the median.",
        late.waits,
        short_time(late.request_ns as f64)
    );
    let title = "How late waits were";
    Some(Plot::new("lateness", title, caption, [across, up], shapes))
}

fn staircase(figures: &WaitFigures) -> Option<Plot> {
    let points = &figures.staircase;
    let most = |at: usize| points.iter().map(|point| point[at]).fold(0.0, f64::max);
    let across = Axis::new("asked for", Scale::Time, 0.0, most(0));
    let up = Axis::new("waited", Scale::Time, 0.0, 1.04 * most(1));
    let step = figures
        .granularities()
        .find_map(Granularity::step)
        .map(|step| step.value);
    let mut shapes = levels(step, &up, |at| Shape::Level((0.0, at), (across.to, at)));
    let caption = format!(
        "A sample of {} waits of random lengths. {}",
        points.len(),
        levels_in_words(step, &shapes)
    );
    shapes.extend(
        points
            .iter()
            .map(|[asked, waited]| Shape::Point(*asked, *waited)),
    );
    let title = "Observed over asked";
    Some(Plot::new("staircase", title, caption, [across, up], shapes))
}
