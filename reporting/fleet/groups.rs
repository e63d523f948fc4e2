//! Which reports agree: those of one model of CPU, kernel and clock source, unless their figures fall into parts that lie far apart.

use std::collections::{BTreeMap, HashMap};

use super::node::{Machine, Node, Quantity, TimerName};
use super::robust::Log;
use crate::analysis::statistics::{median, quantile};
use crate::model::Figure;

/// Medians of two groups lie at least this many standard deviations of their nodes apart: three on either side. Halves of one normal law, cut
/// at their widest gap, lie as far apart once in ten thousand times where there are twenty nodes, and never seen where there are more.
/// *Chance*.
const DISTINCT: f64 = 6.0;
/// Groups differ by at least this share: nodes of one kind differ by a percent or two without a cause worth finding.
/// *Judgement*.
const LEAST_APART: f64 = 0.02;
/// Nodes in a group that is split off: the standard deviation of fewer says little.
/// *Judgement*.
const FEWEST: usize = 10;
/// The least share of the nodes of one kind that make a group of their own. Fewer are odd ones, not another kind.
/// *Judgement*.
const LEAST_SHARE: f64 = 0.05;

/// Nodes that agree.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// What they have in common; the hypervisor is that of the first.
    pub machine: Machine,
    /// Their places among the nodes, in that order.
    pub members: Vec<usize>,
    /// What tells them from other groups of the same CPU, kernel and clock source, the widest first.
    pub apart: Vec<Apart>,
    /// What was found of each timer, in the order of their names.
    pub timers: Vec<OfTimer>,
    /// How late timers that wait were, in nanoseconds, in the same order.
    pub lateness: Vec<(TimerName, Range)>,
}

/// A figure by which two groups of the same CPU, kernel and clock source differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Apart {
    /// Of which timer.
    pub timer: TimerName,
    /// Which figure.
    pub quantity: Quantity,
    /// Its median over the nodes of this group, in nanoseconds.
    pub here: f64,
    /// Its median over those that it was split from.
    pub there: f64,
}

/// What was found of a timer in a group.
#[derive(Clone, Debug, PartialEq)]
pub struct OfTimer {
    /// Which.
    pub timer: TimerName,
    /// Reports that have it.
    pub listed: usize,
    /// Of them those that could read it.
    pub read: usize,
    /// In [0, 1].
    pub quality: Option<Range>,
    /// In nanoseconds, where it was resolved.
    pub step: Option<Range>,
    /// In nanoseconds.
    pub cost: Option<Range>,
}

/// A figure over nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The median.
    pub median: f64,
    /// The least.
    pub low: f64,
    /// The largest.
    pub high: f64,
    /// Nodes that have it.
    pub nodes: usize,
}

/// Groups of `nodes`, the largest first.
#[must_use]
pub fn groups(nodes: &[Node]) -> Vec<Group> {
    let mut kinds: BTreeMap<[&str; 3], Vec<usize>> = BTreeMap::new();
    for (at, node) in nodes.iter().enumerate() {
        let Machine { cpu, kernel, clocksource, .. } = &node.machine;
        kinds.entry([cpu, kernel, clocksource]).or_default().push(at);
    }
    let mut groups: Vec<Group> = Vec::new();
    for members in kinds.into_values() {
        let fewest = FEWEST.max((LEAST_SHARE * members.len() as f64).ceil() as usize);
        let mut parts = vec![(members, Vec::new())];
        while let Some((members, apart)) = parts.pop() {
            match Split::of(&members, nodes, fewest) {
                Some(split) => parts.extend(split.parts(&members, &apart)),
                None => groups.push(Group::of(members, apart, nodes)),
            }
        }
    }
    groups.sort_by(|a, b| b.members.len().cmp(&a.members.len()).then_with(|| a.members.cmp(&b.members)));
    groups
}

