//! What `compare` finds of simulated fleets, against what is true of them.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use crate::comparison::fleet::{FleetComparison, FleetFigure};
use crate::comparison::{Quantity, Verdict};
use crate::selftest::fleet::share::Share;
use crate::selftest::fleet::{Fleet, Moment, Node, Simulated, Since};

/// Costs of timers of one kind.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Costs {
    /// Intervals that hold the mean change.
    pub covered: Share,
    /// Those that are said to have changed.
    pub told: Share,
    /// The sum of half the widths of all intervals, on a logarithmic scale.
    half_widths: f64,
}

impl Costs {
    /// The mean half-width.
    pub fn half_width(&self) -> Option<f64> {
        (self.covered.of > 0).then(|| self.half_widths / self.covered.of as f64)
    }
}

/// What was found of several fleets.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FleetScore {
    pub regressed: Costs,
    pub unchanged: Costs,
    /// Qualities of regressed timers, that are told as worse.
    pub qualities: Share,
    /// Steps and spreads that are told as changed.
    pub steps: Share,
    pub spreads: Share,
    /// Nodes that fell, or began to drift, and are among those unlike the rest.
    pub fell: Share,
    pub drifting: Share,
    /// Sound nodes that are.
    pub false_nodes: Share,
}

impl FleetScore {
    /// Compares a fleet with itself after the upgrade.
    pub fn add(&mut self, fleet: &Fleet) {
        let nodes: Vec<Node> = (0..fleet.len()).map(|at| fleet.node(at)).collect();
        let made = |at: usize| {
            let reports = [Moment::Before, Moment::After].map(|moment| fleet.report(&nodes[at], moment));
            (nodes[at].name.clone(), reports)
        };
        let found = FleetComparison::of_reports(nodes.len(), made);
        let timers: HashMap<&str, &Simulated> =
            fleet.timers().iter().map(|timer| (timer.id, timer)).collect();
        let mut apart = HashMap::<&str, HashSet<&str>>::new();
        for unlike in &found.unlike {
            let costs = unlike.figures.iter().filter(|figure| figure.quantity == Quantity::COST);
            costs.for_each(|figure| {
                apart.entry(&figure.timer).or_default().insert(&unlike.node);
            });
        }
        for figure in &found.figures {
            let Some(timer) = timers.get(figure.compared.timer.as_str()) else { continue };
            let apart = apart.get(timer.id);
            let alike = nodes.iter().filter(|node| {
                !figure.left_out || apart.is_none_or(|apart| !apart.contains(node.name.as_str()))
            });
            self.add_figure(figure, timer, alike);
        }
        self.add_nodes(&nodes, &found);
    }

    fn add_figure<'a>(
        &mut self,
        figure: &FleetFigure,
        timer: &Simulated,
        alike: impl Iterator<Item = &'a Node>,
    ) {
        let verdict = figure.compared.verdict;
        let changed = matches!(verdict, Verdict::Worse | Verdict::Better);
        match figure.compared.quantity {
            quantity if quantity == Quantity::COST => {
                let costs = if timer.is_of_kernel() { &mut self.regressed } else { &mut self.unchanged };
                let Some((low, high)) = figure.compared.difference.percent_interval else { return };
                let [low, high] = [low, high].map(|percent| (percent / 100.0).ln_1p());
                costs.covered.add((low..=high).contains(&true_change(timer, alike)));
                costs.half_widths += (high - low) / 2.0;
                costs.told.add(if timer.is_of_kernel() { verdict == Verdict::Worse } else { changed });
            }
            quantity if quantity == Quantity::QUALITY && timer.is_of_kernel() => {
                self.qualities.add(verdict == Verdict::Worse)
            }
            quantity if quantity == Quantity::ACCURACY => self.steps.add(changed),
            quantity if quantity == Quantity::SPREAD => self.spreads.add(changed),
            _ => {}
        }
    }

    fn add_nodes(&mut self, nodes: &[Node], found: &FleetComparison) {
        let unlike: HashSet<&str> = found.unlike.iter().map(|node| node.node.as_str()).collect();
        for node in nodes {
            let told = unlike.contains(node.name.as_str());
            if node.fell == Some(Since::After) {
                self.fell.add(told);
            }
            if node.drifts == Some(Since::After) {
                self.drifting.add(told);
            }
            if node.is_sound() {
                self.false_nodes.add(told);
            }
        }
    }
}

/// The mean of what a timer's cost changed by, as a logarithm.
fn true_change<'a>(timer: &Simulated, nodes: impl Iterator<Item = &'a Node>) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for node in nodes {
        sum += (timer.true_cost(node, Moment::After) / timer.true_cost(node, Moment::Before)).ln();
        count += 1.0;
    }
    sum / f64::max(count, 1.0)
}
