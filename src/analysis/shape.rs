//! The distribution of single invocations, seen through a reference that moves in steps.
//!
//! With steps of length `s` and a random phase, an invocation of length `x` shows as one of the two neighbouring
//! multiples of `s`, the nearer one more often. Counted in steps, the share of samples at or below level `k` is then
//! exactly the mean of the cumulative distribution `F` over the cell `[k, k + 1]`. So quantised samples tell cell means of
//! `F`, without bias, however coarse the reference is. What `F` does inside a cell they do not tell; there the simplest shape
//! that explains all cells is taken: one cost, one cost with an exponential tail, two costs, two with tails. Where
//! none does, `F` is interpolated between the middles of the cells.

use crate::analysis::moments::Moments;
use crate::analysis::statistics::{mean, quantile, sorted};

/// Most cells that a parametric shape is fitted to; beyond, interpolation is finer than any of them.
const MOST_CELLS: usize = 24;

/// Kinds of shapes: one cost, one with a tail, two costs, two with tails.
const KINDS: usize = 4;

/// Up to here a single cost is all that the cells ask for.
const ONE_COST_SURPRISE: f64 = 6.0;

/// The kind that explains most for its parameters; `surprises` may be sums over many sets of samples.
#[must_use]
pub fn cheapest(surprises: &[f64; KINDS], sets: usize) -> usize {
    // Each further parameter has to earn its place in every set, clearly, as phases are never quite random.
    let price = |kind: &usize| surprises[*kind] * (1.0 + 0.3 * *kind as f64) + 5.0 * (*kind * sets) as f64;
    (0..KINDS).min_by(|a, b| price(a).total_cmp(&price(b))).unwrap_or_default()
}

/// The second and third central moments of all but the rare interruptions, in ticks squared and cubed. `None` without
/// samples.
#[must_use]
pub fn core_moments(samples: &[i64], step: f64) -> Option<[f64; 2]> {
    let levels = levels(samples, step);
    let cut = rare_above(&levels)?;
    let core = &levels[..levels.partition_point(|&level| level <= cut)];
    let centre = mean(core)?;
    let moment =
        |order: i32| core.iter().map(|level| (level - centre).powi(order)).sum::<f64>() / core.len() as f64;
    Some([moment(2) * step * step, moment(3) * step * step * step])
}

/// Samples that a share is counted from; with fewer it is taken from the density.
const FEWEST_WITHIN: f64 = 60.0;

/// The shape of the distribution of single invocations, in ticks of whatever measured them.
#[derive(Clone, Debug)]
pub struct Shape {
    step: f64,
    core_mean: f64,
    core_variance: f64,
    skewness_length: f64,
    rare: f64,
    cells: Cells,
    fitted: Option<Mixture>,
}

impl Shape {
    /// How unlikely samples make each kind of shape, least to most complicated. `None` where the samples fit none of them
    /// to begin with, or none but the simplest is needed.
    #[must_use]
    pub fn surprises(samples: &[i64], step: f64) -> Option<[f64; KINDS]> {
        let cells = Cells::of(levels(samples, step))?;
        let observed = cells.observed()?;
        if Mixture::one_cost(cells.first, &observed).surprise(&observed, cells.samples()) <= ONE_COST_SURPRISE
        {
            return None;
        }
        Some(Mixture::surprises(&Mixture::of_each_kind(cells.first, &observed), &observed, cells.samples()))
    }

    /// From samples in ticks of a reference that moves in steps of `step` ticks. `moments` are those of
    /// an invocation as batches tell them, the deviation in steps; `kind` is the kind of shape that more
    /// samples than these agree on, by its place among [`surprises`](Self::surprises); `own` that the samples are the timer's
    /// own. `None` without samples.
    #[must_use]
    pub fn of(samples: &[i64], step: f64, moments: Moments, kind: Option<usize>, own: bool) -> Option<Self> {
        let levels = levels(samples, step);
        let cut = rare_above(&levels)?;
        let core = levels.partition_point(|&level| level <= cut);
        let core_mean = mean(&levels[..core])?;
        let cubes: f64 = levels[..core].iter().map(|level| (level - core_mean).powi(3)).sum();
        let rare = 1.0 - core as f64 / levels.len() as f64;
        let squares: f64 = levels[..core].iter().map(|level| (level - core_mean).powi(2)).sum();
        let cells = Cells::of(levels)?;
        Some(Self {
            step,
            core_mean,
            core_variance: squares / core as f64,
            skewness_length: if squares > 0.0 { cubes / squares } else { 0.0 },
            rare,
            fitted: Mixture::fit(&cells, moments, kind, own),
            cells,
        })
    }

