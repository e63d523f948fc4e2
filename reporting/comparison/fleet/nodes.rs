//! What is kept of the reports of a fleet, and which of two folders are of one node.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use indexmap::IndexSet;
use serde::Serialize;

use super::super::{Figure, PlatformChange, Quantity, is_of_single_process, platform};
use crate::fields::Comparable;
use crate::fleet::roll::{Called, Roll};
use crate::model::{Frequency, Outcome, Platform, Question, Report, Settings, Status, TimerRow, Verdicts};
use crate::parallel;
use crate::report::{Collection, Kept, ReadError, called};
use crate::text::json::{Layout, written};

/// What is compared of a report of a fleet.
pub(super) struct Node {
    /// What it is called.
    pub name: String,
    /// When it was made, as its clock had it.
    pub created: String,
    /// What turned time into cycles.
    pub cycles_hz: Option<f64>,
    /// Its machine and its settings, which many nodes share.
    pub machine: Arc<Report>,
    /// By timer.
    rows: Box<[Row]>,
}

/// What is compared of a timer. A fleet has millions of them.
pub(super) struct Row {
    timer: u32,
    pub status: Status,
    figures: Figures,
    /// By question.
    pub answers: Option<[Outcome; Question::ALL.len()]>,
    pub single_process: bool,
    /// Fresh processes that its intervals rest on.
    pub processes: u32,
}

/// Values by quantity, as clocks have them, and how far off the ends of their intervals are, which need less precision; NaN for what is not
/// known. That takes two fifths of the memory of figures.
struct Figures {
    values: [f64; Comparable::OF_CLOCKS],
    ends: [[f32; 2]; Comparable::OF_CLOCKS],
}

impl Figures {
    fn of(row: &TimerRow) -> Self {
        let figures = Quantity::of_clocks().map(|quantity| quantity.slewed(row));
        let off = |figure: Figure| {
            [figure.low, figure.high].map(|end| end.map_or(f32::NAN, |end| (end - figure.value) as f32))
        };
        Self {
            values: figures.map(|figure| figure.map_or(f64::NAN, |figure| figure.value)),
            ends: figures.map(|figure| figure.map_or([f32::NAN; 2], off)),
        }
    }
}

impl Row {
    /// A figure, by the place of its quantity among those of clocks.
    pub fn figure(&self, at: usize) -> Option<Figure> {
        let value = Some(self.figures.values[at]).filter(|value| !value.is_nan())?;
        let end = |off: f32| (!off.is_nan()).then(|| value + f64::from(off));
        let [low, high] = self.figures.ends[at].map(end);
        Some(Figure { value, low, high })
    }

    /// What a call costs alone.
    pub fn cost(&self) -> Option<f64> {
        static COST: LazyLock<Option<usize>> = LazyLock::new(|| {
            Quantity::of_clocks().into_iter().position(|quantity| quantity == Quantity::COST)
        });
        Some(self.figure((*COST)?)?.value)
    }
}

impl Node {
    pub fn row(&self, timer: usize) -> Option<&Row> {
        self.rows.binary_search_by_key(&timer, |row| row.timer as usize).ok().map(|at| &self.rows[at])
    }

    /// The same under a name.
    pub fn called(self, name: String) -> Self {
        Self { name, ..self }
    }

    /// What its timers cost.
    pub fn costs(&self) -> Vec<(usize, f64)> {
        let cost = |row: &Row| Some((row.timer as usize, row.cost()?));
        self.rows.iter().filter_map(cost).collect()
    }
}

/// Two folders of reports.
pub(super) struct Fleets {
    pub old: Vec<Node>,
    pub new: Vec<Node>,
    /// Ids of timers, by number.
    pub timers: Vec<String>,
    /// Places of nodes that are in both.
    pub both: Vec<(usize, usize)>,
    /// Which of these are another machine now: they have another clock source, or another CPU.
    pub other: Vec<bool>,
    pub only_old: Vec<usize>,
    pub only_new: Vec<usize>,
    /// Reports that are no nodes of their own, or are but should not be.
    pub aside: Aside,
}

