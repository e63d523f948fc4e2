//! Draws a plot with Braille characters; each character holds 2 × 4 dots.

use super::{Axis, Plot, PlotShape};
use crate::text::wrap;

/// The height of the plot in lines, without its axis.
const HEIGHT: usize = 12;
/// The width of the space to the left of the plot for numbers and the axis, in columns.
const LEFT_MARGIN: usize = 10;
/// The distance between the dots of dashed horizontal lines, in dots.
const DASH_DOTS: usize = 3;

impl Plot {
    /// Draws the plot in lines of at most `width` characters (at least 40), with the title above
    /// and the caption below.
    pub fn terminal(&self, width: usize) -> String {
        let width = width.max(40);
        let columns = width - LEFT_MARGIN;
        let grid = self.draw(columns);
        let mut out = format!("{}\n", self.title);
        let labels = place_ticks(&self.up, 4, HEIGHT);
        for (at, row) in grid.cells.chunks(columns).enumerate() {
            let label = labels
                .iter()
                .find(|(row, _)| *row == HEIGHT - 1 - at)
                .map_or("", |(_, text)| text.as_str());
            let line: String = row.iter().map(|dots| braille(*dots)).collect();
            out += format!("{label:>8} │{line}").trim_end();
            out.push('\n');
        }
        out += &format!("{:8} └{}\n", "", "─".repeat(columns));
        let mut numbers = " ".repeat(LEFT_MARGIN);
        for (column, text) in place_ticks(&self.across, 4, columns) {
            let start = LEFT_MARGIN + column;
            let used = numbers.chars().count();
            if start >= used && start + text.chars().count() <= width {
                numbers += &format!("{:1$}{text} ", "", start - used);
            }
        }
        out += &format!("{}\n", numbers.trim_end());
        out += format!("{:LEFT_MARGIN$}{:^columns$}", "", self.across.label).trim_end();
        out.push('\n');
        for line in wrap(&self.caption, width) {
            out += &format!("{line}\n");
        }
        out
    }

    /// Draws the shapes, except bands, rings and labels, on a grid of `columns` characters in a line.
    fn draw(&self, columns: usize) -> Grid {
        let mut grid = Grid {
            columns,
            cells: vec![0; columns * HEIGHT],
        };
        let x = |at: f64| Some(index(self.across.position(at)?, 2 * columns));
        let y = |at: f64| Some(index(self.up.position(at)?, 4 * HEIGHT));
        for shape in &self.shapes {
            match shape {
                PlotShape::Point((across, up)) => {
                    if let Some((x, y)) = x(*across).zip(y(*up)) {
                        grid.dot(x, y);
                    }
                }
                PlotShape::Bar(from, to, count) => {
                    if let Some(((from, to), above)) = x(*from).zip(x(*to)).zip(y(*count)) {
                        // A bar is at least one dot wide.
                        for x in from..to.max(from + 1) {
                            (0..=above).for_each(|y| grid.dot(x, y));
                        }
                    }
                }
                PlotShape::Median(at) => {
                    if let Some(x) = x(*at) {
                        (0..4 * HEIGHT)
                            .step_by(DASH_DOTS)
                            .for_each(|y| grid.dot(x, y));
                    }
                }
                PlotShape::Level((left, bottom), (right, top)) => {
                    let share = |at: usize| at as f64 / (2 * columns) as f64;
                    for at in (0..2 * columns).step_by(DASH_DOTS) {
                        let along = |from: f64, to: f64| from + share(at) * (to - from);
                        if let Some((x, y)) = x(along(*left, *right)).zip(y(along(*bottom, *top))) {
                            grid.dot(x, y);
                        }
                    }
                }
                PlotShape::Band(..) | PlotShape::Ring(_) | PlotShape::Label(..) => {}
            }
        }
        grid
    }
}

/// The index of the part that contains a position in [0, 1], which is divided into `parts` equal
/// parts.
fn index(position: f64, parts: usize) -> usize {
    ((position * parts as f64) as usize).min(parts - 1)
}

/// At most `max_count` round numbers on an axis of `parts` characters or lines, each with the index
/// of its character or line.
fn place_ticks(axis: &Axis, max_count: usize, parts: usize) -> Vec<(usize, String)> {
    axis.ticks(max_count)
        .into_iter()
        .filter_map(|(at, text)| Some((index(axis.position(at)?, parts), text)))
        .collect()
}

/// The Braille character with the given dots.
fn braille(dots: u8) -> char {
    match dots {
        0 => ' ',
        dots => char::from_u32(0x2800 + u32::from(dots)).unwrap_or(' '),
    }
}

/// The characters of the plot, the top line first; each holds the dots of a Braille character.
struct Grid {
    columns: usize,
    cells: Vec<u8>,
}

impl Grid {
    /// Sets a dot; the coordinates count from the lower left corner.
    fn dot(&mut self, x: usize, y: usize) {
        /// The bit of each dot (Unicode chapter 21.1), in four rows of two.
        const BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
        let y = 4 * HEIGHT - 1 - y;
        self.cells[y / 4 * self.columns + x / 2] |= BITS[y % 4][x % 2];
    }
}