/// A figure at which nodes fall into two parts.
struct Split {
    timer: TimerName,
    quantity: Quantity,
    /// Nodes below the gap, and those above.
    parts: [Vec<usize>; 2],
    /// Their medians, as logarithms.
    medians: [f64; 2],
    /// How many standard deviations these lie apart.
    distance: f64,
}

/// A node's figure.
#[derive(Clone, Copy)]
struct Of {
    node: usize,
    log: Log,
}

impl Split {
    /// The clearest one; `None` where these nodes agree.
    fn of(members: &[usize], nodes: &[Node], fewest: usize) -> Option<Self> {
        if members.len() < 2 * fewest {
            return None;
        }
        let mut found: HashMap<(TimerName, Quantity), Vec<Of>> = HashMap::new();
        for &node in members {
            for reading in &nodes[node].readings {
                for quantity in Quantity::ALL {
                    if let Some(figure) = reading.figure(quantity) {
                        let of = Of { node, log: Log::of(figure) };
                        found.entry((reading.timer, quantity)).or_default().push(of);
                    }
                }
            }
        }
        let splits = found.into_iter().filter_map(|((timer, quantity), of)| {
            let (parts, medians, distance) = apart(of, fewest)?;
            Some(Self { timer, quantity, parts, medians, distance })
        });
        // Of two that are as clear, always the same one.
        let order = |split: &Self| (split.timer, split.quantity);
        splits.max_by(|a, b| a.distance.total_cmp(&b.distance).then_with(|| order(b).cmp(&order(a))))
    }

    /// All of `members` in two parts: those without the figure go with the larger one.
    fn parts(self, members: &[usize], already: &[Apart]) -> [(Vec<usize>, Vec<Apart>); 2] {
        let [below, above] = self.parts;
        let smaller = usize::from(above.len() <= below.len());
        let mut is_of_smaller: Vec<usize> = if smaller == 1 { above } else { below };
        is_of_smaller.sort_unstable();
        let (of_smaller, of_larger): (Vec<usize>, Vec<usize>) =
            members.iter().copied().partition(|node| is_of_smaller.binary_search(node).is_ok());
        let told = |here: usize| {
            let apart = Apart {
                timer: self.timer,
                quantity: self.quantity,
                here: self.medians[here].exp(),
                there: self.medians[1 - here].exp(),
            };
            [already, &[apart]].concat()
        };
        [(of_smaller, told(smaller)), (of_larger, told(1 - smaller))]
    }
}

/// The nodes below and above the widest gap, with both medians and their distance; nothing where they agree.
fn apart(mut of: Vec<Of>, fewest: usize) -> Option<([Vec<usize>; 2], [f64; 2], f64)> {
    if of.len() < 2 * fewest {
        return None;
    }
    of.sort_by(|a, b| a.log.value.total_cmp(&b.log.value).then(a.node.cmp(&b.node)));
    let gap = |at: usize| of[at].log.value - of[at - 1].log.value;
    let at = (fewest..=of.len() - fewest).max_by(|a, b| gap(*a).total_cmp(&gap(*b)).then(b.cmp(a)))?;
    let (below, above) = of.split_at(at);
    let medians = [quantile(&values(below), 0.5)?, quantile(&values(above), 0.5)?];
    let (far, deviation) = (medians[1] - medians[0], deviation(below, above));
    let distance = far / deviation;
    // Where no two differ within a part, the distance is infinite, or not a number where they do not differ at all.
    (far >= LEAST_APART.ln_1p() && distance >= DISTINCT)
        .then(|| ([below, above].map(|part| part.iter().map(|of| of.node).collect()), medians, distance))
}

fn values(part: &[Of]) -> Vec<f64> {
    part.iter().map(|of| of.log.value).collect()
}

