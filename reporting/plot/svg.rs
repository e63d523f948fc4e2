//! Draws a plot as SVG, readable in greyscale: `marks` without a background, `svg` on white. CSS
//! replaces the colours on dark screens.

use std::fmt::Write;

use super::{Plot, PlotPoint, PlotShape};
use crate::table::escape_html;
use crate::text::{plain, wrap};

/// The colour of points and bars. `templates/page.css` repeats these colours.
const DATA: &str = "#1B4F8A";
/// The colour of multiples of the step and of lines of equal Quality.
const LEVEL: &str = "#9A9A9A";
/// The colour of the range within one resolution of the median.
const BAND: &str = "#E3E3E3";
/// The colour of the median and of rings.
const MEDIAN: &str = "#B42B1E";
/// The colour of text and axes.
const INK: &str = "#000000";

/// Margins left, right, above and below the plot, in pixels.
const MARGINS: [f64; 4] = [84.0, 26.0, 12.0, 48.0];
/// Margins to the right and above that hold the opposite scales, in pixels.
const OPPOSITE_MARGINS: [f64; 2] = [84.0, 48.0];
/// The least distances of the numbers on an axis across and up, in pixels.
const TICK_DISTANCES: [f64; 2] = [62.0, 46.0];
/// The height of a line of text, in pixels.
const LINE_HEIGHT: f64 = 18.0;
/// The largest width of a letter, in pixels.
const LETTER_WIDTH: f64 = 8.0;
/// The least distance of two labels at the same height, in pixels.
const LABEL_GAP: f64 = 4.0;

/// CSS that draws an outline behind text, and that replaces each colour on dark screens as
/// `templates/page.css` does.
const STYLE: &str = "<style>text{paint-order:stroke;stroke:#fff;stroke-width:3px;stroke-linejoin:round}\
    @media (prefers-color-scheme:dark){[fill=\"#FFFFFF\"]{fill:#11161b}text{fill:#e5ebf0;stroke:#11161b}\
    [fill=\"#1B4F8A\"]{fill:#86b9f2}[stroke=\"#1B4F8A\"]{stroke:#86b9f2}[stroke=\"#000000\"]{stroke:#9daab6}[stroke=\"#9A9A9A\"]{stroke:#55616d}\
    [fill=\"#E3E3E3\"]{fill:#26384b}[stroke=\"#B42B1E\"]{stroke:#ff8a7a}}</style>";

impl Plot {
    /// Draws an SVG document with `title` above the plot.
    pub fn svg(&self, title: &str) -> String {
        let (width, height) = self.size;
        let title = plain(title);
        let lines = wrap(&title, (f64::from(width) / LETTER_WIDTH) as usize);
        let title_height = LINE_HEIGHT * (lines.len() as f64 + 0.5);
        let height = f64::from(height) + title_height;
        let mut heading = Drawing::default();
        for (at, line) in lines.iter().enumerate() {
            heading.text((LETTER_WIDTH, LINE_HEIGHT * (at + 1) as f64), "start", line);
        }
        format!(
            "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             xmlns=\"http://www.w3.org/2000/svg\" font-family=\"sans-serif\"><title>{}</title>{STYLE}\
             <rect width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/>{}<g transform=\"translate(0,{title_height})\">{}</g></svg>\n",
            escape_html(&title),
            heading.out,
            self.marks()
        )
    }

    /// Draws the elements of the plot, to be embedded in an `svg` element of the same size.
    pub fn marks(&self) -> String {
        self.marks_at(self.size)
    }

    /// Draws the elements of the plot for an `svg` element of `size`.
    pub fn marks_at(&self, size: (u32, u32)) -> String {
        let [left, mut right_margin, mut top, bottom_margin] = MARGINS;
        if self.up.opposite.is_some() {
            [right_margin, top] = OPPOSITE_MARGINS;
        }
        let (width, height) = (f64::from(size.0), f64::from(size.1));
        // The right and the lower end of the area within the axes.
        let (right, bottom) = (width - right_margin, height - bottom_margin);
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
                PlotShape::Point(at) => position(*at).map(|at| drawing.point(at)),
                PlotShape::Ring(at) => position(*at).map(|at| drawing.ring(at)),
                PlotShape::Median(at) => x(*at).map(|at| {
                    drawing.line((at, top), (at, bottom), MEDIAN, 2);
                }),
                PlotShape::Label(at, text) => {
                    position(*at).map(|at| drawing.label(at, text, [left, right, top, bottom]))
                }
            };
        }
        drawing.line((left, bottom), (right, bottom), INK, 1);
        drawing.line((left, top), (left, bottom), INK, 1);
        let [across_count, up_count] = [
            ((right - left) / TICK_DISTANCES[0]) as usize,
            ((bottom - top) / TICK_DISTANCES[1]) as usize,
        ];
        for (ticks, edge, down, baseline) in [
            (self.across.ticks(across_count), bottom, 5.0, LINE_HEIGHT),
            (self.across.opposite_ticks(across_count), top, -5.0, -9.0),
        ] {
            for (at, text) in ticks {
                let x = x(at).unwrap_or(left);
                drawing.line((x, edge), (x, edge + down), INK, 1);
                drawing.text((x, edge + baseline), "middle", &text);
            }
        }
        for (ticks, edge, out, anchor) in [
            (self.up.ticks(up_count), left, -1.0, "end"),
            (self.up.opposite_ticks(up_count), right, 1.0, "start"),
        ] {
            for (at, text) in ticks {
                let y = y(at).unwrap_or(top);
                drawing.line((edge + 5.0 * out, y), (edge, y), INK, 1);
                drawing.text((edge + LETTER_WIDTH * out, y + 5.0), anchor, &text);
            }
        }
        let (middle, centre) = ((left + right) / 2.0, (top + bottom) / 2.0);
        let below = (middle, bottom + 2.0 * LINE_HEIGHT + 4.0);
        drawing.text(below, "middle", &self.across.label);
        drawing.upright((LINE_HEIGHT, centre), &self.up.label);
        if let Some((across, up)) = self.across.opposite.as_ref().zip(self.up.opposite.as_ref()) {
            drawing.line((left, top), (right, top), INK, 1);
            drawing.line((right, top), (right, bottom), INK, 1);
            drawing.text((middle, top - 2.0 * LINE_HEIGHT + 4.0), "middle", across.label);
            drawing.upright((width - 6.0, centre), up.label);
        }
        drawing.out
    }
}

