//! A figure of what was measured: the mean time a call against the size, a curve an operation and way, as SVG.

use std::ops::Range;

use plotters::backend::SVGBackend;
use plotters::chart::ChartBuilder;
use plotters::coord::combinators::{BindKeyPoints, IntoLogRange};
use plotters::drawing::{DrawingAreaErrorKind, IntoDrawingArea};
use plotters::element::{Circle, PathElement, Text};
use plotters::prelude::DrawingBackend;
use plotters::style::{BLACK, Color, IntoFont, RGBColor};

use crate::commands::measurement::{Measurement, MeasurementOutcome};
use crate::report::plot::svg::standalone;
use crate::text::clipped;
use crate::text::numbers::{count, time, trimmed};

/// Colours that most eyes tell apart, and that differ in grey (Okabe and Ito, *Color Universal Design*).
const COLOURS: [RGBColor; 7] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0x00, 0x00, 0x00),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0x56, 0xb4, 0xe9),
    RGBColor(0xe6, 0x9f, 0x00),
];
const CHART: u32 = 600;
/// Beside the chart, so that no curve lies behind it.
const LEGEND: u32 = 240;
const LEAST_HEIGHT: u32 = 400;
const ROW: u32 = 22;
const FONT: (&str, u32) = ("sans-serif", 16);

/// One operation, measured in one way.
#[derive(Debug, Default)]
struct Curve {
    name: String,
    points: Vec<Point>,
}

#[derive(Clone, Copy, Debug)]
struct Point {
    size: f64,
    mean: f64,
    low: f64,
    high: f64,
}

type Error<'a> = DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>;

/// The figure, both axes logarithmic, with the interval of each mean, for what was measured by `clock` on `machine`. `None` where
/// nothing with a size could be measured.
///
/// # Errors
/// Says what the drawing library says.
pub(super) fn svg(
    measurements: &[Measurement],
    clock: &str,
    machine: &str,
) -> Result<Option<String>, String> {
    let curves = curves(measurements);
    if curves.is_empty() {
        return Ok(None);
    }
    let mut text = String::new();
    draw(&curves, &mut text).map_err(|error| format!("the plot cannot be drawn: {error}"))?;
    Ok(Some(standalone(&text, &format!("Mean time a call over size, by {clock} on {machine}"))))
}

fn curves(measurements: &[Measurement]) -> Vec<Curve> {
    let mut curves: Vec<Curve> = Vec::new();
    for Measurement { operation, size, outcome, .. } in measurements {
        let (Some(size), MeasurementOutcome::Measured(row)) = (size, outcome) else { continue };
        let name = clipped(&format!("{operation}, {}", row.way), 30);
        let summary = &row.summary;
        // Nothing takes no time, and a logarithm needs some.
        let above = |ns: f64| ns.max(1e-3);
        let (mean, high) = (above(summary.mean_ns), above(summary.high_ns));
        let point = Point { size: *size as f64, mean, low: summary.low_ns, high };
        match curves.iter_mut().find(|curve| curve.name == name) {
            Some(curve) => curve.points.push(point),
            None => curves.push(Curve { name, points: vec![point] }),
        }
    }
    curves.iter_mut().for_each(|curve| curve.points.sort_by(|a, b| a.size.total_cmp(&b.size)));
    curves
}

/// How curves of one colour are told apart.
#[derive(Clone, Copy)]
enum Mark {
    Full,
    Hollow,
    Small,
}

impl Mark {
    fn of(row: usize) -> Self {
        [Self::Full, Self::Hollow, Self::Small][row / COLOURS.len() % 3]
    }

    fn at<C>(self, place: C, colour: RGBColor) -> Circle<C, u32> {
        match self {
            Self::Full => Circle::new(place, 3, colour.filled()),
            Self::Hollow => Circle::new(place, 4, colour.stroke_width(1)),
            Self::Small => Circle::new(place, 1, colour.filled()),
        }
    }
}

/// From the least to the greatest, and a little more.
fn range(values: impl Iterator<Item = f64> + Clone) -> Range<f64> {
    const MARGIN: f64 = 1.3;
    let least = values.clone().fold(f64::INFINITY, f64::min);
    least / MARGIN..values.fold(0.0, f64::max) * MARGIN
}

