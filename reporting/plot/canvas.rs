//! Draws axes, shapes and labels as SVG elements.

use std::fmt::Write;

use super::Plot;
use crate::format::escape_html;

/// A place: across and up, as values of the axes, or across and down in pixels.
pub(super) type Point = [f64; 2];

/// The margins of the area within the axes in pixels: to its left, below it, and at the other sides.
const LEFT: f64 = 84.0;
const BELOW: f64 = 48.0;
const BARE: f64 = 24.0;
/// The height of a line of text in pixels.
const LINE: f64 = 15.0;
/// The largest width of a letter in pixels.
const LETTER: f64 = 7.5;

/// An axis.
pub(super) struct Axis {
    /// The quantity.
    pub label: &'static str,
    /// Formats a value with its unit.
    pub write: fn(f64) -> String,
    /// The lower end.
    pub from: f64,
    /// The upper end.
    pub to: f64,
    /// Whether equal distances are equal ratios.
    pub is_log: bool,
}

impl Axis {
    /// The position of a value: 0 at the lower end, 1 at the upper end, or the nearest end.
    fn position(&self, value: f64) -> f64 {
        let scaled = |value: f64| if self.is_log { value.ln() } else { value };
        let [from, to, value] = [self.from, self.to, value].map(scaled);
        ((value - from) / (to - from)).clamp(0.0, 1.0)
    }

    /// At most `most` round numbers between the ends.
    fn ticks(&self, most: f64) -> Vec<f64> {
        let decades = (-18..=18).map(|power| 10_f64.powi(power));
        let round = decades.flat_map(|decade| [1.0, 2.0, 5.0].map(|digit| digit * decade));
        let within = |value: &f64| (self.from..=self.to).contains(value);
        let ticks: Option<Vec<f64>> = if self.is_log {
            // All of them, or powers of 10, or of 1000.
            let every = |nth| round.clone().step_by(nth).filter(within).collect();
            let fits = |ticks: &Vec<f64>| ticks.len() as f64 <= most;
            [1, 3, 9].map(every).into_iter().find(fits)
        } else {
            let step = round
                .clone()
                .find(|step| (self.to - self.from) / step <= most);
            step.map(|step| self.multiples(step))
        };
        ticks.unwrap_or_default()
    }

    /// The multiples of `step` between the ends.
    pub fn multiples(&self, step: f64) -> Vec<f64> {
        let [first, last] = [(self.from / step).ceil(), (self.to / step).floor()];
        let multiples = first as i64..=last as i64;
        multiples.map(|multiple| multiple as f64 * step).collect()
    }

    /// The distance between the ends.
    pub fn length(&self) -> f64 {
        self.to - self.from
    }
}

/// The left and right end of a text or point, and its height.
#[derive(Clone, Copy)]
struct Span(f64, f64, f64);

impl Span {
    fn covers(&self, other: &Self) -> bool {
        self.0 < other.1 && other.0 < self.1 && (self.2 - other.2).abs() < LINE
    }
}

/// A plot while it is drawn.
pub(super) struct Canvas {
    /// The axes, across and up.
    pub axes: [Axis; 2],
    size: (u32, u32),
    /// The right and the lower end of the area within the axes.
    ends: Point,
    marks: String,
    points: Vec<Span>,
    texts: Vec<Span>,
}

impl Canvas {
    /// Draws the axes. `None` if one is empty or infinite, because reports from other programs may contain
    /// any values.
    pub fn new(size: (u32, u32), axes: [Axis; 2]) -> Option<Self> {
        let is_valid =
            |axis: &Axis| axis.length().is_finite() && axis.length() > axis.to.abs() * 1e-9;
        if !axes.iter().all(is_valid) {
            return None;
        }
        let ends = [f64::from(size.0) - BARE, f64::from(size.1) - BELOW];
        let origin = [axes[0].from, axes[1].from];
        let labels = [axes[0].label, axes[1].label];
        let mut canvas = Self {
            axes,
            size,
            ends,
            marks: String::new(),
            points: Vec::new(),
            texts: Vec::new(),
        };
        let [right, bottom] = ends;
        canvas.path("axis", &format!("M{LEFT} {BARE}V{bottom}H{right}"));
        for (axis, room, anchor, [out, down]) in [
            (0, 90.0, "middle", [0.0, 1.0]),
            (1, 45.0, "end", [-1.0, 0.0]),
        ] {
            let Axis { write, .. } = canvas.axes[axis];
            for value in canvas.axes[axis].ticks(ends[axis] / room) {
                let mut at = origin;
                at[axis] = value;
                let [x, y] = canvas.place(at);
                canvas.path(
                    "axis",
                    &format!("M{x:.1} {y:.1}l{} {}", 5.0 * out, 5.0 * down),
                );
                canvas.text([x + 9.0 * out, y + LINE * down], anchor, 0.0, &write(value));
            }
        }
        canvas.text(
            [(LEFT + right) / 2.0, bottom + 35.0],
            "middle",
            0.0,
            labels[0],
        );
        canvas.text([LINE, (BARE + bottom) / 2.0], "middle", -90.0, labels[1]);
        Some(canvas)
    }

