//! Which nodes do not agree with the machines like them, and why: trust that others keep, a clock source that others do not have, a
//! clock that is set wrong, steps and costs far from those of their group, timers that only they cannot read.

mod likeness;
mod reasons;

use std::collections::HashMap;

use super::groups::Group;
use super::node::Node;
use likeness::Likeness;
use reasons::{Judge, Limit};

/// A node that does not agree.
#[derive(Clone, Debug, PartialEq)]
pub struct Outlier {
    /// Its place among the nodes.
    pub node: usize,
    /// Its group, by place.
    pub group: usize,
    /// What is odd, the gravest first; one at least.
    pub reasons: Vec<Reason>,
}

/// Something odd of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// Of which kind.
    pub kind: Kind,
    /// In words.
    pub says: String,
    /// The same in words that hold for all nodes of which it is so.
    pub brief: String,
    /// How many times the figure of others its own is, where that can be said.
    pub ratio: Option<f64>,
}

/// What can be odd of a node, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A timer lost its trust that others keep: what it tells is wrong.
    Trust,
    /// Another clock source than machines like it: every read through the kernel takes another path.
    ClockSource,
    /// The clock of the day is set wrong.
    Date,
    /// A timer moves in other steps than in its group.
    Step,
    /// Calls cost more or less than in its group.
    Cost,
    /// A timer cannot be read that its group can read.
    Missing,
}

/// Nodes that do not agree, and how much could be judged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outliers {
    /// The gravest first.
    pub nodes: Vec<Outlier>,
    /// Nodes of groups that are too small to judge their figures.
    pub unjudged: usize,
}

impl Kind {
    /// In words.
    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Trust => "trust lost",
            Self::ClockSource => "clock source",
            Self::Date => "date",
            Self::Step => "step",
            Self::Cost => "cost",
            Self::Missing => "timer missing",
        }
    }
}

/// The nodes of `groups` that do not agree with their group or with the machines like them. `names` are those of timers.
#[must_use]
pub fn outliers(nodes: &[Node], groups: &[Group], names: &[Box<str>]) -> Outliers {
    let likeness = Likeness::of(nodes);
    let limit = Limit::of(nodes, groups);
    let mut found: HashMap<usize, Outlier> = HashMap::new();
    let mut unjudged = 0;
    for (at, group) in groups.iter().enumerate() {
        let judge = Judge { nodes, names, groups, likeness: &likeness, limit };
        let mut told = judge.by_node(group);
        match judge.by_figures(group) {
            Some(reasons) => told.extend(reasons),
            None => unjudged += group.members.len(),
        }
        for (node, reason) in told {
            let outlier =
                found.entry(node).or_insert_with(|| Outlier { node, group: at, reasons: Vec::new() });
            outlier.reasons.push(reason);
        }
    }
    let mut nodes: Vec<Outlier> = found.into_values().collect();
    for outlier in &mut nodes {
        outlier.reasons.sort_by(Reason::gravest_first);
    }
    nodes.sort_by(|a, b| a.reasons[0].gravest_first(&b.reasons[0]).then(a.node.cmp(&b.node)));
    Outliers { nodes, unjudged }
}

impl Reason {
    /// How far the figure is from that of others: the logarithm of their ratio, without its sign.
    #[must_use]
    pub fn far(&self) -> Option<f64> {
        self.ratio.map(|ratio| ratio.ln().abs())
    }

    fn gravest_first(&self, other: &Self) -> std::cmp::Ordering {
        let far = |reason: &Self| reason.far().unwrap_or(0.0);
        self.kind.cmp(&other.kind).then_with(|| far(other).total_cmp(&far(self)))
    }
}
