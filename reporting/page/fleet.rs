//! Many reports on a page: which nodes stand out, which groups there are, and who is in them.

mod figures;

use std::collections::HashMap;

use crate::fleet::groups::{Apart, Group, Range};
use crate::fleet::node::{Machine, Node, Quantity};
use crate::fleet::outliers::{Kind, Outlier, Outliers, Reason};
use crate::text::numbers::{NOTHING, percent, significant, time};

pub(super) use figures::matrices;

/// Nodes that stand out on the index, the gravest; the list of all nodes has the others.
const MOST_ODD: usize = 1_000;
/// Groups on the index, the largest, each with a page of its own.
pub(super) const MOST_GROUPS: usize = 200;

/// All that is known of a fleet.
pub(super) struct Fleet {
    pub nodes: Vec<Node>,
    /// The files of the reports, below their folder.
    pub files: Vec<String>,
    /// The pages of nodes that have one.
    pub pages: HashMap<usize, String>,
    /// Of timers.
    pub names: Vec<Box<str>>,
    pub groups: Vec<Group>,
    pub outliers: Outliers,
}

/// What the index shows besides the figures.
pub(super) struct FleetView {
    pub odd: Vec<OddView>,
    /// How many more stand out.
    pub more_odd: usize,
    /// How many nodes stand out for what reason in the first place.
    pub kinds: Vec<(usize, &'static str)>,
    /// How many nodes are in groups too small to judge their figures.
    pub unjudged: usize,
    pub groups: Vec<GroupView>,
    /// Groups that are not shown, and the nodes in them.
    pub more_groups: usize,
    pub in_more_groups: usize,
}

/// A node that stands out.
pub(super) struct OddView {
    pub node: NodeView,
    pub kind: &'static str,
    /// How many times the figure of others its own is; empty where there is no such figure.
    pub far: String,
    pub far_sort: String,
    /// The gravest first.
    pub says: Vec<String>,
}

/// A node, and where to read more of it.
pub(super) struct NodeView {
    pub name: String,
    /// Its report.
    pub file: String,
    pub href: Option<String>,
    /// From 1.
    pub group: usize,
    pub group_href: Option<String>,
    pub machine: String,
    pub created: String,
    /// What is odd of it.
    pub odd: &'static str,
}

/// A group in a line.
pub(super) struct GroupView {
    /// From 1.
    pub number: usize,
    pub href: String,
    pub nodes: usize,
    /// Of them those that stand out.
    pub odd: usize,
    pub machine: Machine,
    /// What tells it from others of the same CPU, kernel and clock source.
    pub apart: Vec<String>,
    /// Its best timer, and figures of that as median and range.
    pub best: String,
    pub quality: String,
    pub quality_sort: String,
    pub step: String,
    pub cost: String,
}

/// The page of a group.
pub(super) struct GroupPage {
    pub nodes: usize,
    pub odd: usize,
    pub apart: Vec<String>,
    pub timers: Vec<TimerView>,
}

/// A timer over the nodes of a group.
pub(super) struct TimerView {
    pub id: String,
    pub read: usize,
    pub listed: usize,
    /// Quality, step and cost, each as it is written and as it sorts.
    pub cells: [(String, String); 3],
}

impl Fleet {
    /// Where the page of a group lies, by its place; nothing where it has none.
    pub fn group_href(&self, group: usize) -> Option<String> {
        (group < MOST_GROUPS.min(self.groups.len())).then(|| format!("groups/{}.html", group + 1))
    }

