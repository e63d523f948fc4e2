//! Draws a plot as SVG, readable in greyscale: `marks` without a background, `svg` on white. CSS
//! replaces the colours on dark screens.

use std::fmt::Write;

use super::{Axis, Plot, PlotPoint, PlotShape};
use crate::format::escape_html;

/// The colour of points and bars. `templates/page.css` repeats these colours.
const DATA: &str = "#1B4F8A";
/// The colour of multiples of the step and of lines of equal Quality.
const LEVEL: &str = "#9A9A9A";
/// The colour of the range within one resolution of the median.
const BAND: &str = "#E3E3E3";
/// The colour of the median and of rings.
const MEDIAN: &str = "#B42B1E";
/// The colours of a point.
const POINT: &str = "fill=\"#1B4F8A\"";
/// The colours of a ring.
const RING: &str = "fill=\"none\" stroke=\"#B42B1E\" stroke-width=\"2\"";
/// The colour of text and axes.
const INK: &str = "#000000";

/// Margin beside an axis with numbers, in pixels.
const SIDE_MARGIN: f64 = 84.0;
/// Margin above or below an axis with numbers, in pixels.
const END_MARGIN: f64 = 48.0;
/// Margins to the right and above without an axis, in pixels.
const BARE_MARGINS: [f64; 2] = [26.0, 12.0];
/// The least distance of two numbers on an axis, in pixels.
const NUMBER_DISTANCE: f64 = 55.0;
/// The height of a line of text, in pixels.
const LINE_HEIGHT: f64 = 18.0;
/// The largest width of a letter, in pixels.
const LETTER_WIDTH: f64 = 8.0;
/// The least distance of two labels at the same height, in pixels.
const LABEL_GAP: f64 = 4.0;

impl Plot {
    /// Draws the elements of the plot, to be embedded in an `svg` element of `size`.
    pub fn marks(&self, size: (u32, u32)) -> String {
        let times = self.across.in_time().zip(self.up.in_time());
        let [right_margin, top] = match times {
            Some(_) => [SIDE_MARGIN, END_MARGIN],
            None => BARE_MARGINS,
        };
        // The ends of the area within the axes.
        let left = SIDE_MARGIN;
        let right = f64::from(size.0) - right_margin;
        let bottom = f64::from(size.1) - END_MARGIN;
        let x = |at: f64| Some(left + self.across.position(at)? * (right - left));
        let y = |at: f64| Some(bottom - self.up.position(at)? * (bottom - top));
        let position = |(across, up): PlotPoint| Some((x(across)?, y(up)?));
        let mut drawing = Drawing::default();
        for shape in &self.shapes {
            // Shapes outside the plot are not drawn.
            let _ = match shape {
                PlotShape::Band(from, to) => x(*from).zip(x(*to)).map(|(from, to)| {
                    drawing.rectangle((from, top), (to, bottom), BAND);
                }),
                PlotShape::Level(from, to) => {
                    position(*from).zip(position(*to)).map(|(from, to)| {
                        drawing.line(from, to, LEVEL, 1);
                    })
                }
                PlotShape::Bar(from, to, count) => {
                    x(*from)
                        .zip(x(*to))
                        .zip(y(*count))
                        .map(|((from, to), above)| {
                            drawing.rectangle((from, above), (to, bottom), DATA);
                        })
                }
                PlotShape::Point(at) => position(*at).map(|at| {
                    drawing.obstacles.push((at.0, at.0, at.1, POINT_WEIGHT));
                    drawing.circle(at, 2, POINT);
                }),
                PlotShape::Ring(at) => position(*at).map(|at| drawing.circle(at, 7, RING)),
                PlotShape::Median(at) => x(*at).map(|at| {
                    drawing.line((at, top), (at, bottom), MEDIAN, 2);
                }),
                PlotShape::Label(at, text) => {
                    position(*at).map(|at| drawing.label(at, text, [left, right, top, bottom]))
                }
            };
        }
        drawing.axis(&self.across, (left, bottom), (right, bottom), (0.0, 1.0));
        drawing.axis(&self.up, (left, bottom), (left, top), (-1.0, 0.0));
        if let Some((across, up)) = times {
            drawing.axis(&across, (left, top), (right, top), (0.0, -1.0));
            drawing.axis(&up, (right, bottom), (right, top), (1.0, 0.0));
        }
        drawing.out
    }
}

/// The left end, right end and height of a point or label in pixels, and how bad it is to cover it,
/// in pixels of distance.
type Obstacle = (f64, f64, f64, f64);

/// How bad it is to cover a label, which is never done.
const LABEL_WEIGHT: f64 = 1e9;
/// How bad it is to cover a point: worse than three lines.
const POINT_WEIGHT: f64 = 60.0;

/// The SVG elements drawn so far, and the points and labels among them.
#[derive(Default)]
struct Drawing {
    out: String,
    /// The points and the labels.
    obstacles: Vec<Obstacle>,
}

impl Drawing {
    fn rectangle(&mut self, (left, top): PlotPoint, (right, bottom): PlotPoint, colour: &str) {
        let (width, height) = (right - left, bottom - top);
        let _ = write!(
            self.out,
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{colour}\"/>"
        );
    }