    /// The share of rare interruptions among samples. `None` without samples.
    #[must_use]
    pub fn rare_among(samples: &[i64], step: f64) -> Option<f64> {
        let levels = levels(samples, step);
        let cut = rare_above(&levels)?;
        Some(1.0 - levels.partition_point(|&level| level <= cut) as f64 / levels.len() as f64)
    }

    /// The median, in ticks.
    #[must_use]
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// The cost that this share of invocations does not exceed, in ticks.
    #[must_use]
    pub fn quantile(&self, probability: f64) -> f64 {
        let levels = &self.cells.levels;
        let (mut low, mut high) = (levels[0] - 2.0, levels[levels.len() - 1] + 2.0);
        for _ in 0..64 {
            let middle = f64::midpoint(low, high);
            if self.share_below(middle) < probability { low = middle } else { high = middle }
        }
        high * self.step
    }

    /// The mean of all but the rare interruptions, in ticks. Quantisation does not move it.
    #[must_use]
    pub fn core_mean(&self) -> f64 {
        self.core_mean * self.step
    }

    /// The variance of all but the rare interruptions, in ticks squared, quantisation included.
    #[must_use]
    pub fn core_variance(&self) -> f64 {
        self.core_variance * self.step * self.step
    }

    /// The third central moment over the second, of all but the rare interruptions, in ticks: zero for a symmetric
    /// distribution, the length of the tail for a skewed one.
    #[must_use]
    pub fn skewness_length(&self) -> f64 {
        self.skewness_length * self.step
    }

    /// The share of invocations that are rare interruptions, far above all others.
    #[must_use]
    pub fn rare(&self) -> f64 {
        self.rare
    }

    /// The share of invocations within `reach` ticks of the median, both ends included.
    #[must_use]
    pub fn share_within(&self, reach: f64) -> f64 {
        let (median, reach) = (self.median() / self.step, reach / self.step);
        let below = median - reach;
        let above = median + reach;
        let share = self.share_below(above + self.slack(above)) - self.share_below(below - self.slack(below));
        let samples = self.cells.levels.len() as f64;
        if self.fitted.is_some() || share * samples >= FEWEST_WITHIN {
            return share.clamp(1.0 / samples, 1.0);
        }
        // Too few to count: the density around the median, from as far as it takes, times the reach.
        let mut wider = reach;
        let mut within = share;
        while within * samples < FEWEST_WITHIN && within < 0.5 {
            wider *= 1.5;
            within = self.share_below(median + wider) - self.share_below(median - wider);
        }
        (within * reach / wider).clamp(1.0 / samples, 1.0)
    }

    /// How far a single cost may lie from its fitted place, in steps. A smooth distribution needs none.
    fn slack(&self, level: f64) -> f64 {
        match self.fitted {
            Some(mixture) if self.cells.in_window(level) => {
                if mixture.tail > 0.0 {
                    0.0
                } else {
                    0.03
                }
            }
            _ => 0.0,
        }
    }

    fn share_below(&self, level: f64) -> f64 {
        match &self.fitted {
            Some(mixture) if self.cells.in_window(level) => {
                self.cells.below + (self.cells.above - self.cells.below) * mixture.cumulative(level)
            }
            _ => self.cells.interpolated(level),
        }
    }
}

fn levels(samples: &[i64], step: f64) -> Vec<f64> {
    sorted(&samples.iter().map(|&ticks| (ticks as f64 / step).round()).collect::<Vec<_>>())
}

