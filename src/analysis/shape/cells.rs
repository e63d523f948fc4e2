//! Samples as means of the cumulative distribution over cells of one step, and the window of cells that shapes are fitted to.

use crate::analysis::statistics::quantile;

/// Most cells that a parametric shape is fitted to; beyond, interpolation is finer than any of them.
const MOST_CELLS: usize = 24;

/// Means of the cumulative distribution over cells of one step.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    /// The level of every sample, sorted.
    pub(super) levels: Vec<f64>,
    /// The first cell of the window that shapes are fitted to, and how many it has.
    pub(super) first: f64,
    pub(super) width: usize,
    /// Shares below the window and up to its end.
    pub(super) below: f64,
    pub(super) above: f64,
}

impl Cells {
    /// The cells of the window, as shares of what lies in it. `None` where it is wider than any shape that is fitted, or so
    /// poor that it must be a stretch of a wide distribution.
    pub(super) fn observed(&self) -> Option<Vec<f64>> {
        let inside = self.above - self.below;
        (self.width <= MOST_CELLS && inside >= 0.25).then(|| {
            let level = |cell: usize| self.first + cell as f64;
            (0..self.width).map(|cell| (self.share(level(cell)) - self.below) / inside).collect()
        })
    }

    pub(super) fn samples(&self) -> f64 {
        self.levels.len() as f64
    }

    /// The window reaches from the median to where three cells in a row are all but empty.
    pub(super) fn of(levels: Vec<f64>) -> Option<Self> {
        let middle = quantile(&levels, 0.5)?.floor();
        let cells = Self { levels, first: middle, width: 1, below: 0.0, above: 1.0 };
        // One empty cell more, which says that nothing lies there.
        let first = cells.border(middle, -1.0) - 1.0;
        let last = cells.border(middle, 1.0);
        let (below, above) = (cells.share(first - 1.0), cells.share(last));
        Some(Self { first, width: (last - first) as usize + 1, below, above, ..cells })
    }

    pub(super) fn border(&self, middle: f64, direction: f64) -> f64 {
        const EMPTY: f64 = 0.002;
        let (mut border, mut level, mut gap) = (middle, middle, 0);
        // One cell more than a shape is fitted to is as good as all of them.
        while gap < 3 && (level - middle).abs() <= MOST_CELLS as f64 {
            level += direction;
            if self.share(level) - self.share(level - 1.0) < EMPTY {
                gap += 1;
            } else {
                (border, gap) = (level, 0);
            }
        }
        border
    }

    /// The share of samples at or below a level: the mean of the cumulative distribution over the cell above it.
    pub(super) fn share(&self, level: f64) -> f64 {
        self.levels.partition_point(|&other| other <= level) as f64 / self.levels.len() as f64
    }

    pub(super) fn in_window(&self, level: f64) -> bool {
        level >= self.first - 1.0 && level <= self.first + self.width as f64
    }

    /// Linear between the middles of the cells.
    pub(super) fn interpolated(&self, level: f64) -> f64 {
        let below = (level - 0.5).floor();
        let share = self.share(below);
        share + (self.share(below + 1.0) - share) * (level - 0.5 - below)
    }
}