/// What of the reports of both folders makes their nodes others than was meant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Aside {
    /// Reports of a node that has a later one in the folder.
    pub earlier: usize,
    /// Reports that do not say of which node they are; each is one.
    pub unnamed: usize,
    /// Names that several machines of a folder have; their reports are called by their files.
    pub shared: BTreeSet<String>,
}

/// What several reports have alike, so that it is kept once.
#[derive(Default)]
pub(super) struct Known {
    /// Ids of timers.
    timers: Mutex<IndexSet<String>>,
    /// Machines and settings, by what is compared of them.
    machines: Mutex<HashMap<String, Arc<Report>>>,
}

/// What it guards is whole after each step.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The reports of a folder, and what tells them apart.
type Folder = (Vec<Called>, Vec<Node>);

/// All reports of a folder, with what several have alike, and what could not be read.
pub(super) fn whole(folder: &Path) -> (Vec<Called>, Vec<Node>, Known, Vec<ReadError>) {
    let known = Known::default();
    let ((called, nodes), refused) = read(folder, &known);
    (called, nodes, known, refused)
}

fn read(folder: &Path, known: &Known) -> (Folder, Vec<ReadError>) {
    let collection = Collection::read(&[folder], |path, report: Report| {
        (called(&report, path, folder), kept(report, known))
    });
    let nodes = collection.reports.into_iter().map(|Kept { content, .. }| content).unzip();
    (nodes, collection.refused)
}

impl Fleets {
    /// Reads both folders, and says what could not be read of either.
    pub fn read(old: &Path, new: &Path) -> (Self, [Vec<ReadError>; 2]) {
        let known = Known::default();
        let [(old, old_refused), (new, new_refused)] = [old, new].map(|folder| read(folder, &known));
        (Self::of(old, new, known), [old_refused, new_refused])
    }

    /// Nodes whose reports are made one by one: of the node with that number, the old one and the new one.
    pub fn made(nodes: usize, made: impl Fn(usize) -> (String, [Report; 2]) + Sync) -> Self {
        let known = Known::default();
        let both = parallel::numbered(nodes, |at| {
            let (name, reports) = made(at);
            let called = Called { name: Some(name), ..Called::default() };
            reports.map(|report| (called.clone(), kept(report, &known)))
        });
        let (old, new): (Vec<_>, Vec<_>) = both.into_iter().map(|[old, new]| (old, new)).unzip();
        Self::of(old.into_iter().unzip(), new.into_iter().unzip(), known)
    }

    /// Folders of reports that are made, each with what tells it apart.
    pub fn of_folders(folders: [Vec<(Called, Report)>; 2]) -> Self {
        let known = Known::default();
        let kept = |(called, report)| (called, kept(report, &known));
        let [old, new] = folders.map(|folder| folder.into_iter().map(kept).unzip());
        Self::of(old, new, known)
    }

    fn of(old: Folder, new: Folder, known: Known) -> Self {
        let rolls = [Roll::of(&old.0), Roll::of(&new.0)];
        let of_both = |count: fn(&Roll) -> usize| rolls.iter().map(count).sum();
        let aside = Aside {
            earlier: of_both(|roll| roll.earlier),
            unnamed: of_both(|roll| roll.unnamed),
            shared: rolls.iter().flat_map(|roll| roll.shared.iter().cloned()).collect(),
        };
        let [old_roll, new_roll] = rolls;
        Self::joined(named(old.1, old_roll.nodes), named(new.1, new_roll.nodes), aside, known)
    }

    /// Reports of which those of either side were chosen, by their places.
    pub fn chosen(nodes: Vec<Node>, sides: [Vec<(usize, String)>; 2], aside: Aside, known: Known) -> Self {
        let [old, new] = sides;
        let since = new.iter().map(|(at, _)| *at).collect::<BTreeSet<_>>();
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for (at, node) in nodes.into_iter().enumerate() {
            let (mine, other) = if since.contains(&at) { (Some(node), None) } else { (None, Some(node)) };
            after.push(mine);
            before.push(other);
        }
        Self::joined(taken(before, old), taken(after, new), aside, known)
    }