/// The level above which samples are rare interruptions and not the timer's own way of being slow.
fn rare_above(levels: &[f64]) -> Option<f64> {
    let (middle, high) = (quantile(levels, 0.5)?, quantile(levels, 0.98)?);
    Some(high + 2.0 * (high - middle) + 3.0)
}

/// Means of the cumulative distribution over cells of one step.
#[derive(Clone, Debug)]
struct Cells {
    /// The level of every sample, sorted.
    levels: Vec<f64>,
    /// The first cell of the window that shapes are fitted to, and how many it has.
    first: f64,
    width: usize,
    /// Shares below the window and up to its end.
    below: f64,
    above: f64,
}

impl Cells {
    /// The cells of the window, as shares of what lies in it. `None` where it is wider than any shape that is fitted, or so
    /// poor that it must be a stretch of a wide distribution.
    fn observed(&self) -> Option<Vec<f64>> {
        let inside = self.above - self.below;
        (self.width <= MOST_CELLS && inside >= 0.25).then(|| {
            let level = |cell: usize| self.first + cell as f64;
            (0..self.width).map(|cell| (self.share(level(cell)) - self.below) / inside).collect()
        })
    }

    fn samples(&self) -> f64 {
        self.levels.len() as f64
    }

    /// The window reaches from the median to where three cells in a row are all but empty.
    fn of(levels: Vec<f64>) -> Option<Self> {
        let middle = quantile(&levels, 0.5)?.floor();
        let cells = Self { levels, first: middle, width: 1, below: 0.0, above: 1.0 };
        // One empty cell more, which says that nothing lies there.
        let first = cells.border(middle, -1.0) - 1.0;
        let last = cells.border(middle, 1.0);
        let (below, above) = (cells.share(first - 1.0), cells.share(last));
        Some(Self { first, width: (last - first) as usize + 1, below, above, ..cells })
    }

    fn border(&self, middle: f64, direction: f64) -> f64 {
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
    fn share(&self, level: f64) -> f64 {
        self.levels.partition_point(|&other| other <= level) as f64 / self.levels.len() as f64
    }

    fn in_window(&self, level: f64) -> bool {
        level >= self.first - 1.0 && level <= self.first + self.width as f64
    }

    /// Linear between the middles of the cells.
    fn interpolated(&self, level: f64) -> f64 {
        let below = (level - 0.5).floor();
        let share = self.share(below);
        share + (self.share(below + 1.0) - share) * (level - 0.5 - below)
    }
}

/// Two costs with the same exponential tail: levels in steps from the first cell of the window.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Mixture {
    origin: f64,
    /// The places of the two costs.
    place: [f64; 2],
    /// The weight of the second.
    weight: f64,
    /// The mean of the tail, in steps.
    tail: f64,
}

impl Mixture {
    /// The simplest mixture that explains every cell of the window within its statistical error. `moments` are
    /// what batches know of the variation, in steps.
    fn fit(cells: &Cells, moments: Moments, kind: Option<usize>, own: bool) -> Option<Self> {
        let observed = cells.observed()?;
        let samples = cells.samples();
        let one = Self::one_cost(cells.first, &observed);
        // Where the unit truncates a still finer counter, a single cost shows at more levels than two; what is known of its
        // deviation says more than they do.
        let steady = own && cells.width <= 8 && moments.deviation < 1.0;
        // So few cells cannot tell one shape from another, but batches can, unless there are other modes as well.
        let alone = cells.above - cells.below >= 0.98;
        // Nor do three, where phases lock and the cost hardly varies.
        let few = telling(&observed) <= 2 || (telling(&observed) == 3 && moments.deviation < 0.3);
        if alone && !own && few {
            return Some(one.with(moments, 2.0));
        }
        if steady || one.surprise(&observed, samples) <= ONE_COST_SURPRISE {
            return Some(if alone { one.with(moments, if own { 1.0 } else { 0.5 }) } else { one });
        }
        let mixtures = Self::of_each_kind(cells.first, &observed);
        let explains = |mixture: &Self| mixture.largest_error(&observed) <= 0.006 + 1.0 / samples.sqrt();
        if let Some(agreed) = kind.map(|kind| mixtures[kind]).filter(explains) {
            return Some(agreed);
        }
        let surprises = Self::surprises(&mixtures, &observed, samples);
        Some(mixtures[cheapest(&surprises, 1)]).filter(explains)
    }

