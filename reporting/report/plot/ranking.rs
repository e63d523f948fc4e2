//! All timers of a report at a glance: what a read costs over the step, both in cycles and in time,
//! with lines of equal Quality.

use std::ops::Range;

use plotters::backend::SVGBackend;
use plotters::chart::ChartBuilder;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{Circle, EmptyElement, PathElement, Text};
use plotters::prelude::IntoLogRange;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, IntoFont, TextStyle};

use super::svg::{DATA, DrawError, Error, FONT, INK, LEVEL};
use crate::model::{Report, ResolutionKind, TimerRow};
use crate::quality::{COST_EXPONENT, RESOLUTION_EXPONENT};
use crate::text::clipped;
use crate::text::numbers::{count, short_time, trimmed};

/// The name of the figure, as in file names.
const NAME: &str = "ranking";
/// Its width and height, in pixels.
pub const SIZE: (u32, u32) = (760, 470);
const FONT_SIZE: u32 = 15;
/// The Qualities whose lines are drawn, in percent: those of timers whose single calls all cost the
/// same.
const LINES: [f64; 8] = [10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0, 75.0];
/// Timers whose steps and whose costs differ by less than this factor share a mark.
const ONE_MARK: f64 = 1.25;
/// Pixels between a mark or a line and what is written beside it.
const BESIDE: i32 = 8;
const LONGEST_ID: usize = 24;

/// Timers that lie at one place, the best first.
#[derive(Clone, Debug, PartialEq)]
struct Mark {
    resolution: f64,
    cost: f64,
    ids: Vec<String>,
}

impl Mark {
    /// The best of them, and how many more there are.
    fn label(&self) -> String {
        match self.ids.as_slice() {
            [only] => only.clone(),
            [first, others @ ..] => format!("{first} +{}", others.len()),
            [] => String::new(),
        }
    }
}

/// The figure of a report.
#[derive(Clone, Debug)]
pub struct Ranking {
    /// A document of its own.
    pub svg: String,
    /// What is to be seen on it, for those who look and for those who cannot.
    pub caption: String,
}

/// Frequencies of a core, in hertz.
/// *Definition*: far beyond any that there is, at both ends.
const CORES_HZ: Range<f64> = 1e3..1e15;

/// The figure of a report. `None` where no timer has a resolution and a cost in cycles.
///
/// # Errors
/// Where its numbers are beyond what can be drawn.
pub fn ranking(report: &Report) -> Result<Option<Ranking>, DrawError> {
    let marks = marks(&report.timers);
    if marks.is_empty() {
        return Ok(None);
    }
    let mut svg = String::new();
    // Axes in time are left out where a cycle takes what none does: their ticks are counted in
    // factors of ten, from a number that must not be 0.
    let ns_per_cycle = report
        .frequency
        .cycles_hz
        .map(|hz| hz.value)
        .filter(|hz| CORES_HZ.contains(hz))
        .map(|hz| 1e9 / hz);
    let drawn = draw(
        &marks,
        ns_per_cycle,
        &SVGBackend::with_string(&mut svg, SIZE).into_drawing_area(),
    );
    let unnamed = drawn.map_err(|error| DrawError {
        figure: NAME,
        reason: error.to_string(),
    })?;
    let timers: usize = marks.iter().map(|mark| mark.ids.len()).sum();
    let unnamed = match unnamed {
        0 => String::new(),
        1 => " There is no room for the name of one mark.".to_owned(),
        many => format!(" There is no room for the names of {many} marks."),
    };
    let caption = format!(
        "{timers} timers by their step and by the cost of a read. Lines join equal Quality of timers whose calls all cost the same; \
         lower left is better. A mark may stand for several timers: it bears the name of the best.{unnamed}"
    );
    Ok(Some(Ranking { svg, caption }))
}

fn marks(timers: &[TimerRow]) -> Vec<Mark> {
    let mut marks: Vec<Mark> = Vec::new();
    for row in timers {
        let step = row
            .resolution
            .filter(|step| step.kind == ResolutionKind::Resolved);
        let pair = step
            .and_then(|step| step.cycles)
            .zip(row.cost.as_ref().and_then(|cost| cost.median_cycles));
        // Formula (1) takes less than a cycle for one.
        let Some((resolution, cost)) =
            pair.map(|(resolution, cost)| (resolution.max(1.0), cost.max(1.0)))
        else {
            continue;
        };
        if !(resolution.is_finite() && cost.is_finite()) {
            continue;
        }
        let near = |a: f64, b: f64| a < ONE_MARK * b && b < ONE_MARK * a;
        let id = clipped(&row.id, LONGEST_ID);
        match marks
            .iter_mut()
            .find(|mark| near(mark.resolution, resolution) && near(mark.cost, cost))
        {
            Some(mark) => mark.ids.push(id),
            None => marks.push(Mark {
                resolution,
                cost,
                ids: vec![id],
            }),
        }
    }
    marks
}