/// The standard deviation within both parts together; not less than what the nodes' own intervals tell.
fn deviation(below: &[Of], above: &[Of]) -> f64 {
    let squares = |part: &[Of]| {
        let mean = values(part).iter().sum::<f64>() / part.len() as f64;
        part.iter().map(|of| (of.log.value - mean).powi(2)).sum::<f64>()
    };
    let degrees = (below.len() + above.len() - 2) as f64;
    let within = ((squares(below) + squares(above)) / degrees).sqrt();
    let noise = median(&below.iter().chain(above).filter_map(|of| of.log.noise).collect::<Vec<_>>());
    within.max(noise.unwrap_or(0.0))
}

impl Group {
    fn of(members: Vec<usize>, mut apart: Vec<Apart>, nodes: &[Node]) -> Self {
        apart.sort_by(|a, b| b.far().total_cmp(&a.far()));
        let machine = nodes[members[0]].machine.clone();
        let mut late: BTreeMap<TimerName, Vec<f64>> = BTreeMap::new();
        for (timer, ns) in members.iter().flat_map(|node| &nodes[*node].lateness) {
            late.entry(*timer).or_default().push(*ns);
        }
        let lateness = late.into_iter().filter_map(|(timer, late)| Some((timer, Range::of(late)?))).collect();
        Self { timers: OfTimer::all(&members, nodes), machine, members, apart, lateness }
    }

    /// What was found of a timer.
    #[must_use]
    pub fn timer(&self, timer: TimerName) -> Option<&OfTimer> {
        self.timers.binary_search_by_key(&timer, |of| of.timer).ok().map(|at| &self.timers[at])
    }

    /// The node that is nearest to the medians of its group.
    #[must_use]
    pub fn typical(&self, nodes: &[Node]) -> usize {
        let medians: HashMap<TimerName, f64> =
            self.timers.iter().filter_map(|of| Some((of.timer, of.cost?.median.ln()))).collect();
        let far = |node: &usize| {
            let off = |timer: &TimerName, cost: Option<Figure>| {
                Some((cost?.value.ln() - medians.get(timer)?).abs()).filter(|off| off.is_finite())
            };
            let readings = nodes[*node].readings.iter();
            let off: Vec<f64> = readings.filter_map(|reading| off(&reading.timer, reading.cost)).collect();
            // One that tells nothing is typical of nothing.
            if off.is_empty() { f64::INFINITY } else { off.iter().sum::<f64>() / off.len() as f64 }
        };
        let of = self.members.iter().map(|node| (far(node), *node));
        of.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(self.members[0], |(_, node)| node)
    }
}

impl Apart {
    fn far(&self) -> f64 {
        (self.here / self.there).ln().abs()
    }
}

impl OfTimer {
    fn all(members: &[usize], nodes: &[Node]) -> Vec<Self> {
        #[derive(Default)]
        struct Found {
            listed: usize,
            read: usize,
            quality: Vec<f64>,
            step: Vec<f64>,
            cost: Vec<f64>,
        }
        let mut found: BTreeMap<TimerName, Found> = BTreeMap::new();
        for reading in members.iter().flat_map(|node| &nodes[*node].readings) {
            let of = found.entry(reading.timer).or_default();
            of.listed += 1;
            of.read += usize::from(reading.is_read());
            of.quality.extend(reading.quality);
            of.step.extend(reading.step.map(|figure| figure.value));
            of.cost.extend(reading.cost.map(|figure| figure.value));
        }
        let of = |(timer, of): (TimerName, Found)| Self {
            timer,
            listed: of.listed,
            read: of.read,
            quality: Range::of(of.quality),
            step: Range::of(of.step),
            cost: Range::of(of.cost),
        };
        found.into_iter().map(of).collect()
    }
}

impl Range {
    fn of(mut figures: Vec<f64>) -> Option<Self> {
        figures.sort_by(f64::total_cmp);
        let (low, high) = (*figures.first()?, *figures.last()?);
        Some(Self { median: quantile(&figures, 0.5)?, low, high, nodes: figures.len() })
    }
}