    /// How unlikely the cells are under each of them; a kind with more parameters than there are cells between none and
    /// all explains nothing.
    fn surprises(mixtures: &[Self; KINDS], observed: &[f64], samples: f64) -> [f64; KINDS] {
        let telling = telling(observed);
        std::array::from_fn(|kind| {
            let told = kind < 2 || kind < telling;
            if told { mixtures[kind].surprise(observed, samples) } else { f64::INFINITY }
        })
    }

    /// The best mixture of each kind: one cost, one with a tail, two costs, two with tails.
    fn of_each_kind(origin: f64, observed: &[f64]) -> [Self; KINDS] {
        let two = Self::two_costs(origin, observed);
        let both = Self { tail: 0.2, ..two }.refined(observed, [0.2, 0.2, 0.05, 0.15]);
        [Self::one_cost(origin, observed), Self::one_tailed_cost(origin, observed), two, both]
    }

    /// How unlikely the cells are: squared errors over the variance of a share, summed.
    fn surprise(&self, observed: &[f64], samples: f64) -> f64 {
        let each = observed.iter().enumerate().map(|(cell, share)| {
            let variance = (share * (1.0 - share)).max(0.01) / samples;
            (self.cell(cell as f64) - share).powi(2) / variance
        });
        each.sum()
    }

    /// A single cost may vary inside its cell, unseen: the mean stays, deviation and skewness are as known. What varies comes
    /// on top of a floor, so it is a tail, or where the skewness says so, a second cost.
    fn with(self, moments: Moments, most: f64) -> Self {
        let deviation = moments.deviation.min(most);
        match moments.skewness {
            Some(skewness) if skewness < 1.7 => {
                // Two costs: skewness = (1 − 2w) / √(w (1 − w)) for the weight w of the dearer one.
                let weight = 0.5 - skewness / (2.0 * (4.0 + skewness * skewness).sqrt());
                let apart = deviation / (weight * (1.0 - weight)).sqrt();
                let first = self.place[0] - weight * apart;
                Self { place: [first, first + apart], weight, ..self }
            }
            _ => self.with_tail(deviation),
        }
    }

    fn with_tail(self, tail: f64) -> Self {
        Self { place: self.place.map(|place| place - tail), tail, ..self }
    }

    /// The place where a single cost explains the cells best: the mean.
    fn one_cost(origin: f64, observed: &[f64]) -> Self {
        let place = observed.iter().map(|share| 1.0 - share).sum::<f64>();
        Self { origin, place: [place, place], weight: 0.0, tail: 0.0 }
    }

    fn one_tailed_cost(origin: f64, observed: &[f64]) -> Self {
        let centre = Self::one_cost(origin, observed);
        let mut best = centre;
        let mut least = f64::INFINITY;
        let mut tail = 0.05;
        while tail < observed.len() as f64 {
            // The mean is known, so the tail says where its beginning lies.
            for shift in -4..=4_i32 {
                let place = centre.place[0] - tail + 0.1 * f64::from(shift);
                let candidate = Self { place: [place, place], tail, ..centre };
                let error = candidate.squared_error(observed);
                if error < least {
                    (best, least) = (candidate, error);
                }
            }
            tail *= 1.3;
        }
        best.refined(observed, [0.05, 0.0, 0.0, 0.15 * best.tail])
    }

