//! What changed from one fleet to another: two folders of reports, a node against itself where it is in both.

mod facts;
mod figures;
mod nodes;
mod parts;
mod rows;
mod shown;
mod since;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use super::{ChangedAnswer, Comparison, OneSided, SMALLEST, SMALLEST_QUALITY, Verdict};
use crate::fleet::roll::Called;
use crate::fleet::strays::Strays;
use crate::model::Report;
use crate::parallel;
use crate::report::ReadError;
use crate::text::counted;

pub use facts::{AnswerChange, Concerned, FactChange, FateOfTimer};
pub use figures::{Design, FleetFigure, Unlike};
pub use shown::{render_markdown, render_table};

pub use nodes::Aside;
pub use parts::PartChange;
pub use since::{Chosen, ComparedSince, Moment, NoSides, Sides, SinceRead, dated, name};

use nodes::Fleets;

/// How many nodes there are, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Nodes {
    /// In both folders.
    pub both: usize,
    /// In the old one only.
    pub only_old: usize,
    /// In the new one only.
    pub only_new: usize,
}

impl Nodes {
    /// How many nodes both folders have together.
    #[must_use]
    pub fn reports(self) -> usize {
        2 * self.both + self.only_old + self.only_new
    }
}

/// A node that changed unlike the rest.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UnlikeNode {
    /// The node.
    pub node: String,
    /// What is to be known first: another clock source, another CPU.
    pub platform: Vec<String>,
    /// The figures, what differs most first.
    pub figures: Vec<Unlike>,
    /// Whether these are no more than many nodes of this fleet have, where single figures move by chance.
    pub stray: bool,
}

/// What changed from one fleet to another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FleetComparison {
    /// Who was compared.
    pub nodes: Nodes,
    /// From when on reports are the new ones, where that parts them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Where costs changed: parts of the fleet, the clearest first, then all other nodes.
    #[serde(rename = "where")]
    pub parts: Vec<PartChange>,
    /// Platforms and settings.
    pub platform: Vec<FactChange>,
    /// Figures of timers, by the names of these.
    pub figures: Vec<FleetFigure>,
    /// Answers to the questions of trust.
    pub answers: Vec<AnswerChange>,
    /// Timers that came and went.
    pub one_sided: Vec<FateOfTimer>,
    /// Nodes that changed unlike the rest, those with most figures first.
    pub unlike: Vec<UnlikeNode>,
    /// What makes the nodes others than was meant.
    pub aside: Aside,
    /// Nodes whose new report was made before the old one, as far as their clocks can tell.
    pub backwards: usize,
    /// All timers of either.
    #[serde(skip)]
    timers: Vec<String>,
    /// Those of which a node answered a question of trust on both sides.
    #[serde(skip)]
    asked: Vec<String>,
}

/// Two folders, and what could not be read of them.
#[derive(Debug)]
pub struct FleetsRead {
    /// What changed; nothing where no timer can be compared.
    pub comparison: Option<FleetComparison>,
    /// How many reports could be read of the old folder and of the new one.
    pub read: [usize; 2],
    /// Why others could not.
    pub refused: [Vec<ReadError>; 2],
}

impl FleetComparison {
    /// Compares the reports in and below `new` with those of `old`. Of each only what is compared is kept.
    #[must_use]
    pub fn read(old: &Path, new: &Path) -> FleetsRead {
        let (fleets, refused) = Fleets::read(old, new);
        let read = [fleets.old.len(), fleets.new.len()];
        let comparison = Self::of(&fleets);
        let empty = comparison.figures.is_empty() && fleets.both.is_empty();
        FleetsRead { comparison: (!empty).then_some(comparison), read, refused }
    }

    /// Compares nodes whose reports are made one by one: of the node with that number its name, the old report and the new one.
    #[must_use]
    pub fn of_reports(nodes: usize, made: impl Fn(usize) -> (String, [Report; 2]) + Sync) -> Self {
        Self::of(&Fleets::made(nodes, made))
    }

    /// Compares two folders of reports that are made, each with what tells it apart.
    #[must_use]
    pub fn of_folders(folders: [Vec<(Called, Report)>; 2]) -> Self {
        Self::of(&Fleets::of_folders(folders))
    }

