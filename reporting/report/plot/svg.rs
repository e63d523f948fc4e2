//! A figure as SVG: dark marks on no background, to be read in grey. Each role has a colour of its
//! own, by which a page finds it and gives it the one of its scheme.

use plotters::backend::SVGBackend;
use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use plotters::element::{Circle, PathElement, Rectangle};
use plotters::prelude::Cartesian2d;
use plotters::style::{Color, IntoFont, RGBColor, ShapeStyle};

use super::{Axis, Data, Plot, Scale};
use crate::table::escape_html;
use crate::text::numbers::{significant, time, trimmed};
use crate::text::{plain, wrap};

/// Points, and bars. The page knows these colours (`templates/page.css`).
pub(super) const DATA: RGBColor = RGBColor(0x1b, 0x4f, 0x8a);
/// Multiples of the step.
pub(super) const LEVEL: RGBColor = RGBColor(0x9a, 0x9a, 0x9a);
/// Within one resolution of the median.
const BAND: RGBColor = RGBColor(0xe3, 0xe3, 0xe3);
/// The median.
const MEDIAN: RGBColor = RGBColor(0xb4, 0x2b, 0x1e);
/// Text and axes.
pub(super) const INK: RGBColor = RGBColor(0, 0, 0);

const SIZE: (u32, u32) = (480, 290);
pub(super) const FONT: &str = "sans-serif";
const FONT_SIZE: u32 = 16;
/// Of a title: pixels of a line, and of a letter, generously.
const LINE: u32 = 18;
const LETTER: u32 = 7;

pub(super) type Error<'a> =
    DrawingAreaErrorKind<<SVGBackend<'a> as plotters::prelude::DrawingBackend>::ErrorType>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// The figure could not be drawn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the figure '{figure}' cannot be drawn: {reason}; the report may hold absurd numbers")]
pub struct DrawError {
    /// Its name.
    pub figure: &'static str,
    /// What the drawing library said.
    pub reason: String,
}

impl Plot {
    /// The figure as a document of its own.
    ///
    /// # Errors
    /// Where its numbers are beyond what can be drawn.
    pub fn svg(&self) -> Result<String, DrawError> {
        let mut text = String::new();
        let drawn = draw(
            self,
            &SVGBackend::with_string(&mut text, SIZE).into_drawing_area(),
        );
        drawn.map_err(|error| DrawError {
            figure: self.name,
            reason: error.to_string(),
        })?;
        Ok(text)
    }

    /// The marks of the figure, to be put into an `svg` element with the view box `0 0 480 290`.
    ///
    /// # Errors
    /// As [`svg`](Self::svg).
    pub fn svg_marks(&self) -> Result<String, DrawError> {
        Ok(marks(&self.svg()?))
    }
}

/// Text stands on what would cross it; and the colours of a dark screen, by role, as
/// `templates/page.css` has them.
const SCHEMES: &str = "<style>text{paint-order:stroke;stroke:#fff;stroke-width:3px;stroke-linejoin:round}\
    @media (prefers-color-scheme:dark){[fill=\"#FFFFFF\"]{fill:#11161b}text{fill:#e5ebf0;stroke:#11161b}\
    [fill=\"#1B4F8A\"]{fill:#86b9f2}[stroke=\"#1B4F8A\"]{stroke:#86b9f2}[stroke=\"#000000\"]{stroke:#9daab6}\
    [stroke=\"#9A9A9A\"]{stroke:#55616d}text[fill=\"#9A9A9A\"]{fill:#9daab6}[fill=\"#E3E3E3\"]{fill:#26384b}\
    [fill=\"#B42B1E\"]{fill:#ff8a7a}[stroke=\"#B42B1E\"]{stroke:#ff8a7a}}</style>";

/// A whole document on white paper, or dark where the screen is, with its title above it: what a
/// file of its own needs, and a page has already. One of which no size is told is left as it is.
#[must_use]
pub fn standalone(whole: &str, title: &str) -> String {
    let title = plain(title);
    let Some((width, height)) = size(whole) else {
        return whole.to_owned();
    };
    let lines = wrap(&title, (width / LETTER) as usize);
    let above = LINE * lines.len() as u32 + LINE / 2;
    let told = lines.iter().enumerate().map(|(at, line)| {
        let (y, line) = (LINE * (at as u32 + 1), escape_html(line));
        format!("<text x=\"8\" y=\"{y}\" font-family=\"{FONT}\" font-size=\"13\">{line}</text>")
    });
    let (told, down, title) = (
        told.collect::<String>(),
        height + above,
        escape_html(&title),
    );
    format!(
        "<svg width=\"{width}\" height=\"{down}\" viewBox=\"0 0 {width} {down}\" xmlns=\"http://www.w3.org/2000/svg\">\
         <title>{title}</title>{SCHEMES}<rect width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/>{told}\
         <g transform=\"translate(0,{above})\">{}</g></svg>\n",
        inside(whole).unwrap_or_default()
    )
}

/// Width and height of a document.
fn size(whole: &str) -> Option<(u32, u32)> {
    let (_, view) = whole.split_once("viewBox=\"0 0 ")?;
    let (width, height) = view.split_once('"')?.0.split_once(' ')?;
    Some((width.parse().ok()?, height.parse().ok()?))
}

