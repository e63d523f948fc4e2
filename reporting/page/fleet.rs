//! Many reports on a page: which nodes stand out, which groups there are, and which nodes are in them.

mod figures;

use std::collections::HashMap;

pub(super) use crate::fleet::findings::in_a_line;
use crate::fleet::findings::{Finding, MOST, findings, in_words, times};
use crate::fleet::groups::{Apart, Group, Range};
use crate::fleet::node::{Machine, Node};
use crate::fleet::outliers::{Kind, Outlier, Outliers, Reason};
use crate::text::numbers::{NOTHING, percent, time};

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
    /// What stands out, each thing once.
    pub findings: Vec<FindingView>,
    /// How many more things do.
    pub more_findings: usize,
    /// How many nodes are in groups too small to judge their figures.
    pub unjudged: usize,
    pub groups: Vec<GroupView>,
    /// Groups that are not shown, and the nodes in them.
    pub more_groups: usize,
    pub in_more_groups: usize,
}

/// Something that stands out, and how many nodes have it.
pub(super) struct FindingView {
    pub kind: &'static str,
    pub what: String,
    pub nodes: usize,
    /// The group, where all of it stands out.
    pub group: Option<(usize, Option<String>)>,
    /// The first of its nodes.
    pub first: String,
    pub far: String,
}

impl FindingView {
    fn of(fleet: &Fleet, finding: &Finding) -> Self {
        Self {
            kind: finding.kind.in_words(),
            what: finding.what.clone(),
            nodes: finding.nodes.len(),
            group: finding.group.map(|group| (group + 1, fleet.group_href(group))),
            first: finding.nodes.first().map_or_else(String::new, |node| fleet.nodes[*node].name.clone()),
            far: finding.ratio.map(times).unwrap_or_default(),
        }
    }
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
        let says = |apart: &Apart| in_words(apart, &self.names);
        group.apart.iter().map(says).collect()
    }
}

impl FleetView {
    pub fn of(fleet: &Fleet) -> Self {
        let outliers = &fleet.outliers.nodes;
        let found = findings(&fleet.nodes, &fleet.groups, &fleet.outliers, &fleet.names);
        let shown = fleet.groups.len().min(MOST_GROUPS);
        Self {
            odd: outliers.iter().take(MOST_ODD).map(|outlier| OddView::of(fleet, outlier)).collect(),
            more_odd: outliers.len().saturating_sub(MOST_ODD),
            findings: found.iter().take(MOST).map(|finding| FindingView::of(fleet, finding)).collect(),
            more_findings: found.len().saturating_sub(MOST),
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

/// A median and the range over nodes, as in `31.20 (28.40–33.00)`.
fn spanned(range: Option<Range>, written: impl Fn(f64) -> String) -> String {
    let Some(range) = range else { return NOTHING.to_owned() };
    let [median, low, high] = [range.median, range.low, range.high].map(&written);
    if low == high { median } else { format!("{median} ({low} – {high})") }
}
