//! A figure drawn with characters: points with Braille dots, two wide and four high a character;
//! bars with eighths of blocks.

use super::svg::written;
use super::{Axis, Data, Plot};
use crate::text::wrap;

/// Lines that a figure is high, without its axis.
const HEIGHT: usize = 12;
/// Columns left of the figure, the axis among them.
const GUTTER: usize = 9;
/// Lines across a staircase at most.
const MOST_RULES: usize = 4;
const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

impl Plot {
    /// The figure in lines of at most `width` characters (at least 40), its title above and its
    /// caption below.
    #[must_use]
    pub fn terminal(&self, width: usize) -> String {
        let width = width.max(40);
        let columns = width - GUTTER;
        let mut grid = Grid::new(columns);
        match &self.data {
            Data::Points(points) => self.scatter(&mut grid, points),
            Data::Bars {
                first,
                width,
                blank,
                counts,
            } => self.bars(&mut grid, *first, *width, *blank, counts),
        }
        let mut out = format!("{}\n", self.title);
        for (at, line) in grid.lines().enumerate() {
            let height = match at {
                0 => self.up.to,
                at if at == HEIGHT / 2 => f64::midpoint(self.up.from, self.up.to),
                at if at == HEIGHT - 1 => self.up.from,
                _ => f64::NAN,
            };
            let label = if height.is_finite() {
                rounded(height, &self.up)
            } else {
                String::new()
            };
            out += format!("{label:>7} │{line}").trim_end();
            out.push('\n');
        }
        out += &self.axis(columns);
        for line in wrap(&self.caption, width) {
            out += &line;
            out.push('\n');
        }
        out
    }

    fn scatter(&self, grid: &mut Grid, points: &[(f64, f64)]) {
        // Lines are there to count steps by, and points to be seen.
        let every = self.levels.len().div_ceil(MOST_RULES).max(1);
        for &level in self.levels.iter().step_by(every) {
            if let Some(row) = place(level, &self.up, HEIGHT) {
                grid.rule(HEIGHT - 1 - row);
            }
        }
        for &(x, y) in points {
            let dots = (
                place(x, &self.across, 2 * grid.columns),
                place(y, &self.up, 4 * HEIGHT),
            );
            if let (Some(x), Some(y)) = dots {
                grid.dot(x, 4 * HEIGHT - 1 - y);
            }
        }
    }

    fn bars(&self, grid: &mut Grid, first: f64, width: f64, blank: f64, counts: &[u64]) {
        let mut heights = vec![0.0_f64; grid.columns];
        let columns = grid.columns as f64;
        let column =
            |x: f64| (x - self.across.from) / (self.across.to - self.across.from) * columns;
        // Columns are coarse: what is left blank beside narrow bars would be uneven.
        let blank = if column(first + width) - column(first) < 4.0 {
            0.0
        } else {
            blank
        };
        for (at, &count) in counts.iter().enumerate() {
            let side = |share: f64| column(first + width * (at as f64 + share));
            let (from, to) = (side(blank), side(1.0 - blank));
            // Whole columns, at least one, and no two bars in one where there is room.
            let from = from.round().clamp(0.0, columns - 1.0) as usize;
            let to = (to.round().clamp(0.0, columns) as usize).max(from + 1);
            for height in &mut heights[from..to] {
                *height = height.max(count as f64);
            }
        }
        for (column, &height) in heights.iter().enumerate() {
            // What was seen at all is seen.
            let eighths = (height / self.up.to * (8 * HEIGHT) as f64).round() as usize;
            grid.bar(column, if height > 0.0 { eighths.max(1) } else { 0 });
        }
    }