    fn two_costs(origin: f64, observed: &[f64]) -> Self {
        const GRID: f64 = 0.125;
        let places = (observed.len() as f64 / GRID) as usize + 8;
        let atom: Vec<Vec<f64>> = (0..places)
            .map(|index| {
                (0..observed.len())
                    .map(|cell| tailed_cell(cell as f64, index as f64 * GRID - 0.5, 0.0))
                    .collect()
            })
            .collect();
        let mut best = Self::one_cost(origin, observed);
        let mut least = f64::INFINITY;
        for low in 0..places {
            for high in low + 1..places {
                // The weight that explains the cells best has a closed form.
                let (mut product, mut square) = (0.0, 0.0);
                for ((first, second), share) in atom[low].iter().zip(&atom[high]).zip(observed) {
                    product += (share - first) * (second - first);
                    square += (second - first) * (second - first);
                }
                let weight = if square > 0.0 { (product / square).clamp(0.0, 1.0) } else { 0.0 };
                let mut error = 0.0;
                for ((first, second), share) in atom[low].iter().zip(&atom[high]).zip(observed) {
                    error += (first + weight * (second - first) - share).powi(2);
                }
                if error < least {
                    least = error;
                    best.place = [low as f64 * GRID - 0.5, high as f64 * GRID - 0.5];
                    best.weight = weight;
                }
            }
        }
        best.refined(observed, [0.06, 0.06, 0.03, 0.0])
    }

    /// Coordinate search from here with shrinking strides for the two places, the weight and the tail.
    fn refined(self, observed: &[f64], mut strides: [f64; 4]) -> Self {
        let mut best = self;
        let mut least = best.squared_error(observed);
        for _ in 0..60 {
            let mut improved = false;
            for (parameter, stride) in strides.into_iter().enumerate().filter(|(_, stride)| *stride > 0.0) {
                for delta in [-stride, stride] {
                    let candidate = best.moved(parameter, delta);
                    let error = candidate.squared_error(observed);
                    if error < least {
                        (best, least, improved) = (candidate, error, true);
                    }
                }
            }
            if !improved {
                strides = strides.map(|stride| stride / 2.0);
            }
        }
        best
    }

    fn moved(mut self, parameter: usize, delta: f64) -> Self {
        match parameter {
            0 if self.weight == 0.0 => self.place = [self.place[0] + delta; 2],
            0 => self.place[0] += delta,
            1 => self.place[1] += delta,
            2 => self.weight = (self.weight + delta).clamp(0.0, 1.0),
            _ => self.tail = (self.tail + delta).max(0.0),
        }
        self
    }

    fn squared_error(&self, observed: &[f64]) -> f64 {
        observed.iter().enumerate().map(|(cell, share)| (self.cell(cell as f64) - share).powi(2)).sum()
    }

    fn largest_error(&self, observed: &[f64]) -> f64 {
        observed
            .iter()
            .enumerate()
            .map(|(cell, share)| (self.cell(cell as f64) - share).abs())
            .fold(0.0, f64::max)
    }

    /// Mean of the cumulative distribution over the cell.
    fn cell(&self, cell: f64) -> f64 {
        let first = tailed_cell(cell, self.place[0], self.tail);
        if self.weight == 0.0 {
            return first;
        }
        first + self.weight * (tailed_cell(cell, self.place[1], self.tail) - first)
    }

    fn cumulative(&self, level: f64) -> f64 {
        let one = |place: f64| {
            let above = level - self.origin - place;
            if above < 0.0 {
                0.0
            } else if self.tail == 0.0 {
                1.0
            } else {
                1.0 - (-above / self.tail).exp()
            }
        };
        (1.0 - self.weight) * one(self.place[0]) + self.weight * one(self.place[1])
    }
}

/// Cells that hold neither none nor all: as many facts about the shape.
fn telling(observed: &[f64]) -> usize {
    observed.iter().filter(|share| (0.003..=0.997).contains(*share)).count()
}

/// Mean over `[cell, cell + 1]` of the cumulative distribution of a cost at `place` with an exponential tail.
fn tailed_cell(cell: f64, place: f64, tail: f64) -> f64 {
    let from = cell.max(place);
    let to = cell + 1.0;
    if from >= to {
        return 0.0;
    }
    if tail == 0.0 {
        return to - from;
    }
    (to - from) - tail * ((-(from - place) / tail).exp() - (-(to - place) / tail).exp())
}