    /// Nodes whose pages are worth making where not all have one: those that stand out, and one that is typical of each group.
    pub fn telling(&self) -> Vec<usize> {
        let odd = self.outliers.nodes.iter().take(MOST_ODD).map(|outlier| outlier.node);
        let typical = self.groups.iter().take(MOST_GROUPS).map(|group| group.typical(&self.nodes));
        let mut all: Vec<usize> = odd.chain(typical).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// What is odd of each node that stands out, in words.
    pub fn reasons(&self) -> HashMap<usize, Vec<String>> {
        let says = |outlier: &Outlier| outlier.reasons.iter().map(|reason| reason.says.clone()).collect();
        self.outliers.nodes.iter().map(|outlier| (outlier.node, says(outlier))).collect()
    }

    /// All nodes that are `wanted`, in the order of the reports. `up` leads to the folder of the index.
    pub fn list(&self, up: &str, wanted: impl Fn(usize) -> bool) -> Vec<NodeView> {
        let groups = self.group_of();
        let odd: HashMap<usize, Kind> =
            self.outliers.nodes.iter().map(|outlier| (outlier.node, outlier.reasons[0].kind)).collect();
        let view = |node: usize| self.node(node, groups[node], odd.get(&node).copied(), up);
        (0..self.nodes.len()).filter(|node| wanted(*node)).map(view).collect()
    }

    fn group_of(&self) -> Vec<usize> {
        let mut of = vec![0; self.nodes.len()];
        for (at, group) in self.groups.iter().enumerate() {
            for member in &group.members {
                of[*member] = at;
            }
        }
        of
    }

    fn node(&self, node: usize, group: usize, odd: Option<Kind>, up: &str) -> NodeView {
        let below = |href: String| format!("{up}{href}");
        let Node { name, machine, created, .. } = &self.nodes[node];
        NodeView {
            name: name.clone(),
            file: self.files[node].clone(),
            href: self.pages.get(&node).cloned().map(below),
            group: group + 1,
            group_href: self.group_href(group).map(below),
            machine: in_a_line(machine),
            created: created.split('T').next().unwrap_or_default().to_owned(),
            odd: odd.map_or("", Kind::in_words),
        }
    }

    fn odd_of(&self, group: usize) -> usize {
        self.outliers.nodes.iter().filter(|outlier| outlier.group == group).count()
    }

    fn apart(&self, group: &Group) -> Vec<String> {
        let says = |apart: &Apart| {
            let verb = if apart.quantity == Quantity::Step { "moves in steps of" } else { "costs" };
            let (here, there) = (time(Some(apart.here)), time(Some(apart.there)));
            format!("`{}` {verb} {here}, {there} in the others", self.names[apart.timer])
        };
        group.apart.iter().map(says).collect()
    }
}

impl FleetView {
    pub fn of(fleet: &Fleet) -> Self {
        let outliers = &fleet.outliers.nodes;
        let mut kinds: Vec<(usize, Kind)> = Vec::new();
        for kind in outliers.iter().map(|outlier| outlier.reasons[0].kind) {
            match kinds.last_mut() {
                // They are in this order.
                Some((count, last)) if *last == kind => *count += 1,
                _ => kinds.push((1, kind)),
            }
        }
        let shown = fleet.groups.len().min(MOST_GROUPS);
        Self {
            odd: outliers.iter().take(MOST_ODD).map(|outlier| OddView::of(fleet, outlier)).collect(),
            more_odd: outliers.len().saturating_sub(MOST_ODD),
            kinds: kinds.into_iter().map(|(count, kind)| (count, kind.in_words())).collect(),
            unjudged: fleet.outliers.unjudged,
            groups: (0..shown).filter_map(|at| GroupView::of(fleet, at)).collect(),
            more_groups: fleet.groups.len() - shown,
            in_more_groups: fleet.groups[shown..].iter().map(|group| group.members.len()).sum(),
        }
    }
}

impl OddView {
    fn of(fleet: &Fleet, outlier: &Outlier) -> Self {
        let first = &outlier.reasons[0];
        Self {
            node: fleet.node(outlier.node, outlier.group, Some(first.kind), ""),
            kind: first.kind.in_words(),
            far: first.ratio.map(times).unwrap_or_default(),
            far_sort: Reason::far(first).map_or_else(String::new, |far| format!("{far:.4}")),
            says: outlier.reasons.iter().map(|reason| reason.says.clone()).collect(),
        }
    }
}

impl GroupView {
    fn of(fleet: &Fleet, at: usize) -> Option<Self> {
        let group = &fleet.groups[at];
        let half = group.members.len().div_ceil(2);
        let best = group
            .timers
            .iter()
            .filter_map(|of| Some((of, of.quality.filter(|quality| quality.nodes >= half)?)))
            .max_by(|a, b| a.1.median.total_cmp(&b.1.median));
        let best = best.map(|(of, _)| of);
        Some(Self {
            number: at + 1,
            href: fleet.group_href(at)?,
            nodes: group.members.len(),
            odd: fleet.odd_of(at),
            machine: group.machine.clone(),
            apart: fleet.apart(group),
            best: best.map_or_else(|| NOTHING.to_owned(), |of| fleet.names[of.timer].to_string()),
            quality: spanned(best.and_then(|of| of.quality), |quality| percent(Some(quality))),
            quality_sort: best.and_then(|of| of.quality).map_or_else(String::new, |q| q.median.to_string()),
            step: spanned(best.and_then(|of| of.step), |ns| time(Some(ns))),
            cost: spanned(best.and_then(|of| of.cost), |ns| time(Some(ns))),
        })
    }
}

impl GroupPage {
    pub fn of(fleet: &Fleet, at: usize) -> Self {
        let group = &fleet.groups[at];
        let mut timers: Vec<_> = group.timers.iter().collect();
        let quality = |range: Option<Range>| range.map_or(-1.0, |range| range.median);
        timers.sort_by(|a, b| quality(b.quality).total_cmp(&quality(a.quality)));
        let sort = |range: Option<Range>| range.map_or_else(String::new, |range| range.median.to_string());
        let view = |of: &crate::fleet::groups::OfTimer| TimerView {
            id: fleet.names[of.timer].to_string(),
            read: of.read,
            listed: of.listed,
            cells: [
                (spanned(of.quality, |quality| percent(Some(quality))), sort(of.quality)),
                (spanned(of.step, |ns| time(Some(ns))), sort(of.step)),
                (spanned(of.cost, |ns| time(Some(ns))), sort(of.cost)),
            ],
        };
        Self {
            nodes: group.members.len(),
            odd: fleet.odd_of(at),
            apart: fleet.apart(group),
            timers: timers.into_iter().map(view).collect(),
        }
    }
}

/// What a machine is, in a line.
pub(super) fn in_a_line(machine: &Machine) -> String {
    let parts = [&machine.cpu, &machine.kernel, &machine.clocksource];
    parts.into_iter().filter(|part| !part.is_empty()).map(String::as_str).collect::<Vec<_>>().join(" · ")
}

/// A median and the range over nodes, as in `31.20 (28.40–33.00)`.
fn spanned(range: Option<Range>, written: impl Fn(f64) -> String) -> String {
    let Some(range) = range else { return NOTHING.to_owned() };
    let [median, low, high] = [range.median, range.low, range.high].map(&written);
    if low == high { median } else { format!("{median} ({low} – {high})") }
}

/// A ratio as people say it: `+31 %`, `×16`.
fn times(ratio: f64) -> String {
    /// From here on percent are hard to read.
    const TWICE: f64 = 2.0;
    if ratio >= TWICE || ratio <= 1.0 / TWICE {
        format!("×{}", significant(ratio, 2))
    } else {
        format!("{:+.0} %", 100.0 * (ratio - 1.0))
    }
}
