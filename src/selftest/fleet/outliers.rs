//! Which nodes of a simulated fleet stand out, against what is true of them.

use std::collections::HashMap;

use serde::Serialize;

use super::share::Share;
use super::{Fleet, Node};
use crate::fleet::groups::groups;
use crate::fleet::node::{Names, Node as Kept};
use crate::fleet::outliers::{Kind, Outlier, outliers};
use crate::parallel;

/// What was found of fleets in the midst of an upgrade.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OutlierScore {
    /// Nodes whose clock source fell, that stand out for it.
    pub fallen: Share,
    /// Nodes whose TSC drifts, that stand out for a timer that lost its trust.
    pub drifting: Share,
    /// Nodes that lack a timer, that stand out for it.
    pub lacking: Share,
    /// Of the nodes that stand out, those with which something is wrong.
    pub precise: Share,
    /// Nodes with which nothing is wrong and that are quiet, that stand out all the same.
    pub false_nodes: Share,
    /// Nodes that were never quiet, and nothing else, that stand out.
    pub restless: Share,
    /// Nodes of groups too small to judge their figures.
    pub unjudged: Share,
}

impl OutlierScore {
    /// Looks at a fleet in the midst of its upgrade: half of the nodes have the newer kernel.
    pub fn add(&mut self, fleet: &Fleet) {
        let names = Names::default();
        let nodes: Vec<Node> = (0..fleet.len()).map(|at| fleet.node(at)).collect();
        let keep = |node: &Node| Kept::of(&node.name, &fleet.report(node, fleet.midway(node)), &[], &names);
        let mut kept: Vec<Kept> = parallel::mapped(&nodes, keep);
        let names = names.settle(&mut kept);
        let found = outliers(&kept, &groups(&kept), &names);
        self.unjudged.are += found.unjudged as u64;
        self.unjudged.of += nodes.len() as u64;
        let told: HashMap<usize, &Outlier> =
            found.nodes.iter().map(|outlier| (outlier.node, outlier)).collect();
        for (at, node) in nodes.iter().enumerate() {
            self.add_node(fleet, node, told.get(&at).copied());
        }
    }

    fn add_node(&mut self, fleet: &Fleet, node: &Node, told: Option<&Outlier>) {
        let moment = fleet.midway(node);
        let is_told_for =
            |kind: Kind| told.is_some_and(|told| told.reasons.iter().any(|reason| reason.kind == kind));
        let lacks = node.lacks.is_some_and(|lack| lack.since.holds(moment));
        let wrong = [node.has_fallen(moment), node.is_drifting(moment), lacks];
        let shares = [&mut self.fallen, &mut self.drifting, &mut self.lacking];
        for ((is, share), kind) in
            wrong.into_iter().zip(shares).zip([Kind::ClockSource, Kind::Trust, Kind::Missing])
        {
            if is {
                share.add(is_told_for(kind));
            }
        }
        let is_wrong = wrong.contains(&true);
        if told.is_some() {
            self.precise.add(is_wrong);
        }
        match (is_wrong, node.restless) {
            (true, _) => {}
            (false, true) => self.restless.add(told.is_some()),
            (false, false) => self.false_nodes.add(told.is_some()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Fleet, OutlierScore, Share};

    #[test]
    fn what_is_wrong_stands_out_and_little_else_does() {
        let mut score = OutlierScore::default();
        for (nodes, seed) in [(100, 11), (100, 12), (100, 13), (300, 14), (300, 15), (600, 16)] {
            score.add(&Fleet::new(nodes, seed));
        }
        let all = |share: Share| share.are == share.of && share.of > 5;
        assert!(all(score.fallen) && all(score.drifting), "{score:?}");
        // Where two of a small group lack the same timer it is not usual there.
        assert!(10 * score.lacking.are >= 9 * score.lacking.of, "{score:?}");
        assert!(10 * score.precise.are >= 9 * score.precise.of, "{score:?}");
        assert!(500 * score.false_nodes.are <= score.false_nodes.of, "{score:?}");
    }
}
