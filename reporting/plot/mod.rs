//! Plots of a clock, and a plot of all clocks of a report. A [`Plot`] has two axes, and shapes and texts at
//! values of theirs; `templates/plot.svg` draws it, `templates/plot.css` colours it.

mod axis;
mod clock;
mod ranking;

use askama::Template;

use crate::text::numbers::{count, trimmed};
use axis::Axis;
pub use clock::plots;
pub use ranking::{NARROW, WIDE, ranking};

/// A plot, which is displayed as an `svg` element.
#[derive(Template)]
#[template(path = "plot.svg", escape = "html")]
pub struct Plot {
    /// The title.
    pub title: &'static str,
    /// What it shows, also for readers who cannot see it.
    pub caption: String,
    /// The labels that stand for several clocks, with their names.
    pub shared: Vec<(String, String)>,
    /// Width and height in pixels.
    size: (u32, u32),
    /// The axes, across and up.
    axes: [Axis; 2],
    /// The shapes: their classes and paths.
    paths: Vec<(&'static str, String)>,
    /// The texts: their pixels and angles, and the classes of their alignment.
    texts: Vec<([f64; 3], &'static str, String)>,
    /// The places of points and texts.
    taken: Vec<Span>,
}

/// A place: across and up, as values of the axes, or across and down in pixels.
type Point = [f64; 2];
/// The left and right end of a point or text, and its height, in pixels.
type Span = (f64, f64, f64);

/// The margins of the area within the axes in pixels: to its left, below it, and at the other sides.
const LEFT: f64 = 84.0;
const BELOW: f64 = 48.0;
const BARE: f64 = 24.0;
/// The height of a line of text in pixels.
const LINE: f64 = 15.0;
/// The largest width of a letter in pixels.
const LETTER: f64 = 7.5;

impl Plot {
    /// A plot with axes only. `None` if one of them is empty or infinite, because reports from other
    /// programs may contain any values.
    fn new(title: &'static str, size: (u32, u32), mut axes: [Axis; 2]) -> Option<Self> {
        axes[0].pixels = [LEFT, f64::from(size.0) - BARE];
        axes[1].pixels = [f64::from(size.1) - BELOW, BARE];
        axes.iter().all(Axis::is_valid).then(|| Self {
            title,
            size,
            axes,
            caption: String::new(),
            shared: Vec::new(),
            paths: Vec::new(),
            texts: Vec::new(),
            taken: Vec::new(),
        })
    }

    /// The pixels and texts of the numbers on an axis.
    fn ticks(&self, axis: usize) -> Vec<(f64, String)> {
        self.axes[axis].ticks()
    }

    /// The pixel in the middle of an axis.
    fn middle(&self, axis: usize) -> f64 {
        let [start, end] = self.axes[axis].pixels;
        start.midpoint(end)
    }

    /// The place of values in pixels.
    fn place(&self, [across, up]: Point) -> Point {
        [self.axes[0].pixel(across), self.axes[1].pixel(up)]
    }

    /// Draws a line between two places.
    fn line(&mut self, class: &'static str, ends: [Point; 2]) {
        let [[x, y], [right, top]] = ends.map(|end| self.place(end));
        self.paths.push((class, format!("M{x} {y}L{right} {top}")));
    }

    /// Draws points.
    fn points(&mut self, points: impl Iterator<Item = Point>) {
        let places: Vec<Point> = points.map(|at| self.place(at)).collect();
        let points = places.iter().map(|[x, y]| format!("M{x} {y}h0"));
        self.paths.push(("point", points.collect()));
        self.taken.extend(places.iter().map(|[x, y]| (*x, *x, *y)));
    }

    /// Draws a ring around a point.
    fn ring(&mut self, at: Point) {
        let [x, y] = self.place(at);
        let left = x - 5.5;
        self.paths.push((
            "median",
            format!("M{left} {y}a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0 -11 0"),
        ));
    }

    /// Draws the bars of a histogram, whose first bin begins at `first`.
    fn bars(&mut self, first: f64, width: f64, counts: &[u64]) {
        let bars = counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let bars = bars.map(|(index, count)| {
            let from = first + width * index as f64;
            let [x, top] = self.place([from, *count as f64]);
            let [right, bottom] = self.place([from + width, 0.0]);
            format!("M{x} {bottom}V{top}H{right}V{bottom}")
        });
        self.paths.push(("data", bars.collect()));
    }

    /// Writes a text beside a point, up to three lines above or below it, where it covers nothing.
    fn label(&mut self, at: Point, text: String) {
        let [x, y] = self.place(at);
        let length = width(&text);
        let lines = [0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0].map(|lines| y + lines * LINE);
        let places = lines.into_iter().flat_map(|middle| {
            let [after, before] = [x + LETTER, x - LETTER];
            [
                ("start", after, (after, after + length, middle)),
                ("end", before, (before - length, before, middle)),
            ]
        });
        let mut free = places.filter(|(.., span)| self.is_free(span));
        if let Some((class, start, span)) = free.next() {
            if (span.2 - y).abs() > LINE {
                let path = format!("M{x} {y}L{start} {}", span.2);
                self.paths.push(("level", path));
            }
            self.texts.push(([start, span.2, 0.0], class, text));
            self.taken.push(span);
        }
    }

    /// Writes a text along a line, where it covers nothing.
    fn label_line(&mut self, ends: [Point; 2], text: String) {
        let [[left, top], [right, bottom]] = ends.map(|end| self.place(end));
        let [across, down] = [right - left, bottom - top];
        let part = |share: f64| {
            let x = left + share * across;
            (x - LETTER, x + LETTER, top + share * down)
        };
        let half = width(&text) / across.hypot(down) / 2.0;
        let parts = |middle| [-1.0, -0.5, 0.0, 0.5, 1.0].map(|at: f64| part(middle + at * half));
        let is_free = |middle: &f64| parts(*middle).iter().all(|part| self.is_free(part));
        let mut middles = (1..20).rev().map(|twentieth| f64::from(twentieth) / 20.0);
        if let Some(middle) = middles.find(is_free) {
            let (left, _, y) = part(middle);
            let angle = down.atan2(across).to_degrees();
            let at = [left + LETTER, y, angle].map(f64::round);
            self.texts.push((at, "middle", text));
            self.taken.extend(parts(middle));
        }
    }

    /// Whether a text there is within the axes and covers nothing.
    fn is_free(&self, &(left, right, middle): &Span) -> bool {
        let covers =
            |other: &Span| left < other.1 && other.0 < right && (middle - other.2).abs() < LINE;
        let [[first, last], [bottom, top]] = [self.axes[0].pixels, self.axes[1].pixels];
        let is_inside = left > first && right < last && top < middle && middle < bottom;
        is_inside && !self.taken.iter().any(covers)
    }
}

/// The largest width of a text in pixels.
fn width(text: &str) -> f64 {
    LETTER * text.chars().count() as f64
}

/// Writes a number of cycles, ticks or observations on an axis.
fn number(value: f64) -> String {
    trimmed(&count(Some(value)))
}
