//! Plots all clocks of a report: the cost of a read over the step, with lines of equal Quality.

use super::{Axis, Plot, Point};
use crate::text::numbers::short_time;
use estimators::model::{Report, value_of};
use estimators::quality::{COST_EXPONENT, RESOLUTION_EXPONENT};

/// How far the axes extend beyond the points, as a factor.
const MARGIN: f64 = 1.6;
/// Clocks share a label if their steps and their costs both differ by a smaller factor, about a line of
/// text.
const LABEL_RATIO: f64 = 1.6;
/// The size of the plot for wide pages in pixels.
pub const WIDE: (u32, u32) = (1170, 520);
/// The size of the plot for narrow pages in pixels.
pub const NARROW: (u32, u32) = (430, 560);

/// The plot of a report, in which the recommended clock is marked. `None` if no clock has a step and a
/// cost.
pub fn ranking(report: &Report, size: (u32, u32)) -> Option<Plot> {
    let recommended = report.assessment.recommended();
    // Those of different processors are not compared.
    let of_devices = report.is_of_devices();
    let rows = report.timers.iter();
    let rows = rows.filter(|row| row.device.is_some() == of_devices);
    let mut hertz = rows
        .clone()
        .filter_map(|row| row.cycles_hz(value_of(report.frequency.cycles())));
    // A step and a cost count as at least one cycle, as in formula (1) of the paper.
    let cycle = hertz.next().map_or(0.0, |hertz| 1e9 / hertz);
    let known = rows.filter_map(|row| {
        let at = [row.resolution_ns?, row.cost_ns?].map(|figure| figure.value.max(cycle));
        at.iter().all(|ns| *ns > 0.0).then_some((&*row.id, at))
    });
    let mut known: Vec<(&str, Point)> = known.collect();
    known.sort_by_key(|(id, _)| Some(*id) != recommended);
    let axis = |label, index: usize| {
        let values = || known.iter().map(|(_, at)| at[index]);
        let (least, most) = (values().reduce(f64::min)?, values().reduce(f64::max)?);
        // Together at least a decade.
        let margin = (10.0 * least / most).sqrt().max(MARGIN);
        Some(Axis {
            is_log: true,
            ..Axis::new(label, short_time, [least / margin, most * margin])
        })
    };
    let axes = [axis("resolution", 0)?, axis("cost of a read", 1)?];
    let mut plot = Plot::new("All clocks", size, axes)?;
    let lines = (10..100).step_by(10).filter_map(|percent| {
        let ends = line(percent.into(), cycle, &plot.axes)?;
        Some((format!("Quality {percent} %"), ends))
    });
    let lines: Vec<(String, [Point; 2])> = lines.collect();
    for (_, ends) in &lines {
        plot.line("level", *ends);
    }
    plot.points(known.iter().map(|(_, at)| *at));
    if let Some((_, at)) = known.first().filter(|(id, _)| Some(*id) == recommended) {
        plot.ring(*at);
    }
    // The clocks at nearly the same point, the first of which is labelled.
    let mut clusters: Vec<(Point, Vec<&str>)> = Vec::new();
    for (id, at) in known {
        let is_near = |(other, _): &&mut (Point, _)| {
            let ratios = [at[0] / other[0], at[1] / other[1]];
            ratios
                .iter()
                .all(|ratio| ratio.ln().abs() < LABEL_RATIO.ln())
        };
        match clusters.iter_mut().find(is_near) {
            Some((_, ids)) => ids.push(id),
            None => clusters.push((at, vec![id])),
        }
    }
    for (at, ids) in clusters {
        let others = ids.len() - 1;
        let label = match others {
            0 => ids[0].to_owned(),
            _ => format!("{} +{others}", ids[0]),
        };
        plot.label(at, label.clone());
        plot.shared
            .extend((others > 0).then(|| (label, ids.join(", "))));
    }
    for (label, ends) in lines {
        plot.label_line(ends, label);
        plot.caption = "Lines: equal Quality, if all reads of a clock cost the same.".to_owned();
    }
    Some(plot)
}

/// The ends of the line of a Quality between axes on which a cycle is `cycle` long; `None` if the line is
/// outside, or if that is unknown. Along the line the product of step and cost is constant.
fn line(percent: f64, cycle: f64, axes: &[Axis; 2]) -> Option<[Point; 2]> {
    // The line is straight only if both exponents are equal.
    const { assert!(RESOLUTION_EXPONENT == COST_EXPONENT) };
    let product = (percent / 100.0).powf(1.0 / RESOLUTION_EXPONENT) * cycle * cycle;
    let [[first, last], [low, high]] = axes.each_ref().map(|axis| axis.ends);
    let (from, to) = (first.max(product / high), last.min(product / low));
    (from < to).then(|| [from, to].map(|step| [step, product / step]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use estimators::model::Cycles;
    use estimators::quality::quality;

    #[test]
    fn lines_join_equal_quality() {
        let axis = || Axis::new("", short_time, [0.5, 5e5]);
        for percent in [10.0, 30.0, 90.0] {
            let ends = line(percent, 0.5, &[axis(), axis()]).unwrap();
            for [step, cost] in ends.map(|end| end.map(|ns| Cycles(ns / 0.5))) {
                let found = quality(step, cost, 1.0).unwrap();
                assert!(
                    (found - percent / 100.0).abs() < 1e-9,
                    "{percent} %: {found}"
                );
            }
        }
        assert_eq!(line(1.0, 0.5, &[axis(), axis()]), None, "outside the plot");
    }
}