/// The SVG elements drawn so far, and the positions of the points and labels among them.
#[derive(Default)]
struct Drawing {
    out: String,
    /// The positions of the points, in pixels.
    points: Vec<PlotPoint>,
    /// The left end, right end and height of each label, in pixels.
    labels: Vec<(f64, f64, f64)>,
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

    fn ring(&mut self, (x, y): PlotPoint) {
        let _ = write!(
            self.out,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"7\" fill=\"none\" stroke=\"{MEDIAN}\" stroke-width=\"2\"/>"
        );
    }

    fn point(&mut self, (x, y): PlotPoint) {
        self.points.push((x, y));
        let _ = write!(
            self.out,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2\" fill=\"{DATA}\"/>"
        );
    }

    fn text(&mut self, (x, y): PlotPoint, anchor: &str, text: &str) {
        let _ = write!(
            self.out,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-size=\"13\" fill=\"{INK}\">{}</text>",
            escape_html(text)
        );
    }

    /// Draws a text that reads upwards, centred on a point.
    fn upright(&mut self, (x, y): PlotPoint, text: &str) {
        let _ = write!(
            self.out,
            "<g transform=\"translate({x:.1},{y:.1}) rotate(-90)\">"
        );
        self.text((0.0, 0.0), "middle", text);
        self.out += "</g>";
    }

    /// Draws a text next to a point: to its right or left, level with it, up to three lines below or
    /// above. A line joins them if the text is not at the point. Prefers places without points; omits
    /// the text if at all places it would cover another label, or leave the area of the plot: its left,
    /// right, upper and lower end.
    fn label(&mut self, (x, y): PlotPoint, text: &str, [left, right, top, bottom]: [f64; 4]) {
        let length = LETTER_WIDTH * text.chars().count() as f64;
        // The start of a label to the right, and of a label to the left.
        let starts = [x + LETTER_WIDTH, x - LETTER_WIDTH - length];
        let heights = [0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0];
        let heights = heights.map(|lines| y + lines * (LINE_HEIGHT - 4.0));
        let covers = |(left, at): PlotPoint, (from, to, height): (f64, f64, f64), room: f64| {
            left < to + LABEL_GAP && from < left + length + LABEL_GAP && (at - height).abs() < room
        };
        let is_free = |place: &PlotPoint| {
            let is_taken = |label: &(f64, f64, f64)| covers(*place, *label, LINE_HEIGHT - 4.0);
            place.0 > left
                && place.0 + length < right
                && (top + LETTER_WIDTH..bottom - LETTER_WIDTH).contains(&place.1)
                && !self.labels.iter().any(is_taken)
        };
        let badness = |place: &PlotPoint| {
            let is_covered = |(x, y): &&PlotPoint| covers(*place, (*x, *x, *y), LINE_HEIGHT / 2.0);
            let lines = (place.1 - y).abs() / LINE_HEIGHT;
            2 * self.points.iter().filter(is_covered).count() + lines.ceil() as usize
        };
        let places = heights.iter().flat_map(|at| starts.map(|left| (left, *at)));
        if let Some((left, at)) = places.filter(is_free).min_by_key(badness) {
            self.labels.push((left, left + length, at));
            // The text ends at the point if it is to the left of the point.
            let (from, anchor) = match left < x {
                true => (left + length, "end"),
                false => (left, "start"),
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
    fn title_is_above_plot() {
        let axis = || Axis::new("n", AxisScale::Number, 0.0, 10.0);
        let points = vec![PlotShape::Point((5.0, 5.0)), PlotShape::Point((50.0, 5.0))];
        let plot = Plot::new("points", "Points", String::new(), [axis(), axis()], points);
        let document = plot.svg("Cost of a & b on a machine");
        assert!(
            document.contains("<title>Cost of a &amp; b on a machine</title>"),
            "{document}"
        );
        assert!(
            document.contains("viewBox=\"0 0 400 307\"") && document.contains("translate(0,27)"),
            "{document}"
        );
        assert_eq!(
            document.matches("<circle").count(),
            1,
            "the second point is outside the axes: {document}"
        );
        assert_eq!(document.matches("</svg>").count(), 1, "{document}");
    }

    #[test]
    fn labels_do_not_overlap() {
        let axis = || Axis::new("n", AxisScale::LogNumber, 0.0, 4.0);
        let label = |x, y, text: &str| PlotShape::Label((x, y), text.into());
        let names = ["one", "two", "three", "four", "five", "six", "seven"];
        let shapes = names.map(|name| label(2.0, 2.0, name));
        let plot = Plot::new(
            "labels",
            "Labels",
            String::new(),
            [axis(), axis()],
            shapes.into(),
        );
        let drawn = names.map(|text| plot.marks().contains(&format!(">{text}<")));
        assert_eq!(
            drawn,
            [true, true, true, true, true, true, false],
            "a point has room for six labels: right and left, at its height, below and above"
        );
    }
}
