//! What stands out of a fleet, each thing once: groups that are worse than their siblings first, then what single nodes have, by reason.

use std::collections::HashMap;

use super::groups::{Apart, Group};
use super::node::{Machine, Node, Quantity};
use super::outliers::{Kind, Outliers};
use crate::text::numbers::{significant, time};

/// Things that are told one by one.
pub const MOST: usize = 20;

/// Something that stands out, and whose it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Of which kind.
    pub kind: Kind,
    /// What, in words that hold for all of them.
    pub what: String,
    /// The group, where all of it stands out; from 0.
    pub group: Option<usize>,
    /// The nodes, those farthest off first, by place.
    pub nodes: Vec<usize>,
    /// How many times the figure of others that of the first is, where that can be said.
    pub ratio: Option<f64>,
}

/// All of them: groups, then kinds by their gravity, then those of most nodes. Each node is told for its gravest reason.
#[must_use]
pub fn findings(nodes: &[Node], groups: &[Group], outliers: &Outliers, names: &[Box<str>]) -> Vec<Finding> {
    let mut found: Vec<Finding> =
        (0..groups.len()).filter_map(|at| of_group(nodes, groups, at, names)).collect();
    let mut places: HashMap<(Kind, &str), usize> = HashMap::new();
    let mut single: Vec<Finding> = Vec::new();
    for outlier in &outliers.nodes {
        let Some(reason) = outlier.reasons.first() else { continue };
        let place = *places.entry((reason.kind, &reason.brief)).or_insert_with(|| {
            let what = reason.brief.clone();
            single.push(Finding {
                kind: reason.kind,
                what,
                group: None,
                nodes: Vec::new(),
                ratio: reason.ratio,
            });
            single.len() - 1
        });
        single[place].nodes.push(outlier.node);
    }
    single.sort_by(|a, b| {
        a.kind.cmp(&b.kind).then(b.nodes.len().cmp(&a.nodes.len())).then(a.what.cmp(&b.what))
    });
    found.extend(single);
    found
}

/// A group that is worse than the largest of the same CPU, kernel and clock source. Where half as many have it, it is another kind of
/// machine.
fn of_group(nodes: &[Node], groups: &[Group], at: usize, names: &[Box<str>]) -> Option<Finding> {
    let group = &groups[at];
    let kind = |machine: &Machine| [machine.cpu.clone(), machine.kernel.clone(), machine.clocksource.clone()];
    let own = kind(&group.machine);
    let siblings = groups.iter().filter(|other| kind(&other.machine) == own);
    let largest = siblings.max_by_key(|other| other.members.len())?;
    let few = 2 * group.members.len() < largest.members.len();
    let apart = group.apart.iter().find(|apart| apart.here > apart.there).filter(|_| few)?;
    Some(Finding {
        kind: if apart.quantity == Quantity::Step { Kind::Step } else { Kind::Cost },
        what: format!("{} of {}", in_words(apart, names), in_a_line(&group.machine)),
        group: Some(at),
        nodes: sorted_by_name(nodes, &group.members),
        ratio: Some(apart.here / apart.there),
    })
}

/// As in `monotonic costs 42 ns, 27 ns in the others`.
#[must_use]
pub fn in_words(apart: &Apart, names: &[Box<str>]) -> String {
    let verb = if apart.quantity == Quantity::Step { "moves in steps of" } else { "costs" };
    let (here, there) = (time(Some(apart.here)), time(Some(apart.there)));
    format!("`{}` {verb} {here}, {there} in the others", names[apart.timer])
}

/// What a machine is, in a line.
#[must_use]
pub fn in_a_line(machine: &Machine) -> String {
    let parts = [&machine.cpu, &machine.kernel, &machine.clocksource];
    parts.into_iter().filter(|part| !part.is_empty()).map(String::as_str).collect::<Vec<_>>().join(" · ")
}

/// A ratio as people say it: `+31 %`, `×16`.
#[must_use]
pub fn times(ratio: f64) -> String {
    /// From here on percent are hard to read.
    const TWICE: f64 = 2.0;
    if ratio >= TWICE || ratio <= 1.0 / TWICE {
        format!("×{}", significant(ratio, 2))
    } else {
        format!("{:+.0} %", 100.0 * (ratio - 1.0))
    }
}

fn sorted_by_name(nodes: &[Node], members: &[usize]) -> Vec<usize> {
    let mut sorted = members.to_vec();
    sorted.sort_by(|a, b| nodes[*a].name.cmp(&nodes[*b].name));
    sorted
}
