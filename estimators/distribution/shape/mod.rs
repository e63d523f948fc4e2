//! The distribution of single invocations, seen through a reference that moves in steps.
//!
//! With steps of length `s` and a random phase, an invocation of length `x` shows as one of the two
//! neighbouring multiples of `s`, the nearer one more often. Counted in steps, the share of samples
//! at or below level `k` is then exactly the mean of the cumulative distribution `F` over the cell
//! `[k, k + 1]`. So quantised samples tell cell means of `F`, without bias, however coarse the
//! reference is. What `F` does inside a cell they do not tell; there a law is taken that explains
//! all cells: one cost that varies, or two. Where neither does, `F` is interpolated between the
//! middles of the cells. Which laws explain them too is told beside: what cannot be told belongs
//! into the interval.

mod fit;
mod law;

use std::rc::Rc;

use self::fit::{Data, Fit};
use self::law::Law;
use crate::distribution::bounds::{self, Open, ShownCalls};
use crate::distribution::cells::{Cells, Cluster, core_moments};
use crate::distribution::moments::Moments;
use crate::statistics::{bisected, mean};

/// What the distribution of single invocations is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LawKind {
    /// One cost that varies, or does not.
    One,
    /// Two costs that do not vary.
    Two,
    /// Two costs, each of which varies.
    Blurred,
    /// Neither: interpolated.
    Free,
}

/// The kinds that have a law, in the order of the fits.
const LAWS: [LawKind; KINDS] = [LawKind::One, LawKind::Two, LawKind::Blurred];
/// How many of them there are.
const KINDS: usize = 3;
/// Their parameters: place, normal blur, tail; two places and a weight; all of these.
/// *Computed*: counted.
const PARAMETERS: [f64; KINDS] = [3.0, 3.0, 5.0];
/// What a parameter costs where laws are asked whether they do as well: by so much more than chance
/// it has to lower the misfit (Akaike). *Chance*.
const CHANCE: f64 = 2.0;
/// A law that is worse by less than this, parameters paid, explains the samples as well: twice the
/// logarithm of 20. *Chance*.
const AS_GOOD: f64 = 6.0;
/// Processes whose evidence against a law counts in full.
/// *Judgement*: no law is quite true.
const MOST_EVIDENCE: f64 = 5.0;
/// A variance in squared steps from which on interpolation is as good as a law.
/// *Computed*: steps add a sixth, a twelfth of it.
pub const FINE: f64 = 2.0;
/// Samples that a share is counted from; with fewer it is taken from the density.
/// *Chance*: known to 13 %.
const FEWEST_WITHIN: f64 = 60.0;
/// What a parameter costs in every process where one law is chosen: half as much again. Two costs
/// pay for one parameter more than they have. *Judgement*.
const PRICE: f64 = 3.0;
/// What two costs have to explain besides, over all processes.
/// *Default*: moves no figure; a factor of 150 in likelihood.
const EVIDENCE: f64 = 10.0;
/// A law explains the samples where its misfit is at most this many times what there is to be
/// explained. *Default*: moves no figure.
const MOST_MISFIT: f64 = 4.0;
/// What the place of a law is off by, in steps, beyond chance.
/// *Judgement*: no law is quite true.
const MODEL: f64 = 0.005;
/// What interpolation within a cell is off by, in steps, as a standard deviation: at most 0.09 for
/// a single cost; more for two in one cell. *Computed*.
const INTERPOLATION: f64 = 0.1;

/// What the samples of one process may be taken for.
#[derive(Clone, Debug)]
pub struct Fits {
    step: f64,
    cells: Rc<Cells>,
    moments: Moments,
    laws: Option<[Fit; KINDS]>,
}

/// What the samples of all processes together are taken for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agreed {
    /// The kind that explains most for its parameters.
    pub kind: LawKind,
    /// Others that explain as much.
    pub as_well: Vec<LawKind>,
}

impl Fits {
    /// From samples in ticks of a timer that moves in steps of `step` ticks; `moments` are those of
    /// an invocation, in steps, `fitted` what of them laws have to have. `None` without samples.
    pub fn from_samples(
        samples: &[i64],
        step: f64,
        moments: Moments,
        fitted: Moments,
    ) -> Option<Self> {
        let cells = Cells::from_samples(samples, step)?;
        let laws = Data::new(&cells, fitted).map(|data| {
            if let Some(constant) = data.constant() {
                return [constant; KINDS];
            }
            let [two, blurred] = data.two();
            [data.one(), two, blurred].map(|fit| data.without_usual_skewness(fit))
        });
        Some(Self {
            step,
            cells: Rc::new(cells),
            moments,
            laws,
        })
    }