    /// Nodes of either side.
    pub fn joined(old: Vec<Node>, new: Vec<Node>, aside: Aside, known: Known) -> Self {
        let places: HashMap<&str, usize> =
            new.iter().enumerate().map(|(at, node)| (node.name.as_str(), at)).collect();
        let (mut both, mut only_old) = (Vec::new(), Vec::new());
        for (at, node) in old.iter().enumerate() {
            match places.get(node.name.as_str()) {
                Some(place) => both.push((at, *place)),
                None => only_old.push(at),
            }
        }
        let other = both.iter().map(|(at, place)| is_other(&old[*at], &new[*place])).collect();
        let met: BTreeSet<usize> = both.iter().map(|(_, new)| *new).collect();
        let only_new = (0..new.len()).filter(|at| !met.contains(at)).collect();
        let timers = known.timers.into_inner().unwrap_or_else(PoisonError::into_inner);
        let timers = timers.into_iter().collect();
        Self { old, new, timers, both, other, only_old, only_new, aside }
    }
}

/// The last report of each node, by its name.
fn named(reports: Vec<Node>, nodes: Vec<(usize, String)>) -> Vec<Node> {
    taken(reports.into_iter().map(Some).collect(), nodes)
}

fn taken(mut reports: Vec<Option<Node>>, nodes: Vec<(usize, String)>) -> Vec<Node> {
    let node = |(at, name): (usize, String)| Some(Node { name, ..reports.get_mut(at)?.take()? });
    nodes.into_iter().filter_map(node).collect()
}

/// Whether a node is another machine now, as far as its reports tell.
fn is_other(old: &Node, new: &Node) -> bool {
    let same = Arc::ptr_eq(&old.machine, &new.machine);
    !same && platform::changes(&old.machine, &new.machine).iter().any(PlatformChange::is_loud)
}

/// What is kept of a report.
pub(super) fn kept(report: Report, known: &Known) -> Node {
    let mut timers = locked(&known.timers);
    let row = |row: &TimerRow| {
        let figures = Figures::of(row);
        let answers = row.verdicts.as_ref().map(outcomes);
        let single_process = is_of_single_process(row);
        let processes = row.observations.as_ref().map_or(0, |seen| seen.processes);
        let timer = timers.get_index_of(&row.id).unwrap_or_else(|| timers.insert_full(row.id.clone()).0);
        let timer = u32::try_from(timer).unwrap_or(u32::MAX);
        Row { timer, status: row.status, figures, answers, single_process, processes }
    };
    let mut rows: Box<[Row]> = report.timers.iter().map(row).collect();
    drop(timers);
    rows.sort_unstable_by_key(|row| row.timer);
    let cycles_hz = report.frequency.cycles_hz;
    Node {
        name: String::new(),
        created: report.created.clone(),
        cycles_hz,
        machine: machine(report, known),
        rows,
    }
}

/// By question; what was not asked was not tested.
fn outcomes(verdicts: &Verdicts) -> [Outcome; Question::ALL.len()] {
    Question::ALL.map(|question| verdicts.asked(question).map_or(Outcome::NotTested, |answer| answer.outcome))
}

/// The machine and the settings of a report, without what each run has of its own.
fn machine(report: Report, known: &Known) -> Arc<Report> {
    let platform = Platform { ntp: None, load: None, steal_share: None, ..report.platform };
    let frequency = Frequency { cycles_from: report.frequency.cycles_from, ..Frequency::default() };
    let settings = Settings { seed: 0, ..report.settings };
    let all = (&platform, &frequency, &settings, &report.tool, &report.provenance);
    // Text is the one form in which all of these can be looked up. Where it cannot be made nothing is shared.
    let key = written(&all, Layout::Compact).unwrap_or_default();
    let mut machines = locked(&known.machines);
    if let Some(machine) = machines.get(&key).filter(|_| !key.is_empty()) {
        return Arc::clone(machine);
    }
    let machine = Arc::new(Report {
        schema: report.schema,
        tool: report.tool,
        created: String::new(),
        node: None,
        provenance: report.provenance,
        platform,
        frequency,
        settings,
        warnings: Vec::new(),
        timers: Vec::new(),
        waits: Vec::new(),
        periods: Vec::new(),
    });
    machines.insert(key, Arc::clone(&machine));
    machine
}