    fn of(fleets: &Fleets) -> Self {
        let mut timers: Vec<usize> = (0..fleets.timers.len()).collect();
        timers.sort_unstable_by_key(|timer| &fleets.timers[*timer]);
        let each = parallel::mapped(&timers, |&timer| {
            (figures::of_timer(fleets, timer), facts::of_timer(fleets, timer))
        });
        let (platform, loud) = facts::platforms(fleets);
        let (mut figures, mut answers, mut one_sided) = (Vec::new(), Vec::new(), Vec::new());
        let mut apart = BTreeMap::<usize, Vec<Unlike>>::new();
        for ((of_timer, unlike), (answered, fates)) in each {
            figures.extend(of_timer);
            answers.extend(answered);
            one_sided.extend(fates);
            unlike.into_iter().for_each(|unlike| apart.entry(unlike.pair).or_default().push(unlike));
        }
        let at = |pair: usize| fleets.both[pair];
        let compared: usize =
            figures.iter().map(|figure: &FleetFigure| figure.worse + figure.better + figure.noise).sum();
        let asked = Asked { nodes: fleets.both.len(), figures: compared / fleets.both.len().max(1) };
        let backwards =
            fleets.both.iter().filter(|(old, new)| fleets.new[*new].created < fleets.old[*old].created);
        Self {
            nodes: Nodes {
                both: fleets.both.len(),
                only_old: fleets.only_old.len(),
                only_new: fleets.only_new.len(),
            },
            since: None,
            parts: parts::changes(fleets),
            platform,
            figures,
            answers,
            one_sided,
            unlike: unlike_nodes(apart, &loud, asked, |pair| fleets.new[at(pair).1].name.clone()),
            aside: fleets.aside.clone(),
            backwards: backwards.count(),
            asked: timers
                .into_iter()
                .filter(|timer| facts::is_asked(fleets, *timer))
                .map(|timer| fleets.timers[timer].clone())
                .collect(),
            timers: fleets.timers.clone(),
        }
    }

    /// How many figures came to this verdict.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> usize {
        self.figures.iter().filter(|figure| figure.compared.verdict == verdict).count()
    }

    /// As if the fleet were one machine: figures are its means, what any node lost or newly fails is lost and failed. Conditions are
    /// held against it.
    #[must_use]
    pub fn as_one(&self) -> Comparison {
        let on =
            |concerned: &Concerned| format!("on {} of {}", concerned.nodes, counted(self.nodes.both, "node"));
        let one_sided = |timer: &FateOfTimer| OneSided {
            timer: timer.timer.clone(),
            fate: timer.fate,
            reason: Some(on(&timer.concerned)),
        };
        let answer = |answer: &AnswerChange| ChangedAnswer {
            timer: answer.timer.clone(),
            question: answer.question,
            old: answer.old,
            new: answer.new,
            finding: on(&answer.concerned),
            verdict: answer.verdict,
        };
        Comparison {
            figures: self.figures.iter().map(|figure| figure.compared.clone()).collect(),
            one_sided: self.one_sided.iter().map(one_sided).collect(),
            answers: self.answers.iter().map(answer).collect(),
            timers: self.timers.clone(),
            asked: self.asked.clone(),
            ..Comparison::default()
        }
    }

    /// As a JSON object: everything, noise as well.
    #[must_use]
    pub fn as_json(&self) -> serde_json::Value {
        let mut value = serde_json::to_value(self).unwrap_or_default();
        for (name, verdict) in [
            ("worse", Verdict::Worse),
            ("better", Verdict::Better),
            ("noise", Verdict::Noise),
            ("unjudged", Verdict::Unjudged),
        ] {
            value[name] = self.count(verdict).into();
        }
        value["smallest"] =
            serde_json::json!({ "cost": SMALLEST, "accuracy": SMALLEST, "quality": SMALLEST_QUALITY });
        value
    }
}

fn unlike_nodes(
    apart: BTreeMap<usize, Vec<Unlike>>,
    loud: &BTreeMap<usize, Vec<String>>,
    asked: Asked,
    name: impl Fn(usize) -> String,
) -> Vec<UnlikeNode> {
    let counts: Vec<usize> = apart.values().map(Vec::len).collect();
    let strays = Strays::of(&counts, asked.nodes, asked.figures);
    let mut nodes: Vec<UnlikeNode> = apart
        .into_iter()
        .map(|(pair, mut figures)| {
            figures.sort_by(|a, b| b.distance.abs().total_cmp(&a.distance.abs()));
            let platform = loud.get(&pair).cloned().unwrap_or_default();
            let stray = platform.is_empty() && strays.explain(figures.len());
            UnlikeNode { node: name(pair), platform, figures, stray }
        })
        .collect();
    nodes.sort_by_key(|node| (node.stray, Reverse(node.figures.len())));
    nodes
}

/// How much was compared.
struct Asked {
    nodes: usize,
    /// Of a node.
    figures: usize,
}
