//! A figure of a timer in a whole fleet: by how much it changed, how nodes differ in that, and which changed unlike the rest.

use std::sync::LazyLock;

use serde::Serialize;

use super::super::{Compared, Quantity, Verdict};
use super::nodes::{Fleets, Node, Row};
use crate::analysis::statistics::{CONFIDENCE, median, student_quantile};
use crate::comparison::interval::{Difference, Figure};
use crate::fields::Comparable;
use crate::fleet::change;
use crate::fleet::random_effects::{self, Observed, Pooled};

/// Fewer nodes than that in both folders tell less of a change than others in each of them.
/// *Judgement*: Student's quantile for four is three times the normal one.
const FEWEST_PAIRED: usize = 5;

/// Unchanged fleets of which a figure is said to have changed.
/// *Chance*: over all figures of all timers together (Bonferroni).
const FALSE_ALARM: f64 = 0.02;

/// Which nodes a change rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Design {
    /// Those that are in both folders, each against itself.
    Paired,
    /// Those of one folder against others of the other one.
    TwoSamples,
}

/// A figure of a timer in two fleets.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FleetFigure {
    /// The median of the old fleet, the mean change with its interval, and the verdict on that.
    #[serde(flatten)]
    pub compared: Compared,
    /// Which nodes it rests on.
    pub design: Design,
    /// How many these are.
    pub nodes: usize,
    /// Standard deviation of the change between nodes, their own errors taken off: in percent where the change is, else in its unit.
    pub between: f64,
    /// Nodes that became worse by more than their own noise, of those in both folders.
    pub worse: usize,
    /// Nodes that became better.
    pub better: usize,
    /// Nodes whose change is no more than noise.
    pub noise: usize,
    /// How many changed unlike the rest.
    pub unlike: usize,
    /// Whether these are left out of the mean.
    pub left_out: bool,
}

/// A node whose figure changed unlike the rest.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Unlike {
    /// The timer.
    pub timer: String,
    /// Which figure.
    pub quantity: Quantity,
    /// Of this node before.
    pub old: f64,
    /// Now.
    pub new: f64,
    /// Its place among the nodes in both folders.
    #[serde(skip)]
    pub pair: usize,
    /// How far it is from the rest, so that nodes can be ordered: a logarithm, or a share of the old figure.
    #[serde(skip)]
    pub distance: f64,
}

/// A figure on the scale on which changes are alike: a logarithm where ratios are.
#[derive(Clone, Copy)]
struct Scale {
    quantity: Quantity,
}

impl Scale {
    /// The figure, and what is known of its error. Nothing where the report has no interval of it, or nothing can be compared.
    fn observed(self, figure: &Figure, processes: u32) -> Option<Observed> {
        let (low, high) = figure.interval()?;
        let degrees = (processes as usize).saturating_sub(1).max(1);
        let (effect, half) = if self.quantity.is_relative() {
            (figure.value > 0.0).then_some(())?;
            // Below zero there is no logarithm: then what is above the figure tells.
            let half = if low > 0.0 { (high / low).ln() / 2.0 } else { (high / figure.value).ln() };
            (figure.value.ln(), half)
        } else {
            (figure.value, (high - low) / 2.0)
        };
        let variance = (half / quantile(degrees)).powi(2);
        Some(Observed { effect, variance, degrees: degrees as f64 })
    }

    /// From the scale to a difference of figures.
    fn difference(self, old: f64, pooled: &Pooled) -> Difference {
        let shift = |effect: f64| if self.quantity.is_relative() { old * effect.exp_m1() } else { effect };
        let percent = |effect: f64| 100.0 * effect.exp_m1();
        let relative = self.quantity.is_relative();
        let bare = |value: f64| Figure::within(value, None);
        Difference {
            old: bare(old),
            new: bare(old + shift(pooled.effect)),
            absolute: shift(pooled.effect),
            interval: Some((shift(pooled.low), shift(pooled.high))),
            percent: relative.then(|| percent(pooled.effect)),
            percent_interval: relative.then(|| (percent(pooled.low), percent(pooled.high))),
        }
    }