    fn line(&mut self, from: PlotPoint, to: PlotPoint, colour: &str, width: u32) {
        let _ = write!(
            self.out,
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\" stroke-width=\"{width}\"/>",
            from.0, from.1, to.0, to.1
        );
    }

    fn circle(&mut self, (x, y): PlotPoint, radius: u32, colours: &str) {
        let _ = write!(
            self.out,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" {colours}/>"
        );
    }

    fn text(&mut self, (x, y): PlotPoint, anchor: &str, text: &str) {
        let _ = write!(
            self.out,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-size=\"13\" fill=\"{INK}\">{}</text>",
            escape_html(text)
        );
    }

    /// Draws an axis with its numbers and its label, which are in the direction `out`.
    fn axis(&mut self, axis: &Axis, from: PlotPoint, to: PlotPoint, out: PlotPoint) {
        let along = |share: f64| {
            let [x, y] = [to.0 - from.0, to.1 - from.1];
            (from.0 + share * x, from.1 + share * y)
        };
        let anchor = match () {
            () if out.0 < 0.0 => "end",
            () if out.0 > 0.0 => "start",
            () => "middle",
        };
        self.line(from, to, INK, 1);
        let length = to.0 - from.0 + from.1 - to.1;
        for (at, text) in axis.ticks((length / NUMBER_DISTANCE) as usize) {
            let (x, y) = along(axis.position(at).unwrap_or_default());
            self.line((x, y), (x + 5.0 * out.0, y + 5.0 * out.1), INK, 1);
            let below = y + 4.5 + 13.5 * out.1;
            self.text((x + LETTER_WIDTH * out.0, below), anchor, &text);
        }
        let (x, y) = along(0.5);
        let is_vertical = out.0.abs();
        let _ = write!(
            self.out,
            "<g transform=\"translate({:.1},{:.1}) rotate({})\">",
            x + 70.0 * out.0 + 4.0 * is_vertical,
            y + 4.5 + 35.5 * out.1,
            -90.0 * is_vertical
        );
        self.text((0.0, 0.0), "middle", &axis.label);
        self.out += "</g>";
    }

    /// Draws a text next to a point: to its right or left, or in the middle, up to three lines below or
    /// above. A line joins them if the text is not at the point. Prefers places without points; omits
    /// the text if at all places it would cover another label, or leave the area of the plot: its left,
    /// right, upper and lower end.
    fn label(&mut self, (x, y): PlotPoint, text: &str, [left, right, top, bottom]: [f64; 4]) {
        let length = LETTER_WIDTH * text.chars().count() as f64;
        // The start of a label to the right, to the left, and in the middle.
        let starts = [
            x + LETTER_WIDTH,
            x - LETTER_WIDTH - length,
            x - length / 2.0,
        ];
        let heights = [0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0];
        let heights = heights.map(|lines| y + lines * (LINE_HEIGHT - 4.0));
        let places = heights.iter().flat_map(|at| starts.map(|from| (from, *at)));
        let is_inside = |(from, at): &PlotPoint| {
            *from > left
                && from + length < right
                && (top + LETTER_WIDTH..bottom - LETTER_WIDTH).contains(at)
        };
        let badness = |(start, at): PlotPoint| {
            let is_covered = |&&(from, to, height, _): &&Obstacle| {
                start < to + LABEL_GAP
                    && from < start + length + LABEL_GAP
                    && (at - height).abs() < LINE_HEIGHT - 4.0
            };
            let covered = self.obstacles.iter().filter(is_covered);
            covered.map(|(.., weight)| weight).sum::<f64>() + (at - y).abs()
        };
        let places = places
            .filter(is_inside)
            .map(|place| (badness(place), place));
        let best = places.min_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((_, (start, at))) = best.filter(|(badness, _)| *badness < LABEL_WEIGHT) {
            self.obstacles
                .push((start, start + length, at, LABEL_WEIGHT));
            // The text begins or ends at the point, because letters may be narrower.
            let (from, anchor) = match () {
                () if start > x => (start, "start"),
                () if start + length < x => (start + length, "end"),
                () => (x, "middle"),
            };
            if (at - y).abs() > LINE_HEIGHT {
                self.line((x, y), (from, at), DATA, 1);
            }
            self.text((from, at + 4.0), anchor, text);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::plot::{Axis, AxisScale, Plot, PlotShape};

    #[test]
    fn labels_do_not_overlap() {
        let axis = || Axis::new("n", AxisScale::LogCycles(None), 0.0, 4.0);
        let label = |x, y, text: &str| PlotShape::Label((x, y), text.into());
        let names: [String; 15] = std::array::from_fn(|index| format!("name{index:02}"));
        let shapes = names.clone().map(|name| label(2.0, 2.0, &name));
        let plot = Plot::new(
            "labels",
            "Labels",
            String::new(),
            [axis(), axis()],
            shapes.into(),
        );
        let drawn = names.map(|text| plot.marks(plot.size).contains(&format!(">{text}<")));
        assert_eq!(
            drawn,
            std::array::from_fn(|index| index < 14),
            "a point has room for fourteen labels: right and left, at its height, below and above"
        );
    }
}
