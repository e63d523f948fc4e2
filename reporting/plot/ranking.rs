//! Plots all clocks of a report: the cost of a read over the step, with lines of equal Quality.

use super::{Axis, AxisScale, Plot, PlotPoint, PlotShape};
use crate::model::{Report, ResolutionKind, TimerRow};
use crate::quality::{COST_EXPONENT, RESOLUTION_EXPONENT};

/// The Qualities for which lines are drawn, in percent. They hold for clocks whose reads all have
/// the same cost.
const LINE_PERCENTS: [f64; 8] = [10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0, 75.0];
/// Clocks share a label if the decimal logarithms of their steps and of their costs both differ by
/// less than this.
const MIN_LABEL_DISTANCE: f64 = 0.1;

/// The plot of a report, in which the clock of the id `recommended` is marked; `None` if no clock
/// has a step and a cost in cycles.
pub fn ranking(report: &Report, recommended: Option<&str>) -> Option<Plot> {
    // Cycles of different processors are not compared.
    let of_devices = report.is_of_devices();
    let mut known: Vec<(&str, PlotPoint)> = report
        .timers
        .iter()
        .filter(|row| row.device.is_some() == of_devices)
        .filter_map(|row| Some((row.id.as_str(), position(row)?)))
        .collect();
    known.sort_by_key(|(id, _)| Some(*id) != recommended);
    let mut labels: Vec<(PlotPoint, String)> = Vec::new();
    let mut points = Vec::new();
    let ring = known
        .first()
        .filter(|(id, _)| Some(*id) == recommended)
        .map(|(id, at)| {
            labels.push((*at, (*id).to_owned()));
            PlotShape::Ring(*at)
        });
    for (id, at) in known {
        points.push(at);
        let is_near = |other: &PlotPoint| {
            (other.0 - at.0).abs() < MIN_LABEL_DISTANCE
                && (other.1 - at.1).abs() < MIN_LABEL_DISTANCE
        };
        if !labels.iter().any(|(other, _)| is_near(other)) {
            labels.push((at, id.to_owned()));
        }
    }
    let across = axis("step (cycles)", points.iter().map(|at| at.0))?;
    let up = axis("cost of a read (cycles)", points.iter().map(|at| at.1))?;
    let lines = LINE_PERCENTS.into_iter().filter_map(|percent| {
        let (from, to) = line(percent, &across, &up)?;
        labels.push((from, format!("{percent:.0} %")));
        Some(PlotShape::Level(from, to))
    });
    let mut shapes: Vec<PlotShape> = lines.collect();
    let has_ring = ring.is_some();
    shapes.extend(points.iter().copied().map(PlotShape::Point));
    shapes.extend(ring);
    shapes.extend(labels.into_iter().map(|(at, id)| PlotShape::Label(at, id)));
    let caption = format!(
        "{} clocks by their step and by the cost of a read; lower left is better. Lines join equal Quality of \
         clocks whose reads all cost the same. Of clocks at nearly the same point only one is labelled.{}",
        points.len(),
        match recommended.filter(|_| has_ring) {
            Some(id) => format!(" Ring: {id}, which is recommended."),
            None => String::new(),
        }
    );
    Some(Plot {
        size: (760, 470),
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
fn axis(label: &str, values: impl Iterator<Item = f64> + Clone) -> Option<Axis> {
    let (least, most) = (values.clone().reduce(f64::min)?, values.reduce(f64::max)?);
    let (from, to) = ((least - 0.3).floor().max(0.0), (most + 0.3).ceil());
    Some(Axis::new(label, AxisScale::LogNumber, from, to))
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
        let axis = |label| Axis::new(label, AxisScale::LogNumber, 0.0, 6.0);
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
