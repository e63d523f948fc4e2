//! Groups by timers: a matrix for each figure.

use std::collections::{BTreeMap, HashMap};

use super::{Fleet, MOST_GROUPS, in_a_line};
use crate::fleet::groups::{Group, OfTimer, Range};
use crate::fleet::node::TimerName;
use crate::page::matrix::{Cell, Matrix, MatrixColumn, MatrixRow};
use crate::page::parts;
use crate::text::counted;
use crate::text::numbers::{percent, time};

/// Timers in a matrix: those that most nodes have.
const MOST_TIMERS: usize = 100;

/// A figure that a matrix can be of.
struct ShownFigure {
    key: &'static str,
    title: &'static str,
    caption: &'static str,
    of: fn(&OfTimer) -> Option<Range>,
    written: fn(f64) -> String,
    ascending: bool,
}

const SHOWN: [ShownFigure; 3] = [
    ShownFigure {
        key: "quality",
        title: "Quality by group and timer",
        caption: "Median Quality in percent over the nodes of a group, a row a group, a column a timer.",
        of: |of| of.quality,
        written: |quality| percent(Some(quality)),
        ascending: false,
    },
    ShownFigure {
        key: "accuracy",
        title: "Accuracy by group and timer",
        caption: "Median step over the nodes of a group, a row a group, a column a timer.",
        of: |of| of.step,
        written: |ns| time(Some(ns)),
        ascending: true,
    },
    ShownFigure {
        key: "cost",
        title: "Cost by group and timer",
        caption: "Median cost of a call alone over the nodes of a group, a row a group, a column a timer.",
        of: |of| of.cost,
        written: |ns| time(Some(ns)),
        ascending: true,
    },
];

const NOTE: &str = "Medians over the nodes of a group; the range stands in the hint of each cell and on the page of the group. n/a: no \
                    node of the group can read it · ?: not determined · blank: in no report of the group.";

/// One for each figure, timers in the order of their mean Quality; and one of lateness where a timer waited.
pub(in crate::page) fn matrices(fleet: &Fleet) -> Vec<Matrix> {
    let timers = columns(fleet);
    let lateness = lateness(fleet);
    if timers.is_empty() && lateness.is_some() {
        return lateness.into_iter().collect();
    }
    let matrix = |shown: &ShownFigure| Matrix {
        key: shown.key,
        corner: "group",
        figure: Some(shown.key),
        title: shown.title,
        caption: shown.caption,
        note: NOTE,
        ascending: shown.ascending,
        folded: false,
        columns: timers.iter().map(|timer| MatrixColumn::named(&fleet.names[*timer])).collect(),
        rows: rows(fleet, |group| timers.iter().map(|timer| cell(group.timer(*timer), shown)).collect()),
    };
    SHOWN.iter().map(matrix).chain(lateness).collect()
}

/// The least late first.
fn lateness(fleet: &Fleet) -> Option<Matrix> {
    let mut least: BTreeMap<TimerName, f64> = BTreeMap::new();
    for (timer, late) in fleet.groups.iter().flat_map(|group| &group.lateness) {
        let least = least.entry(*timer).or_insert(f64::INFINITY);
        *least = least.min(late.median);
    }
    let mut timers: Vec<(TimerName, f64)> = least.into_iter().collect();
    timers.sort_by(|a, b| a.1.total_cmp(&b.1));
    timers.truncate(MOST_TIMERS);
    let cells = |group: &Group| {
        let late = |timer| group.lateness.iter().find(|(of, _)| *of == timer).map(|(_, late)| *late);
        timers.iter().map(|(timer, _)| Cell::of_range(late(*timer), |ns| time(Some(ns)))).collect()
    };
    (!timers.is_empty()).then(|| Matrix {
        key: "lateness",
        corner: "group",
        figure: Some("lateness"),
        title: "Lateness of waits by group and timer",
        caption: "Median lateness of waits of 1 ms, or of the length nearest to it, over the nodes of a group.",
        note: "Observed less asked, at the median. Blank: in no report of the group.",
        ascending: true,
        folded: false,
        columns: timers.iter().map(|(timer, _)| MatrixColumn::named(&fleet.names[*timer])).collect(),
        rows: rows(fleet, cells),
    })
}

/// The timers that most nodes have, best first.
fn columns(fleet: &Fleet) -> Vec<TimerName> {
    #[derive(Default)]
    struct Of {
        listed: usize,
        quality: f64,
        nodes: usize,
    }
    let mut found: HashMap<TimerName, Of> = HashMap::new();
    for of in fleet.groups.iter().flat_map(|group| &group.timers) {
        let all = found.entry(of.timer).or_default();
        all.listed += of.listed;
        if let Some(quality) = of.quality {
            all.quality += quality.median * quality.nodes as f64;
            all.nodes += quality.nodes;
        }
    }
    let mut timers: Vec<(TimerName, Of)> = found.into_iter().collect();
    timers.sort_by(|a, b| b.1.listed.cmp(&a.1.listed).then(a.0.cmp(&b.0)));
    timers.truncate(MOST_TIMERS);
    let mean = |of: &Of| if of.nodes == 0 { -1.0 } else { of.quality / of.nodes as f64 };
    timers.sort_by(|a, b| mean(&b.1).total_cmp(&mean(&a.1)).then(a.0.cmp(&b.0)));
    timers.into_iter().map(|(timer, _)| timer).collect()
}

/// A row a group.
fn rows(fleet: &Fleet, cells: impl Fn(&Group) -> Vec<Cell>) -> Vec<MatrixRow> {
    let row = |(at, group): (usize, &Group)| MatrixRow {
        id: format!("group {}", at + 1),
        sort: (at + 1).to_string(),
        about: format!("{} · {}", in_a_line(&group.machine), counted(group.members.len(), "node")),
        href: fleet.group_href(at),
        cells: cells(group),
    };
    fleet.groups.iter().take(MOST_GROUPS).enumerate().map(row).collect()
}

fn cell(of: Option<&OfTimer>, shown: &ShownFigure) -> Cell {
    let range = of.and_then(shown.of);
    let cell = Cell::of_range(range, shown.written);
    match (range, of) {
        (Some(range), _) if shown.key == "quality" => {
            Cell { class: parts::quality_class(Some(range.median)), ..cell }
        }
        (None, Some(of)) if of.read == 0 => Cell { text: "n/a".to_owned(), ..cell },
        (None, Some(_)) => Cell { text: "?".to_owned(), ..cell },
        _ => cell,
    }
}

impl Cell {
    /// A median, with the range in its hint.
    fn of_range(range: Option<Range>, written: impl Fn(f64) -> String) -> Self {
        let text = range.map_or_else(String::new, |range| written(range.median));
        let says = range.map_or_else(String::new, |range| {
            format!("{} to {}, {}", written(range.low), written(range.high), counted(range.nodes, "node"))
        });
        let sort = range.map_or_else(String::new, |range| range.median.to_string());
        Self { class: "none", text, sort, says }
    }
}