/// With room around all figures, so that marks stand as far apart as they can, and with a power of
/// ten to be told by.
fn range(figures: impl Iterator<Item = f64> + Clone) -> Range<f64> {
    const AROUND: f64 = 2.0;
    let (least, most) = (
        figures.clone().fold(f64::INFINITY, f64::min),
        figures.fold(1.0, f64::max),
    );
    let (from, to) = (
        (least / AROUND).clamp(1.0, 1e300),
        (most * AROUND).clamp(10.0, 1e301),
    );
    if from.log10().ceil() < to.log10().floor() {
        from..to
    } else {
        10_f64.powf(from.log10().floor())..to.max(20.0 * from)
    }
}

/// Returns how many marks have no name, as there is no room for it.
fn draw<'a>(
    marks: &[Mark],
    ns_per_cycle: Option<f64>,
    area: &DrawingArea<SVGBackend<'a>, Shift>,
) -> Result<usize, Error<'a>> {
    let across = range(marks.iter().map(|mark| mark.resolution));
    let up = range(marks.iter().map(|mark| mark.cost));
    let second = |along: &Range<f64>| scaled(along, ns_per_cycle).log_scale();
    let mut chart = ChartBuilder::on(area)
        .margin(8)
        .margin_right(14)
        .x_label_area_size(46)
        .y_label_area_size(62)
        .top_x_label_area_size(if ns_per_cycle.is_some() { 40 } else { 0 })
        .right_y_label_area_size(if ns_per_cycle.is_some() { 66 } else { 20 })
        .build_cartesian_2d(across.clone().log_scale(), up.clone().log_scale())?
        .set_secondary_coord(second(&across), second(&up));
    let small = |colour: &'static plotters::style::RGBColor| {
        (FONT, FONT_SIZE - 2).into_font().color(colour)
    };
    for percent in LINES {
        let Some([from, to]) = line(percent, &across, &up) else {
            continue;
        };
        chart.draw_series([PathElement::new(vec![from, to], LEVEL.stroke_width(1))])?;
        let style: TextStyle = small(&LEVEL).pos(Pos::new(HPos::Left, VPos::Bottom));
        let end = EmptyElement::at(to)
            + Text::new(format!("{percent:.0} %"), (2 - BESIDE, -BESIDE), style);
        chart.draw_series([end])?;
    }
    chart
        .configure_mesh()
        .disable_mesh()
        .x_desc("step (CPU cycles)")
        .y_desc("cost of a read (CPU cycles)")
        .x_label_formatter(&|at| trimmed(&count(Some(*at))))
        .y_label_formatter(&|at| trimmed(&count(Some(*at))))
        .axis_style(INK)
        .label_style((FONT, FONT_SIZE).into_font().color(&INK))
        .axis_desc_style((FONT, FONT_SIZE).into_font().color(&INK))
        .draw()?;
    if ns_per_cycle.is_some() {
        chart
            .configure_secondary_axes()
            .x_desc("step")
            .y_desc("cost of a read")
            .x_label_formatter(&|ns| short_time(*ns))
            .y_label_formatter(&|ns| short_time(*ns))
            .axis_style(INK)
            .label_style((FONT, FONT_SIZE).into_font().color(&INK))
            .axis_desc_style((FONT, FONT_SIZE).into_font().color(&INK))
            .draw()?;
    }
    let places: Vec<(i32, i32)> = marks
        .iter()
        .map(|mark| chart.backend_coord(&(mark.resolution, mark.cost)))
        .collect();
    let mut labels = Labels::around(&places, chart.plotting_area().get_pixel_range().0);
    let mut unnamed = 0;
    for (mark, at) in marks.iter().zip(&places) {
        let place = (mark.resolution, mark.cost);
        chart.draw_series([EmptyElement::at(place) + Circle::new((0, 0), 4, DATA.filled())])?;
        let Some((side, beside, down)) = labels.place(*at, mark.label().chars().count()) else {
            unnamed += 1;
            continue;
        };
        let style: TextStyle = small(&INK).pos(Pos::new(side, VPos::Center));
        chart.draw_series([
            EmptyElement::at(place) + Text::new(mark.label(), (beside, down), style)
        ])?;
    }
    area.present()?;
    Ok(unnamed)
}

/// Where labels may stand without covering each other or a mark: left, right, top and bottom, in
/// pixels.
struct Labels {
    taken: Vec<[i32; 4]>,
    /// From the axis on the left to that on the right.
    across: Range<i32>,
}

