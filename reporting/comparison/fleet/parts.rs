//! Where a fleet changed: the nodes of a CPU, a kernel, a clock source, a hypervisor, or all of them.

use std::collections::BTreeMap;

use serde::Serialize;

use super::super::SMALLEST;
use super::nodes::Fleets;
use crate::fleet::attribution::{FEWEST, Found, Part, attributed};
use crate::model::Platform;

/// What it is called, and what it is of a machine.
type Factor = (&'static str, fn(&Platform) -> Option<String>);

/// What nodes can have in common, in the order in which it is named.
const FACTORS: [Factor; 4] = [
    ("CPU", |platform| platform.cpu.name()),
    ("kernel", |platform| platform.kernel.release.clone()),
    ("clock source", |platform| platform.clocksource.current.clone()),
    ("hypervisor", |platform| Some(platform.hypervisor.clone().unwrap_or_else(|| "none".into()))),
];

/// What changed of some of the nodes, or of all.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PartChange {
    /// What these nodes have in common and no other has, as in `CPU AMD EPYC 7543`: several where the same nodes have all of that. None: all
    /// nodes, those left out that are named before.
    pub of: Vec<String>,
    /// How many they are.
    pub nodes: usize,
    /// The timers whose cost changed.
    pub timers: Vec<String>,
    /// The median change of their cost, in percent.
    pub percent: f64,
    /// Lower end of its 95 % interval.
    pub low_percent: f64,
    /// Upper end of its 95 % interval.
    pub high_percent: f64,
    /// The same of the other nodes; null where there are none.
    pub rest_percent: Option<f64>,
}

/// Parts by their members, with what these have in common.
type Named = BTreeMap<Vec<usize>, Vec<String>>;

pub(super) fn changes(fleets: &Fleets) -> Vec<PartChange> {
    // What another machine costs is no change of a part.
    let pairs: Vec<usize> = (0..fleets.both.len()).filter(|pair| !fleets.other[*pair]).collect();
    let named = named(fleets, &pairs);
    let parts: Vec<Part> = named.keys().map(|members| Part { members: members.clone() }).collect();
    let names: Vec<&Vec<String>> = named.values().collect();
    let mut timers: Vec<usize> = (0..fleets.timers.len()).collect();
    timers.sort_unstable_by_key(|timer| &fleets.timers[*timer]);
    let costs: Vec<Vec<Option<f64>>> = timers
        .iter()
        .map(|timer| pairs.iter().map(|pair| cost_change(fleets, *pair, *timer)).collect())
        .collect();
    let told = |found: Found| {
        let percent = |change: f64| 100.0 * change.exp_m1();
        PartChange {
            of: found.part.map(|part| names[part].clone()).unwrap_or_default(),
            nodes: found.nodes,
            timers: found.timers.iter().map(|timer| fleets.timers[timers[*timer]].clone()).collect(),
            percent: percent(found.change),
            low_percent: percent(found.low),
            high_percent: percent(found.high),
            rest_percent: found.rest.map(percent),
        }
    };
    attributed(&costs, &parts, SMALLEST.ln_1p()).into_iter().map(told).collect()
}

fn named(fleets: &Fleets, pairs: &[usize]) -> Named {
    let mut named = Named::new();
    for (factor, of) in FACTORS {
        let mut levels: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (place, pair) in pairs.iter().enumerate() {
            let (old, new) = fleets.both[*pair];
            let [old, new] = [&fleets.old[old], &fleets.new[new]].map(|node| of(&node.machine.platform));
            if let Some(level) = level(old, new) {
                levels.entry(level).or_default().push(place);
            }
        }
        for (level, members) in levels {
            if members.len() >= FEWEST && members.len() + FEWEST <= pairs.len() {
                named.entry(members).or_default().push(format!("{factor} {level}"));
            }
        }
    }
    named
}

/// What a node has now, and what it had where that was something else.
fn level(old: Option<String>, new: Option<String>) -> Option<String> {
    match (old, new) {
        (Some(old), Some(new)) if old != new => Some(format!("{old} → {new}")),
        (_, new) => new,
    }
}

/// The logarithm of what a read costs now, over what it cost.
fn cost_change(fleets: &Fleets, pair: usize, timer: usize) -> Option<f64> {
    let (old, new) = fleets.both[pair];
    let (old, new) = (fleets.old[old].row(timer)?.cost()?, fleets.new[new].row(timer)?.cost()?);
    (old > 0.0 && new > 0.0).then(|| (new / old).ln())
}