    /// The axis with the places of levels, median and band, then numbers, then what it counts.
    fn axis(&self, columns: usize) -> String {
        let mut line = vec!['─'; columns];
        let vertical = matches!(self.data, Data::Bars { .. });
        for level in self.levels.iter().filter(|_| vertical) {
            if let Some(column) = place(*level, &self.across, columns) {
                line[column] = '┴';
            }
        }
        let mut out = format!("{:>7} └{}\n", "", line.iter().collect::<String>());
        if let Some(marks) = self.marks(columns) {
            out += format!("{:GUTTER$}{marks}", "").trim_end();
            out.push('\n');
        }
        let numbers = [
            self.across.from,
            f64::midpoint(self.across.from, self.across.to),
            self.across.to,
        ]
        .map(|at| rounded(at, &self.across));
        let room = columns.saturating_sub(numbers[0].chars().count() + numbers[2].chars().count());
        out += &format!(
            "{:GUTTER$}{}{:^room$}{}\n",
            "", numbers[0], numbers[1], numbers[2]
        );
        out += format!("{:GUTTER$}{:^columns$}", "", self.across.label).trim_end();
        out.push('\n');
        out
    }

    fn marks(&self, columns: usize) -> Option<String> {
        let median = place(self.median?, &self.across, columns)?;
        let mut marks = vec![' '; columns];
        if let Some((from, to)) = self.band
            && let (Some(from), Some(to)) = (
                place(from, &self.across, columns),
                place(to, &self.across, columns),
            )
        {
            marks[from..=to].fill('╌');
            (marks[from], marks[to]) = ('├', '┤');
        }
        marks[median] = '▲';
        let text: String = marks.into_iter().collect();
        // Where there is room, it says what it is.
        let end = text.trim_end().chars().count();
        let legend = if self.band.is_some() {
            " median ± resolution"
        } else {
            " median"
        };
        let fits = end + legend.chars().count() <= columns;
        Some(if fits {
            format!("{}{legend}", text.trim_end())
        } else {
            text
        })
    }
}

/// Which of `places` equal parts of an axis `value` lies in.
fn place(value: f64, axis: &Axis, places: usize) -> Option<usize> {
    let share = (value - axis.from) / (axis.to - axis.from);
    (0.0..=1.0)
        .contains(&share)
        .then(|| ((share * places as f64) as usize).min(places - 1))
}

/// A number on the axis, at most seven characters long where that is possible.
fn rounded(value: f64, axis: &Axis) -> String {
    let text = written(value, axis);
    if text.chars().count() <= 7 {
        text
    } else {
        format!("{value:.1e}")
    }
}

/// Characters in rows, the highest first.
struct Grid {
    columns: usize,
    /// Braille dots of each cell, or what is drawn where there are none.
    dots: Vec<u8>,
    drawn: Vec<char>,
}

impl Grid {
    fn new(columns: usize) -> Self {
        Self {
            columns,
            dots: vec![0; columns * HEIGHT],
            drawn: vec![' '; columns * HEIGHT],
        }
    }

    fn rule(&mut self, row: usize) {
        self.drawn[row * self.columns..(row + 1) * self.columns].fill('┈');
    }

    /// Sets a dot, counted from the upper left corner.
    fn dot(&mut self, x: usize, y: usize) {
        /// The bit of each dot (Unicode chapter 21.1): four rows of two.
        const BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
        self.dots[y / 4 * self.columns + x / 2] |= BITS[y % 4][x % 2];
    }

    fn bar(&mut self, column: usize, eighths: usize) {
        for row in 0..HEIGHT {
            let filled = eighths.saturating_sub(8 * row).min(8);
            self.drawn[(HEIGHT - 1 - row) * self.columns + column] = BARS[filled];
        }
    }

    fn lines(&self) -> impl Iterator<Item = String> {
        let cell = |(&dots, &drawn): (&u8, &char)| match dots {
            0 => drawn,
            dots => char::from_u32(0x2800 + u32::from(dots)).unwrap_or(drawn),
        };
        self.dots
            .chunks(self.columns)
            .zip(self.drawn.chunks(self.columns))
            .map(move |(dots, drawn)| dots.iter().zip(drawn).map(cell).collect())
    }
}