impl Labels {
    fn around(marks: &[(i32, i32)], across: Range<i32>) -> Self {
        const RADIUS: i32 = 4;
        let taken = marks
            .iter()
            .map(|(x, y)| [x - RADIUS, x + RADIUS, y - RADIUS, y + RADIUS]);
        Self {
            taken: taken.collect(),
            across,
        }
    }

    /// Beside a mark, on the right of it if that is free, else where it is; how far off, to the
    /// side and down. `None` where it would cover another one or a mark.
    fn place(&mut self, (x, y): (i32, i32), characters: usize) -> Option<(HPos, i32, i32)> {
        /// Of letters of this size, generously, and of a line.
        const LETTER: i32 = 7;
        const LINE: i32 = 13;
        let width = LETTER * characters as i32;
        let boxed = |right: bool, down: i32| {
            let from = if right {
                x + BESIDE
            } else {
                x - BESIDE - width
            };
            [from, from + width, y + down - LINE / 2, y + down + LINE / 2]
        };
        let is_free = |[left, right, top, bottom]: [i32; 4]| {
            left > self.across.start
                && right < self.across.end
                && self.taken.iter().all(|taken| {
                    right <= taken[0] || left >= taken[1] || bottom <= taken[2] || top >= taken[3]
                })
        };
        let mut places = [0, -9, 9, -16, 16]
            .into_iter()
            .flat_map(|down| [(true, down), (false, down)]);
        let (right, down) = places.find(|(right, down)| is_free(boxed(*right, *down)))?;
        self.taken.push(boxed(right, down));
        Some(if right {
            (HPos::Left, BESIDE, down)
        } else {
            (HPos::Right, -BESIDE, down)
        })
    }
}

/// A range of cycles in nanoseconds.
fn scaled(cycles: &Range<f64>, ns_per_cycle: Option<f64>) -> Range<f64> {
    let ns = ns_per_cycle.unwrap_or(1.0);
    cycles.start * ns..cycles.end * ns
}

/// Where the line of a Quality enters and leaves the figure: the product of resolution and cost is
/// the same on all of it.
fn line(percent: f64, across: &Range<f64>, up: &Range<f64>) -> Option<[(f64, f64); 2]> {
    // Both exponents are the same, or it were no straight line.
    const { assert!(RESOLUTION_EXPONENT == COST_EXPONENT) };
    let product = (percent / 100.0).powf(1.0 / RESOLUTION_EXPONENT);
    let from = across.start.max(product / up.end);
    let to = across.end.min(product / up.start);
    (from < to).then(|| [(from, product / from), (to, product / to)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Cycles;
    use crate::quality::quality;

    #[test]
    fn lines_join_equal_quality() {
        let (across, up) = (1.0..1e6, 1.0..1e6);
        for percent in LINES {
            for (resolution, cost) in line(percent, &across, &up).unwrap() {
                let found = quality(Cycles(resolution), Cycles(cost), 1.0).unwrap();
                assert!(
                    (found - percent / 100.0).abs() < 1e-9,
                    "{percent} % at {resolution}, {cost}: {found}"
                );
            }
        }
        assert_eq!(line(1.0, &across, &up), None, "beyond the figure");
    }

    #[test]
    fn labels_stand_apart() {
        let marks = [(100, 100), (100, 112), (130, 100)];
        let mut labels = Labels::around(&marks, 0..400);
        let beside = marks.map(|at| labels.place(at, 10).map(|(_, beside, _)| beside));
        assert!(
            beside[0] < Some(0),
            "on the right stands another mark: {beside:?}"
        );
        assert!(beside.iter().all(Option::is_some), "{beside:?}");
        assert!(
            labels.place((105, 105), 60).is_none(),
            "wherever it stood it would cover something"
        );
        assert_eq!(labels.taken.len(), 6);
        assert_eq!(labels.taken.len(), 6);
        for (at, one) in labels.taken.iter().enumerate().skip(3) {
            let covers = |other: &[i32; 4]| {
                one[0] < other[1] && other[0] < one[1] && one[2] < other[3] && other[2] < one[3]
            };
            assert!(!labels.taken[..at].iter().any(covers), "{:?}", labels.taken);
        }
    }

    #[test]
    fn timers_at_one_place_share_a_mark() {
        let mark = |ids: &[&str]| Mark {
            resolution: 1.0,
            cost: 1.0,
            ids: ids.iter().map(|id| (*id).to_owned()).collect(),
        };
        assert_eq!(mark(&["a"]).label(), "a");
        assert_eq!(mark(&["a", "b", "c", "d"]).label(), "a +3");
    }
}