/// The marks of a whole document, to be put into an `svg` element of its size.
#[must_use]
pub fn marks(whole: &str) -> String {
    // Said once for the whole figure by the page.
    inside(whole)
        .unwrap_or_default()
        .replace(r#" opacity="1""#, "")
        .replace(" font-family=\"sans-serif\"", "")
}

/// What the `svg` element of a document holds.
fn inside(whole: &str) -> Option<&str> {
    let from = whole
        .find("<svg")
        .and_then(|start| Some(start + whole[start..].find('>')? + 1))?;
    whole[from..].trim_end().strip_suffix("</svg>")
}

fn draw<'a>(plot: &Plot, area: &DrawingArea<SVGBackend<'a>, Shift>) -> Result<(), Error<'a>> {
    let (across, up) = (&plot.across, &plot.up);
    let mut chart = ChartBuilder::on(area)
        .margin(8)
        // Numbers with a unit are wider, and the last one ends beyond the axis.
        .margin_right(if across.scale == Scale::Linear {
            14
        } else {
            30
        })
        .x_label_area_size(48)
        .y_label_area_size(68)
        .build_cartesian_2d(across.from..across.to, up.from..up.to)?;
    if let Some((from, to)) = plot.band {
        let corners = [(from, up.from), (to, up.to)];
        chart.draw_series([Rectangle::new(corners, BAND.filled())])?;
    }
    match &plot.data {
        Data::Points(points) => {
            let level = |at: f64| vec![(across.from, at), (across.to, at)];
            lines(
                &mut chart,
                plot.levels.iter().map(|&at| level(at)),
                LEVEL.stroke_width(1),
            )?;
            // Far outside there are no pixels to count.
            let seen = |&&(x, y): &&(f64, f64)| across.holds(x) && up.holds(y);
            chart.draw_series(
                points
                    .iter()
                    .filter(seen)
                    .map(|&at| Circle::new(at, 2, DATA.filled())),
            )?;
        }
        Data::Bars {
            first,
            width,
            blank,
            counts,
        } => {
            let level = |at: f64| vec![(at, up.from), (at, up.to)];
            lines(
                &mut chart,
                plot.levels.iter().map(|&at| level(at)),
                LEVEL.stroke_width(1),
            )?;
            let bars = counts.iter().enumerate().filter(|(_, count)| **count > 0);
            chart.draw_series(bars.map(|(at, &count)| {
                let side = |share: f64| first + width * (at as f64 + share);
                Rectangle::new(
                    [(side(*blank), 0.0), (side(1.0 - blank), count as f64)],
                    DATA.filled(),
                )
            }))?;
        }
    }
    let median = plot.median.map(|at| vec![(at, up.from), (at, up.to)]);
    lines(&mut chart, median.into_iter(), MEDIAN.stroke_width(2))?;
    chart
        .configure_mesh()
        .disable_mesh()
        .x_desc(across.label.clone())
        .y_desc(up.label.clone())
        .x_labels(7)
        .y_labels(6)
        .x_label_formatter(&|at| written(*at, across))
        .y_label_formatter(&|at| written(*at, up))
        .axis_style(INK)
        .label_style((FONT, FONT_SIZE).into_font().color(&INK))
        .axis_desc_style((FONT, FONT_SIZE).into_font().color(&INK))
        .draw()?;
    area.present()
}

fn lines<'a>(
    chart: &mut Chart<'_, 'a>,
    lines: impl Iterator<Item = Vec<(f64, f64)>>,
    style: ShapeStyle,
) -> Result<(), Error<'a>> {
    chart
        .draw_series(lines.map(|line| PathElement::new(line, style)))
        .map(drop)
}

/// A number on an axis, with as many digits as tell neighbours apart.
pub(super) fn written(value: f64, axis: &Axis) -> String {
    match axis.scale {
        Scale::Linear => {}
        Scale::LogTime => {
            // Two digits: between decades stand thirds of them.
            let unit = 10_f64.powf(value.floor() - 1.0);
            return trimmed(&time(Some((10_f64.powf(value) / unit).round() * unit)));
        }
        Scale::LogShare => return format!("{} %", significant(100.0 * 10_f64.powf(value), 2)),
    }
    let range = axis.to - axis.from;
    let decimals = (2.0 - range.log10().floor()).clamp(0.0, 9.0) as usize;
    let text = format!("{value:.decimals$}");
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    if text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::standalone;

    #[test]
    fn the_title_stands_above_the_figure() {
        let figure = "<svg width=\"140\" height=\"50\" viewBox=\"0 0 140 50\" xmlns=\"…\">\n<circle/>\n</svg>\n";
        let whole = standalone(figure, "Cost of a & b on a machine");
        assert!(
            whole.contains("<title>Cost of a &amp; b on a machine</title>"),
            "{whole}"
        );
        // 20 letters fit a line of 140 pixels.
        let told = [
            "y=\"18\"",
            ">Cost of a &amp; b on a</text>",
            "y=\"36\"",
            ">machine</text>",
            "<circle/>",
        ];
        assert!(told.iter().all(|part| whole.contains(part)), "{whole}");
        assert!(
            whole.contains("viewBox=\"0 0 140 95\"") && whole.contains("translate(0,45)"),
            "{whole}"
        );
        assert_eq!(whole.matches("</svg>").count(), 1, "{whole}");
    }
}