    /// What all processes agree on.
    pub fn agreed(all: &[Self]) -> Agreed {
        let laws: Option<Vec<&[Fit; KINDS]>> = all.iter().map(|fits| fits.laws.as_ref()).collect();
        let Some(laws) = laws.filter(|laws| !laws.is_empty()) else {
            return Agreed {
                kind: LawKind::Free,
                as_well: Vec::new(),
            };
        };
        let misfits: [f64; KINDS] =
            std::array::from_fn(|kind| laws.iter().map(|fits| fits[kind].misfit).sum());
        let processes = all.len() as f64;
        let score = |kind: LawKind, price: f64| {
            misfits[kind as usize] + price * processes * PARAMETERS[kind as usize]
        };
        // Two costs only where they explain more than one does.
        let price = |kind: LawKind| {
            score(kind, PRICE)
                + if kind == LawKind::One {
                    0.0
                } else {
                    PRICE * processes + EVIDENCE
                }
        };
        let best = LAWS
            .into_iter()
            .min_by(|a, b| price(*a).total_cmp(&price(*b)))
            .unwrap_or(LawKind::One);
        let explained: f64 = all
            .iter()
            .map(|fits| MOST_MISFIT * (fits.cells.significant_levels() as f64 + PARAMETERS[0]))
            .sum();
        if misfits[best as usize] > explained {
            return Agreed {
                kind: LawKind::Free,
                as_well: Vec::new(),
            };
        }
        let others = LAWS.into_iter().filter(|kind| *kind != best);
        // No law is quite true: what many processes hold against one is not evidence for another.
        let as_good = AS_GOOD * (processes / MOST_EVIDENCE).max(1.0);
        let as_well = others.filter(|kind| score(*kind, CHANCE) < score(best, CHANCE) + as_good);
        // Where it shows in many steps no law is needed.
        let free = all.iter().all(|fits| {
            fits.cells
                .main
                .as_ref()
                .is_some_and(|main| main.moments()[1] > FINE)
        });
        Agreed {
            kind: best,
            as_well: as_well.chain(free.then_some(LawKind::Free)).collect(),
        }
    }

    /// What is left open by what all processes show, whatever law it follows, `reach` in ticks.
    /// `None` where calls vary by so many steps that they show themselves.
    pub fn open(all: &[Self], reach: f64) -> Option<Open> {
        let step = all.first()?.step;
        let shown: Vec<ShownCalls> = all.iter().filter_map(Self::shown_calls).collect();
        if 2 * shown.len() < all.len() {
            None
        } else {
            bounds::open(&shown, reach / step)
        }
    }

    fn shown_calls(&self) -> Option<ShownCalls<'_>> {
        let main = self
            .cells
            .main
            .as_ref()
            .filter(|main| main.moments()[1] < FINE)?;
        Some(ShownCalls {
            cells: &self.cells,
            main,
            moments: self.moments,
        })
    }

    /// The distribution, if it is of this kind.
    pub fn shape(&self, kind: LawKind) -> Shape {
        let law = self
            .laws
            .as_ref()
            .and_then(|laws| laws.get(kind as usize))
            .map(|fit| fit.law);
        let simple = |cluster: &Cluster| {
            let [mean, second, third] = cluster.moments();
            let variance = (second - 1.0 / 6.0).max(0.0);
            Law::one(
                mean,
                variance.sqrt(),
                if variance > fit::VARIES {
                    third / variance.powf(1.5)
                } else {
                    0.0
                },
            )
        };
        let others = self.cells.others.iter().map(simple).enumerate().collect();
        Shape {
            step: self.step,
            cells: Rc::clone(&self.cells),
            law,
            others,
        }
    }
}

/// The distribution of single invocations, in ticks of the timer that shows them.
#[derive(Clone, Debug)]
pub struct Shape {
    step: f64,
    cells: Rc<Cells>,
    law: Option<Law>,
    /// Laws of the clusters apart from the main one, by their place.
    others: Vec<(usize, Law)>,
}

/// What a distribution is, in ticks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Described {
    /// The costs there are, each with its share of all invocations, the least first. Empty where
    /// they are no costs of which each varies around one place.
    pub modes: Vec<(f64, f64)>,
    /// Standard deviation around that of them that holds the median; of all but the rare ones where
    /// there are none.
    pub deviation: f64,
    /// The share of invocations far above all others.
    pub rare: f64,
}

impl Shape {
    /// How far the median lies above the mean of the cluster that holds it, in ticks.
    pub fn above_main(&self) -> Option<f64> {
        Some(self.median() - self.cells.main.as_ref()?.moments()[0] * self.step)
    }

    /// The median, in ticks.
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// The cost that this share of invocations does not exceed, in ticks.
    pub fn quantile(&self, probability: f64) -> f64 {
        let levels = &self.cells.levels;
        // A sample lies within a step of its cost.
        let all = (levels[0] - 1.0, levels[levels.len() - 1] + 1.0);
        let (_, high) = bisected(all, 64, |level| self.share_below(level) < probability);
        high * self.step
    }

