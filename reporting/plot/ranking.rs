//! Plots all clocks of a report: the cost of a read over the step, with lines of equal Quality.

use super::{Axis, AxisScale, Plot, PlotPoint, PlotShape};
use crate::model::{Report, ResolutionKind, TimerRow, value_of};
use crate::quality::{COST_EXPONENT, RESOLUTION_EXPONENT};
use crate::text::counted;

/// The Qualities for which lines are drawn, in percent. They hold for clocks whose reads all have
/// the same cost.
const LINE_PERCENTS: [f64; 8] = [10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0, 75.0];
/// Clocks share a label if the decimal logarithms of their steps and of their costs both differ by
/// less than this, about a line of text.
const MIN_LABEL_DISTANCE: f64 = 0.2;
/// The size of the plot for wide pages in pixels.
pub const WIDE: (u32, u32) = (1170, 520);
/// The size of the plot for narrow pages in pixels.
pub const NARROW: (u32, u32) = (430, 560);

/// The plot of a report, in which the clock of the id `recommended` is marked; `None` if no clock
/// has a step and a cost in cycles.
pub fn ranking(report: &Report, recommended: Option<&str>) -> Option<Plot> {
    // Cycles of different processors are not compared.
    let of_devices = report.is_of_devices();
    let rows = report.timers.iter();
    let rows = rows.filter(|row| row.device.is_some() == of_devices);
    let mut known: Vec<(&str, PlotPoint)> = rows
        .clone()
        .filter_map(|row| Some((row.id.as_str(), position(row)?)))
        .collect();
    known.sort_by_key(|(id, _)| Some(*id) != recommended);
    let (first, at) = *known.first()?;
    let ring = (Some(first) == recommended).then_some(PlotShape::Ring(at));
    // The point of the first clock, and the clocks at nearly this point.
    let mut clusters: Vec<(PlotPoint, Vec<&str>)> = Vec::new();
    for (id, at) in &known {
        let is_near = |(other, _): &&mut (PlotPoint, Vec<&str>)| {
            (other.0 - at.0).abs().max((other.1 - at.1).abs()) < MIN_LABEL_DISTANCE
        };
        match clusters.iter_mut().find(is_near) {
            Some((_, ids)) => ids.push(id),
            None => clusters.push((*at, vec![id])),
        }
    }
    let label = |ids: &[&str]| match ids.len() {
        1 => ids[0].to_owned(),
        all => format!("{} +{}", ids[0], all - 1),
    };
    let labels = clusters.iter().map(|(at, ids)| (*at, label(ids)));
    let mut labels: Vec<(PlotPoint, String)> = labels.collect();
    let hertz = rows.filter_map(|row| row.cycles_hz(value_of(report.frequency.cycles())));
    let scale = AxisScale::LogCycles(hertz.map(|hertz| 1e9 / hertz).next());
    let across = axis("step in cycles", scale, known.iter().map(|(_, at)| at.0))?;
    let up = axis(
        "cost of a read in cycles",
        scale,
        known.iter().map(|(_, at)| at.1),
    )?;
    let lines = LINE_PERCENTS.into_iter().filter_map(|percent| {
        let (from, to) = line(percent, &across, &up)?;
        labels.push((from, format!("{percent:.0} %")));
        Some(PlotShape::Level(from, to))
    });
    let mut shapes: Vec<PlotShape> = lines.collect();
    shapes.extend(known.iter().map(|(_, at)| PlotShape::Point(*at)));
    let ring_in_words = ring.as_ref().map_or_else(String::new, |_| {
        format!(" Ring: {first}, which is recommended.")
    });
    shapes.extend(ring);
    shapes.extend(labels.into_iter().map(|(at, id)| PlotShape::Label(at, id)));
    let caption = format!(
        "{} by step and by cost of a read, at least one cycle each; lower left is better. Clocks on a line have equal \
         Quality if all their reads cost the same. +1: one more clock at nearly the same point. Labels without room \
         are omitted.{ring_in_words}",
        counted(known.len(), "clock"),
    );
    let shared = clusters.iter().filter(|(_, ids)| ids.len() > 1);
    let shared = shared.map(|(_, ids)| (label(ids), ids.join(", ")));
    Some(Plot {
        size: (760, 470),
        clusters: shared.collect(),
        ..Plot::new("ranking", "All clocks", caption, [across, up], shapes)
    })
}

/// The decimal logarithms of the step and the cost of a clock in cycles, each at least one cycle as
/// in formula (1) of the paper; `None` if one of the two is unknown.
fn position(row: &TimerRow) -> Option<PlotPoint> {
    let step = row
        .resolution
        .filter(|step| step.kind == ResolutionKind::Resolved)?
        .cycles?;
    let cost = row.cost_cycles?.value;
    (step.is_finite() && cost.is_finite()).then(|| (step.max(1.0).log10(), cost.max(1.0).log10()))
}

/// An axis with a margin around all points, at least one decade long.
fn axis(label: &str, scale: AxisScale, values: impl Iterator<Item = f64> + Clone) -> Option<Axis> {
    let (least, most) = (values.clone().reduce(f64::min)?, values.reduce(f64::max)?);
    let (from, to) = ((least - 0.3).floor().max(0.0), (most + 0.3).ceil());
    Some(Axis::new(label, scale, from, to))
}

/// The ends of the line of a Quality; `None` if the line is outside the plot. Along the line the
/// product of step and cost is constant.
fn line(percent: f64, across: &Axis, up: &Axis) -> Option<(PlotPoint, PlotPoint)> {
    // The line is straight only if both exponents are equal.
    const { assert!(RESOLUTION_EXPONENT == COST_EXPONENT) };
    // The decimal logarithm of the product.
    let product = (percent / 100.0).log10() / RESOLUTION_EXPONENT;
    let from = across.from.max(product - up.to);
    let to = across.to.min(product - up.from);
    (from < to).then_some(((from, product - from), (to, product - to)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Cycles;
    use crate::quality::quality;

    #[test]
    fn lines_join_equal_quality() {
        let axis = |label| Axis::new(label, AxisScale::LogCycles(None), 0.0, 6.0);
        for percent in LINE_PERCENTS {
            let (from, to) = line(percent, &axis("step"), &axis("cost")).unwrap();
            for (step, cost) in [from, to].map(|(x, y)| (10_f64.powf(x), 10_f64.powf(y))) {
                let found = quality(Cycles(step), Cycles(cost), 1.0).unwrap();
                assert!(
                    (found - percent / 100.0).abs() < 1e-9,
                    "{percent} %: {found}"
                );
            }
        }
        assert_eq!(
            line(1.0, &axis("step"), &axis("cost")),
            None,
            "outside the plot"
        );
    }
}