    /// The smallest change that matters, on the scale.
    fn smallest(self, old: f64) -> f64 {
        match self.quantity {
            quantity if quantity.is_relative() => quantity.smallest().ln_1p(),
            quantity => quantity.smallest_of(old),
        }
    }
}

/// Quantiles of Student's t by degrees of freedom, which most reports share.
fn quantile(degrees: usize) -> f64 {
    static KNOWN: LazyLock<[f64; 64]> =
        LazyLock::new(|| std::array::from_fn(|degrees| student_quantile(CONFIDENCE, degrees)));
    KNOWN.get(degrees).copied().unwrap_or_else(|| student_quantile(CONFIDENCE, degrees))
}

/// What is known of the change of a node.
fn change_of(old: &Observed, new: &Observed) -> Observed {
    let variance = old.variance + new.variance;
    // Welch and Satterthwaite; two figures without error are known as well as one of them.
    let degrees = if variance > 0.0 {
        variance.powi(2) / (old.variance.powi(2) / old.degrees + new.variance.powi(2) / new.degrees)
    } else {
        old.degrees
    };
    Observed { effect: new.effect - old.effect, variance, degrees }
}

/// All figures of a timer, and which nodes changed unlike the rest.
pub(super) fn of_timer(fleets: &Fleets, timer: usize) -> (Vec<FleetFigure>, Vec<Unlike>) {
    let mut unlike = Vec::new();
    let figures = Quantity::of_clocks().into_iter().enumerate().filter_map(|(at, quantity)| {
        let scale = Scale { quantity };
        let pairs = Pairs::of(fleets, timer, at, scale);
        let (paired, apart) = pairs.figure(&fleets.timers[timer], scale, asked(fleets));
        unlike.extend(apart);
        let too_few = paired.as_ref().is_none_or(|figure| figure.nodes < FEWEST_PAIRED);
        let samples = too_few.then(|| two_samples(fleets, timer, at, scale, &pairs)).flatten();
        samples.or(paired)
    });
    let figures = figures.collect();
    (figures, unlike)
}

/// How many figures are compared.
fn asked(fleets: &Fleets) -> usize {
    fleets.timers.len() * Comparable::OF_CLOCKS
}

/// A figure of nodes that are in both folders.
struct Pairs {
    changes: Vec<Observed>,
    /// The node, its old figure and its new one, for each of these.
    nodes: Vec<(usize, f64, f64)>,
    /// Whether it is another machine now.
    other: Vec<bool>,
    /// Nodes by the verdict of their own intervals: worse, better, noise.
    verdicts: [usize; 3],
    single_process: bool,
}

impl Pairs {
    fn of(fleets: &Fleets, timer: usize, at: usize, scale: Scale) -> Self {
        let mut pairs = Self {
            changes: Vec::new(),
            nodes: Vec::new(),
            other: Vec::new(),
            verdicts: [0; 3],
            single_process: false,
        };
        for (pair, (old, new)) in fleets.both.iter().enumerate() {
            let rows = (fleets.old[*old].row(timer), fleets.new[*new].row(timer));
            if let (Some(old), Some(new)) = rows {
                pairs.push(pair, [old, new], at, scale);
                pairs.other.resize(pairs.nodes.len(), fleets.other[pair]);
            }
        }
        pairs
    }

    fn push(&mut self, pair: usize, rows: [&Row; 2], at: usize, scale: Scale) {
        let [Some(old), Some(new)] = rows.map(|row| row.figure(at)) else { return };
        self.single_process |= rows.iter().any(|row| row.single_process);
        let difference = Difference::between(old, new, scale.quantity.is_relative());
        match scale.quantity.judged(String::new(), difference, false).verdict {
            Verdict::Worse => self.verdicts[0] += 1,
            Verdict::Better => self.verdicts[1] += 1,
            Verdict::Noise => self.verdicts[2] += 1,
            Verdict::Unjudged => {}
        }
        let observed = [scale.observed(&old, rows[0].processes), scale.observed(&new, rows[1].processes)];
        if let [Some(before), Some(after)] = observed {
            self.changes.push(change_of(&before, &after));
            self.nodes.push((pair, old.value, new.value));
        }
    }