    /// The same by interpolation, whatever the law: for what lies far out.
    pub fn interpolated_quantile(&self, probability: f64) -> f64 {
        Self {
            law: None,
            ..self.clone()
        }
        .quantile(probability)
    }

    /// The mean of all but the rare interruptions, in ticks. Quantisation does not move it.
    pub fn core_mean(&self) -> f64 {
        mean(self.cells.core()).unwrap_or(0.0) * self.step
    }

    /// The variance of all but the rare interruptions, in ticks squared, quantisation included.
    pub fn core_variance(&self) -> f64 {
        core_moments(&self.cells)[0] * self.step * self.step
    }

    /// The third central moment over the second, of all but the rare interruptions, in ticks.
    pub fn skewness_length(&self) -> f64 {
        let [second, third] = core_moments(&self.cells);
        if second > 0.0 {
            third / second * self.step
        } else {
            0.0
        }
    }

    /// The share of invocations that are rare interruptions, far above all others.
    pub fn rare(&self) -> f64 {
        1.0 - self.cells.core().len() as f64 / self.cells.samples()
    }

    /// What the median may be off by, in ticks, as a standard deviation: no law is quite true, and
    /// where none explains the samples it rests on interpolation.
    pub fn model_uncertainty(&self) -> f64 {
        if self.law.is_some() {
            return MODEL * self.step;
        }
        let median = self.median() / self.step;
        // The steeper the distribution, the more depends on where in the cell it rises.
        let rise = self.cells.interpolated(median + 0.5) - self.cells.interpolated(median - 0.5);
        INTERPOLATION * self.step * (2.0 * rise).min(1.0)
    }

    /// The share of invocations within `reach` ticks of the median, both ends included.
    pub fn share_within(&self, reach: f64) -> f64 {
        let (median, reach) = (self.median() / self.step, reach / self.step);
        let slack = self.slack();
        let share =
            self.share_below(median + reach + slack) - self.share_below(median - reach - slack);
        let samples = self.cells.samples();
        let nearest = FEWEST_WITHIN.min(samples / 4.0).max(2.0);
        if self.law.is_some() || share * samples >= nearest {
            return share.clamp(1.0 / samples, 1.0);
        }
        // Too few to count: the density around the median, from as far as its nearest samples lie
        // (Loftsgaarden and Quesenberry, Ann. Math. Stat. 36, 1965), times the reach.
        let around =
            |reach: f64| self.share_below(median + reach) - self.share_below(median - reach);
        let all = (
            reach,
            self.cells.levels[samples as usize - 1] - self.cells.levels[0] + 2.0,
        );
        let (_, high) = bisected(all, 50, |reach| around(reach) * samples < nearest);
        ((nearest - 1.0) / samples * reach / high).clamp(f64::EPSILON, 1.0)
    }

    /// What it is, in ticks.
    pub fn described(&self) -> Described {
        let rare = self.rare();
        let (Some(law), Some(main)) = (self.law, &self.cells.main) else {
            return Described {
                modes: Vec::new(),
                deviation: self.core_variance().sqrt(),
                rare,
            };
        };
        let place = |number: usize| (law.place[number] + law.tail) * self.step;
        let mut modes: Vec<(f64, f64)> = self
            .others
            .iter()
            .map(|(cluster, law)| (law.mean() * self.step, self.cells.others[*cluster].mass()))
            .collect();
        modes.push((place(0), main.mass() * (1.0 - law.weight)));
        if law.weight > 0.0 {
            modes.push((place(1), main.mass() * law.weight));
        }
        modes.sort_by(|a, b| a.0.total_cmp(&b.0));
        let deviation = (law.normal * law.normal + law.tail * law.tail).sqrt() * self.step;
        Described {
            modes,
            deviation,
            rare,
        }
    }

    /// How far a single cost may lie from its fitted place, in steps. A smooth distribution needs
    /// none.
    fn slack(&self) -> f64 {
        /// What a fitted place is off by.
        /// *Default*: moves no figure.
        const PLACE: f64 = 0.03;
        self.law
            .filter(|law| law.tail + law.normal < PLACE)
            .map_or(0.0, |_| PLACE)
    }

    fn share_below(&self, level: f64) -> f64 {
        match &self.law {
            Some(law) => self
                .of_clusters(law, level)
                .unwrap_or_else(|| self.cells.interpolated(level)),
            None => self.cells.interpolated(level),
        }
    }

    /// Within a cluster; the main one is told by its law, each other one as a single cost.
    fn of_clusters(&self, law: &Law, level: f64) -> Option<f64> {
        let main = self.cells.main.as_ref()?;
        if main.window().contains(&level) {
            return Some(main.below + main.mass() * law.cumulative(level));
        }
        let (cluster, law) = self
            .others
            .iter()
            .find(|(cluster, _)| self.cells.others[*cluster].window().contains(&level))?;
        let cluster = &self.cells.others[*cluster];
        Some(cluster.below + cluster.mass() * law.cumulative(level))
    }
}