    /// The place of values in pixels.
    pub fn place(&self, [across, up]: Point) -> Point {
        let [right, bottom] = self.ends;
        [
            LEFT + self.axes[0].position(across) * (right - LEFT),
            bottom - self.axes[1].position(up) * (bottom - BARE),
        ]
    }

    /// Draws a path of a class of `templates/plot.css`.
    pub fn path(&mut self, class: &str, path: &str) {
        let _ = write!(self.marks, "<path class=\"{class}\" d=\"{path}\"/>");
    }

    /// Draws a line between two places.
    pub fn line(&mut self, class: &str, from: Point, to: Point) {
        let [[x, y], [right, top]] = [from, to].map(|end| self.place(end));
        self.path(class, &format!("M{x:.1} {y:.1}L{right:.1} {top:.1}"));
    }

    /// Draws bars from the horizontal axis: their ends and heights.
    pub fn bars(&mut self, class: &str, bars: impl Iterator<Item = (f64, f64, f64)>) {
        let bar = |(from, to, height)| {
            let ([x, top], [right, _]) = (self.place([from, height]), self.place([to, height]));
            format!("M{x:.1} {}V{top:.1}H{right:.1}V{0}", self.ends[1])
        };
        let bars: String = bars.map(bar).collect();
        self.path(class, &bars);
    }

    /// Draws points.
    pub fn points(&mut self, points: &[Point]) {
        let places: Vec<Point> = points.iter().map(|at| self.place(*at)).collect();
        let path: String = places
            .iter()
            .map(|[x, y]| format!("M{x:.1} {y:.1}h0"))
            .collect();
        self.path("point", &path);
        self.points
            .extend(places.iter().map(|[x, y]| Span(*x, *x, *y)));
    }

    /// Draws a ring around a point.
    pub fn ring(&mut self, at: Point) {
        let [x, y] = self.place(at);
        self.path(
            "median",
            &format!("M{:.1} {y:.1}a7 7 0 1 0 14 0a7 7 0 1 0 -14 0", x - 7.0),
        );
    }

    fn text(&mut self, [x, y]: Point, anchor: &str, angle: f64, text: &str) {
        let _ = write!(
            self.marks,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" dy=\".35em\" text-anchor=\"{anchor}\" transform=\"rotate({angle:.1} {x:.1} {y:.1})\">{}</text>",
            escape_html(text)
        );
    }

    /// Whether there is room for a text, without points or with them.
    fn has_room(&self, span: &Span, on_points: bool) -> bool {
        let is_free = |others: &[Span]| !others.iter().any(|other| other.covers(span));
        let is_inside =
            span.0 > LEFT && span.1 < self.ends[0] && (BARE..self.ends[1]).contains(&span.2);
        is_inside && is_free(&self.texts) && (on_points || is_free(&self.points))
    }

    /// Writes a text to the right or left of a point, up to three lines above or below it: where it
    /// covers no other text, and no points if possible. Omits it without such a place.
    pub fn label(&mut self, at: Point, text: &str) {
        let [x, y] = self.place(at);
        let (gap, length) = (8.0, LETTER * text.chars().count() as f64);
        let lines = [0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0].map(|lines| y + lines * LINE);
        let places = lines.iter().flat_map(|y| {
            let right = Span(x + gap, x + gap + length, *y);
            [
                (right, "start"),
                (Span(x - gap - length, x - gap, *y), "end"),
            ]
        });
        let places: Vec<(Span, &str)> = places.collect();
        let find = |on_points| {
            places
                .iter()
                .find(|(span, _)| self.has_room(span, on_points))
        };
        let Some((span, anchor)) = find(false).or_else(|| find(true)).copied() else {
            return;
        };
        let start = if anchor == "end" { span.1 } else { span.0 };
        if (span.2 - y).abs() > LINE {
            self.path("level", &format!("M{x:.1} {y:.1}L{start:.1} {:.1}", span.2));
        }
        self.text([start, span.2], anchor, 0.0, text);
        self.texts.push(span);
    }

    /// Writes a text on a line where it covers nothing; omits it without such a place.
    pub fn label_line(&mut self, [from, to]: [Point; 2], text: &str) {
        let [[x, y], [right, bottom]] = [from, to].map(|end| self.place(end));
        let [width, height] = [right - x, bottom - y];
        let half = LETTER * text.chars().count() as f64 / 2.0 / width.hypot(height);
        let part = |share: f64| {
            let [x, y] = [x + share * width, y + share * height];
            Span(x - LETTER, x + LETTER, y)
        };
        let has_room = |middle: &f64| {
            let parts = [-1.0, -0.5, 0.0, 0.5, 1.0].map(|share| part(middle + share * half));
            parts.iter().all(|part| self.has_room(part, false))
        };
        let middles = [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.1, 0.9];
        if let Some(middle) = middles.into_iter().find(has_room) {
            let parts = [-1.0, -0.5, 0.0, 0.5, 1.0].map(|share| part(middle + share * half));
            let Span(left, right, y) = part(middle);
            self.texts.extend(parts);
            self.text(
                [(left + right) / 2.0, y],
                "middle",
                height.atan2(width).to_degrees(),
                text,
            );
        }
    }

    /// The plot of what was drawn.
    pub fn finish(self, title: &'static str, caption: String) -> Plot {
        Plot {
            title,
            caption,
            size: self.size,
            marks: self.marks,
            shared: Vec::new(),
        }
    }
}