    fn figure(&self, timer: &str, scale: Scale, asked: usize) -> (Option<FleetFigure>, Vec<Unlike>) {
        let old: Vec<f64> = self.nodes.iter().map(|(_, old, _)| *old).collect();
        let (Some(old), Some(change)) = (median(&old), change::of(&self.changes, &self.other)) else {
            return (None, Vec::new());
        };
        let apart = change.unlike.iter().filter_map(|at| {
            let (pair, old, new) = self.nodes[*at];
            let distance = self.changes[*at].effect - change.pooled.effect;
            let of_it = if scale.quantity.is_relative() { distance } else { distance / old.abs().max(1e-9) };
            (distance.abs() >= scale.smallest(old)).then(|| Unlike {
                timer: timer.to_owned(),
                quantity: scale.quantity,
                old,
                new,
                pair,
                distance: of_it,
            })
        });
        let apart: Vec<Unlike> = apart.collect();
        let [worse, better, noise] = self.verdicts;
        let figure = FleetFigure {
            compared: judged(timer, scale, old, &change.pooled, self.single_process, asked),
            design: Design::Paired,
            nodes: change.pooled.nodes,
            between: between(scale, &change.pooled),
            worse,
            better,
            noise,
            unlike: apart.len(),
            left_out: change.left_out,
        };
        (Some(figure), apart)
    }
}

/// Nodes of one folder only against those of the other one only.
fn two_samples(fleets: &Fleets, timer: usize, at: usize, scale: Scale, pairs: &Pairs) -> Option<FleetFigure> {
    let of = |nodes: &[Node], places: &[usize]| {
        let rows = places.iter().filter_map(|place| nodes[*place].row(timer));
        let figures = rows.filter_map(|row| Some((row.figure(at)?, row.processes)));
        let seen = figures
            .filter_map(|(figure, processes)| Some((figure.value, scale.observed(&figure, processes)?)));
        seen.unzip::<f64, Observed, Vec<f64>, Vec<Observed>>()
    };
    let (old_values, old) = of(&fleets.old, &fleets.only_old);
    let (_, new) = of(&fleets.new, &fleets.only_new);
    let pooled = random_effects::difference(&change::of(&old, &[])?.pooled, &change::of(&new, &[])?.pooled)?;
    let [worse, better, noise] = pairs.verdicts;
    Some(FleetFigure {
        compared: judged(&fleets.timers[timer], scale, median(&old_values)?, &pooled, false, asked(fleets)),
        design: Design::TwoSamples,
        nodes: pooled.nodes,
        between: between(scale, &pooled),
        worse,
        better,
        noise,
        unlike: 0,
        left_out: false,
    })
}

/// `figures` are asked in all: one of them is said to have changed in so few unchanged fleets as one question would be.
fn judged(
    timer: &str,
    scale: Scale,
    old: f64,
    pooled: &Pooled,
    single_process: bool,
    figures: usize,
) -> Compared {
    let difference = scale.difference(old, pooled);
    let compared = scale.quantity.judged(timer.to_owned(), difference, single_process);
    let far =
        student_quantile(1.0 - FALSE_ALARM / figures.max(1) as f64, pooled.nodes.saturating_sub(1).max(1));
    let compared = match compared.verdict {
        Verdict::Worse | Verdict::Better if pooled.effect.abs() < far * pooled.error => {
            Compared { verdict: Verdict::Noise, ..compared }
        }
        _ => compared,
    };
    let matters = pooled.effect.abs() >= scale.smallest(old);
    let differs = matches!(compared.verdict, Verdict::Worse | Verdict::Better);
    let verdict = if differs && !matters { Verdict::Noise } else { compared.verdict };
    Compared { verdict, matters, ..compared }
}

fn between(scale: Scale, pooled: &Pooled) -> f64 {
    if scale.quantity.is_relative() { 100.0 * pooled.between.exp_m1() } else { pooled.between }
}
