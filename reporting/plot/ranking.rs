//! Plots all clocks of a report: the cost of a read over the step, with lines of equal Quality.

use super::{Axis, Canvas, Plot, Point, number};
use crate::model::{Report, ResolutionKind, TimerRow, value_of};
use crate::quality::{COST_EXPONENT, RESOLUTION_EXPONENT};
use crate::text::numbers::short_time;

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
/// cost in cycles.
pub fn ranking(report: &Report, size: (u32, u32)) -> Option<Plot> {
    let recommended = report.assessment.recommended();
    // Cycles of different processors are not compared.
    let of_devices = report.is_of_devices();
    let rows = report
        .timers
        .iter()
        .filter(|row| row.device.is_some() == of_devices);
    let mut hertz = rows
        .clone()
        .filter_map(|row| row.cycles_hz(value_of(report.frequency.cycles())));
    // The axes are in time if the time of a cycle is known.
    let cycle_ns = hertz.next().map(|hertz| 1e9 / hertz);
    let cycle = cycle_ns.unwrap_or(1.0);
    let known = rows.filter_map(|row| Some((&*row.id, cycles(row)?.map(|cycles| cycles * cycle))));
    let mut known: Vec<(&str, Point)> = known.collect();
    known.sort_by_key(|(id, _)| Some(*id) != recommended);
    let places: Vec<Point> = known.iter().map(|(_, at)| *at).collect();
    let (write, [step, cost]): (fn(f64) -> String, _) = match cycle_ns {
        Some(_) => (short_time, ["step", "cost of a read"]),
        None => (number, ["step in cycles", "cost of a read in cycles"]),
    };
    let axis = |label, index: usize| {
        let values = || places.iter().map(|at| at[index]);
        let (least, most) = (values().reduce(f64::min)?, values().reduce(f64::max)?);
        // Together at least a decade.
        let margin = (10.0 * least / most).sqrt().max(MARGIN);
        Some(Axis {
            label,
            write,
            from: least / margin,
            to: most * margin,
            is_log: true,
        })
    };
    let mut canvas = Canvas::new(size, [axis(step, 0)?, axis(cost, 1)?])?;
    let percents = (10..100).step_by(10);
    let lines =
        percents.filter_map(|percent| Some((percent, line(percent.into(), cycle, &canvas.axes)?)));
    let lines: Vec<(i32, [Point; 2])> = lines.collect();
    for (_, [from, to]) in &lines {
        canvas.line("level", *from, *to);
    }
    canvas.points(&places);
    if Some(known[0].0) == recommended {
        canvas.ring(places[0]);
    }
    // The clocks at nearly the same point, the first of which is labelled.
    let mut clusters: Vec<(Point, Vec<&str>)> = Vec::new();
    for (id, at) in known {
        let is_near = |(other, _): &&mut (Point, _)| {
            let [step, cost] = [0, 1].map(|index| (at[index] / other[index]).ln().abs());
            step.max(cost) < LABEL_RATIO.ln()
        };
        match clusters.iter_mut().find(is_near) {
            Some((_, ids)) => ids.push(id),
            None => clusters.push((at, vec![id])),
        }
    }
    let mut shared = Vec::new();
    for (at, ids) in clusters {
        let mut label = ids[0].to_owned();
        if ids.len() > 1 {
            label += &format!(" +{}", ids.len() - 1);
            shared.push((label.clone(), ids.join(", ")));
        }
        canvas.label(at, &label);
    }
    for (percent, line) in lines {
        canvas.label_line(line, &format!("Quality {percent} %"));
    }
    let caption = "Lines: equal Quality, if all reads of a clock cost the same.";
    Some(Plot {
        shared,
        ..canvas.finish("All clocks", caption.to_owned())
    })
}

/// The step and the cost of a clock in cycles, each at least one cycle as in formula (1) of the paper;
/// `None` if one of the two is unknown.
fn cycles(row: &TimerRow) -> Option<Point> {
    let step = row
        .resolution
        .filter(|step| step.kind == ResolutionKind::Resolved)?;
    let found = [step.cycles?, row.cost_cycles?.value];
    found
        .iter()
        .all(|cycles| cycles.is_finite())
        .then(|| found.map(|cycles| cycles.max(1.0)))
}

/// The ends of the line of a Quality between axes on which a cycle is `cycle` long; `None` if the line is
/// outside. Along the line the product of step and cost is constant.
fn line(percent: f64, cycle: f64, [across, up]: &[Axis; 2]) -> Option<[Point; 2]> {
    // The line is straight only if both exponents are equal.
    const { assert!(RESOLUTION_EXPONENT == COST_EXPONENT) };
    let product = (percent / 100.0).powf(1.0 / RESOLUTION_EXPONENT) * cycle * cycle;
    let (from, to) = (
        across.from.max(product / up.to),
        across.to.min(product / up.from),
    );
    (from < to).then(|| [from, to].map(|step| [step, product / step]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Cycles;
    use crate::quality::quality;

    #[test]
    fn lines_join_equal_quality() {
        let axis = || Axis {
            label: "",
            write: number,
            from: 0.5,
            to: 5e5,
            is_log: true,
        };
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
