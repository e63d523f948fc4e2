//! Shapes of few parameters that explain cells: one cost, one with a tail, two costs, two with tails.

use super::cells::Cells;
use crate::analysis::moments::Moments;

/// Kinds of shapes: one cost, one with a tail, two costs, two with tails.
pub(super) const KINDS: usize = 4;

/// Up to here a single cost is all that the cells ask for.
pub(super) const ONE_COST_SURPRISE: f64 = 6.0;

/// The kind that explains most for its parameters; `surprises` may be sums over many sets of samples.
#[must_use]
pub fn cheapest(surprises: &[f64; KINDS], sets: usize) -> usize {
    // Each further parameter has to earn its place in every set, clearly, as phases are never quite random.
    let price = |kind: &usize| surprises[*kind] * (1.0 + 0.3 * *kind as f64) + 5.0 * (*kind * sets) as f64;
    (0..KINDS).min_by(|a, b| price(a).total_cmp(&price(b))).unwrap_or_default()
}

/// Two costs with the same exponential tail: levels in steps from the first cell of the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mixture {
    origin: f64,
    /// The places of the two costs.
    place: [f64; 2],
    /// The weight of the second.
    weight: f64,
    /// The mean of the tail, in steps.
    pub(super) tail: f64,
}

impl Mixture {
    /// The simplest mixture that explains every cell of the window within its statistical error. `moments` are
    /// what batches know of the variation, in steps.
    pub(super) fn fit(cells: &Cells, moments: Moments, kind: Option<usize>, own: bool) -> Option<Self> {
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
            return Some(one.varied(moments, 2.0, &observed, samples));
        }
        if steady || one.surprise(&observed, samples) <= ONE_COST_SURPRISE {
            let most = if own { 1.0 } else { 0.5 };
            return Some(if alone { one.varied(moments, most, &observed, samples) } else { one });
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
    pub(super) fn surprises(mixtures: &[Self; KINDS], observed: &[f64], samples: f64) -> [f64; KINDS] {
        let telling = telling(observed);
        std::array::from_fn(|kind| {
            let told = kind < 2 || kind < telling;
            if told { mixtures[kind].surprise(observed, samples) } else { f64::INFINITY }
        })
    }

    /// The best mixture of each kind: one cost, one with a tail, two costs, two with tails.
    pub(super) fn of_each_kind(origin: f64, observed: &[f64]) -> [Self; KINDS] {
        let two = Self::two_costs(origin, observed);
        let both = Self { tail: 0.2, ..two }.refined(observed, [0.2, 0.2, 0.05, 0.15]);
        [Self::one_cost(origin, observed), Self::one_tailed_cost(origin, observed), two, both]
    }

    /// How unlikely the cells are: squared errors over the variance of a share, summed.
    pub(super) fn surprise(&self, observed: &[f64], samples: f64) -> f64 {
        let each = observed.iter().enumerate().map(|(cell, share)| {
            let variance = (share * (1.0 - share)).max(0.01) / samples;
            (self.cell(cell as f64) - share).powi(2) / variance
        });
        each.sum()
    }

    /// A single cost may vary inside its cell, unseen: the mean stays, deviation and skewness are as known, as far as the cells
    /// bear it: calls in a row may vary together, and then batches vary more than single calls do.
    fn varied(self, moments: Moments, most: f64, observed: &[f64], samples: f64) -> Self {
        /// Parts that the deviation is reduced by, one after the other.
        const PARTS: u32 = 20;
        let borne = self.largest_error(observed).max(0.006 + 1.0 / samples.sqrt());
        let deviation = moments.deviation.min(most);
        let parts = (1..=PARTS).rev().map(|part| deviation * f64::from(part) / f64::from(PARTS));
        let varied = parts.map(|deviation| self.with(Moments { deviation, ..moments }));
        varied.into_iter().find(|mixture| mixture.largest_error(observed) <= borne).unwrap_or(self)
    }

    /// What varies comes on top of a floor, so it is a tail, or where the skewness says so, a second cost.
    fn with(self, moments: Moments) -> Self {
        let deviation = moments.deviation;
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
    pub(super) fn one_cost(origin: f64, observed: &[f64]) -> Self {
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

    pub(super) fn cumulative(&self, level: f64) -> f64 {
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