/// What is written along an axis: few round numbers, however many powers of ten it covers.
fn labels(axis: &Range<f64>) -> Vec<f64> {
    const ENOUGH: usize = 4;
    const FINER: [&[f64]; 3] =
        [&[1.0], &[1.0, 2.0, 5.0], &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]];
    let powers = axis.start.log10().floor() as i32..=axis.end.log10().ceil() as i32;
    let within = |digits: &[f64]| -> Vec<f64> {
        let of = |power: i32| digits.iter().map(move |digit| digit * 10_f64.powi(power));
        powers.clone().flat_map(of).filter(|number| axis.contains(number)).collect()
    };
    let found = FINER.iter().map(|digits| within(digits)).find(|numbers| numbers.len() >= ENOUGH);
    // A single size, or times that hardly differ: the ends will do.
    let numbers = found.unwrap_or_else(|| vec![axis.start, (axis.start * axis.end).sqrt(), axis.end]);
    numbers.iter().copied().step_by(numbers.len().div_ceil(2 * ENOUGH)).collect()
}

fn draw<'a>(curves: &[Curve], text: &'a mut String) -> Result<(), Error<'a>> {
    let height = LEAST_HEIGHT.max(ROW * (curves.len() as u32 + 1));
    let area = SVGBackend::with_string(text, (CHART + LEGEND, height)).into_drawing_area();
    let (left, legend) = area.split_horizontally(CHART);
    let points = curves.iter().flat_map(|curve| &curve.points);
    let across = range(points.clone().map(|point| point.size));
    // The end of an interval that reaches towards nothing is cut off.
    let up = range(points.flat_map(|point| [point.mean, point.high, point.low.max(point.mean / 4.0)]));
    let bottom = up.start;
    let (sizes, times) = (labels(&across), labels(&up));
    let mut chart = ChartBuilder::on(&left)
        .margin(8)
        .margin_right(18)
        .x_label_area_size(48)
        .y_label_area_size(82)
        .build_cartesian_2d(
            across.log_scale().with_key_points(sizes),
            up.log_scale().with_key_points(times),
        )?;
    chart
        .configure_mesh()
        .disable_mesh()
        .x_desc("size")
        .y_desc("mean time a call")
        .x_label_formatter(&|size| trimmed(&count(Some(*size))))
        .y_label_formatter(&|ns| trimmed(&time(Some(*ns))))
        .axis_style(BLACK)
        .label_style(FONT.into_font())
        .axis_desc_style(FONT.into_font())
        .draw()?;
    for (row, (curve, &colour)) in curves.iter().zip(COLOURS.iter().cycle()).enumerate() {
        let style = colour.stroke_width(2);
        let mark = Mark::of(row);
        let line = PathElement::new(
            curve.points.iter().map(|point| (point.size, point.mean)).collect::<Vec<_>>(),
            style,
        );
        let ranges = curve.points.iter().map(|point| {
            PathElement::new(vec![(point.size, point.low.max(bottom)), (point.size, point.high)], style)
        });
        chart.draw_series(std::iter::once(line).chain(ranges))?;
        let places = curve.points.iter().map(|point| mark.at((point.size, point.mean), colour));
        chart.draw_series(places)?;
        let at = (ROW * (row as u32 + 1)) as i32;
        legend.draw(&PathElement::new(vec![(4, at), (24, at)], style))?;
        legend.draw(&mark.at((14, at), colour))?;
        legend.draw(&Text::new(curve.name.as_str(), (32, at - 8), FONT.into_font()))?;
    }
    area.present()
}

#[cfg(test)]
mod tests {
    use super::labels;

    #[test]
    fn an_axis_has_more_than_one_label_and_not_too_many() {
        for (from, to) in [(77.0, 1.3e6), (1e-3, 1e9), (900.0, 1100.0), (10.2, 10.4), (0.9, 30.0)] {
            let found = labels(&(from..to));
            assert!((2..=8).contains(&found.len()), "{from} to {to}: {found:?}");
            assert!(found.iter().all(|number| (from..=to).contains(number)), "{from} to {to}: {found:?}");
        }
        assert_eq!(labels(&(90.0..1.1e6)), [100.0, 1e3, 1e4, 1e5, 1e6]);
    }
}
