//! The two sides of a fleet by date: the last report of each node before an instant against its last one since.

use std::path::Path;

use super::nodes::{Fleets, Known, Node, kept, whole};
use super::{Aside, FleetComparison};
use crate::fields::{UNSET_UNTIL, time};
use crate::fleet::roll::{Called, Roll};
use crate::fleet::trend::{Run, Trends, trends};
use crate::model::Report;
use crate::report::ReadError;

/// Why reports have no two sides.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoSides {
    /// All are of the new side.
    #[error("no report was made before {since}: the first of them is of {first}; name a later time")]
    NoneBefore {
        /// The instant.
        since: String,
        /// When the first was made.
        first: String,
    },
    /// All are of the old side.
    #[error("no report was made since {since}: the last of them is of {last}; name an earlier time")]
    NoneSince {
        /// The instant.
        since: String,
        /// When the last was made.
        last: String,
    },
    /// None tells when it was made.
    #[error("no report tells when it was made, so that none is before or since {since}")]
    NoneDated {
        /// The instant.
        since: String,
    },
}

/// An instant, and how it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// In microseconds since 1970.
    pub at: i64,
    /// As in `2026-11-20T12:00:00Z`.
    pub written: String,
}

/// Which reports are of which side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sides {
    /// The last report of each node before the instant, and the last since: its place, and what the node is called.
    pub chosen: [Vec<(usize, String)>; 2],
    /// What makes the nodes others than was meant.
    pub aside: Aside,
    /// Reports that tell no time, or one that only clocks tell that were never set: of neither side.
    pub undated: usize,
}

/// A folder whose reports are compared by date.
#[derive(Debug)]
pub struct SinceRead {
    /// What changed.
    pub compared: Result<ComparedSince, NoSides>,
    /// How many reports could be read.
    pub read: usize,
    /// Why others could not.
    pub refused: Vec<ReadError>,
}

/// What changed, how many reports tell no time, and what nodes and groups cost over time.
pub type ComparedSince = (FleetComparison, usize, Trends);

/// When a report was made, in microseconds since 1970, as far as its clock can be believed.
#[must_use]
pub fn dated(called: &Called) -> Option<i64> {
    time(&called.created).filter(|at| *at >= UNSET_UNTIL)
}

impl Sides {
    /// Of these reports.
    ///
    /// # Errors
    /// When one side is empty.
    pub fn of(reports: &[Called], since: &Moment) -> Result<Self, NoSides> {
        let mut places = [Vec::new(), Vec::new()];
        let mut undated = 0;
        for (place, report) in reports.iter().enumerate() {
            match dated(report) {
                Some(at) => places[usize::from(at >= since.at)].push(place),
                None => undated += 1,
            }
        }
        let ends = |side: &[usize], last: bool| {
            let times = side.iter().filter_map(|place| dated(&reports[*place]).map(|at| (at, *place)));
            let end = if last { times.max() } else { times.min() };
            end.map_or_else(String::new, |(_, place)| reports[place].created.clone())
        };
        let written = since.written.clone();
        match &places {
            [before, after] if before.is_empty() && after.is_empty() => {
                return Err(NoSides::NoneDated { since: written });
            }
            [before, after] if before.is_empty() => {
                return Err(NoSides::NoneBefore { since: written, first: ends(after, false) });
            }
            [before, after] if after.is_empty() => {
                return Err(NoSides::NoneSince { since: written, last: ends(before, true) });
            }
            _ => {}
        }
        let mut aside = Aside::default();
        let chosen = places.map(|side| {
            let called: Vec<Called> = side.iter().map(|place| reports[*place].clone()).collect();
            let roll = Roll::of(&called);
            aside.earlier += roll.earlier;
            aside.unnamed += roll.unnamed;
            aside.shared.extend(roll.shared);
            roll.nodes.into_iter().map(|(at, name)| (side[at], name)).collect()
        });
        Ok(Self { chosen, aside, undated })
    }
}

/// What the node of a report is called in trends.
#[must_use]
pub fn name<'a>(called: &'a Called, aside: &Aside) -> &'a str {
    let name = called.name.as_deref().filter(|name| !aside.shared.contains(*name));
    name.unwrap_or(&called.file)
}

impl FleetComparison {
    /// Compares the reports in and below `folder` that were made before an instant with those since.
    #[must_use]
    pub fn since(folder: &Path, since: &Moment) -> SinceRead {
        let (called, nodes, known, refused) = whole(folder);
        let read = nodes.len();
        let compared = Sides::of(&called, since).map(|sides| {
            let trends = of_nodes(&called, &nodes, &sides.aside, since.at);
            let fleets = Fleets::chosen(nodes, sides.chosen, sides.aside, known);
            (Self { since: Some(since.written.clone()), ..Self::of(&fleets) }, sides.undated, trends)
        });
        SinceRead { compared, read, refused }
    }
}

/// Reports of either side that come one by one; of each only what is compared is kept.
#[derive(Default)]
pub struct Chosen {
    known: Known,
    sides: [Vec<Node>; 2],
}

impl Chosen {
    /// Adds one of a node to the old side, 0, or the new one, 1.
    pub fn push(&mut self, side: usize, node: String, report: Report) {
        self.sides[side].push(kept(report, &self.known).called(node));
    }

    /// Compares them.
    #[must_use]
    pub fn compared(self, aside: Aside, since: &Moment) -> FleetComparison {
        let [old, new] = self.sides.map(|mut side| {
            side.sort_by(|one, other| one.name.cmp(&other.name));
            side
        });
        let fleets = Fleets::joined(old, new, aside, self.known);
        FleetComparison { since: Some(since.written.clone()), ..FleetComparison::of(&fleets) }
    }
}

fn of_nodes(called: &[Called], nodes: &[Node], aside: &Aside, since: i64) -> Trends {
    let costs: Vec<Vec<(usize, f64)>> = nodes.iter().map(Node::costs).collect();
    let runs = called.iter().zip(&costs).filter_map(|(called, costs)| {
        let node = name(called, aside);
        Some(Run { node, group: &called.platform, at: dated(called)?, costs })
    });
    trends(&runs.collect::<Vec<_>>(), since)
}

#[cfg(test)]
mod tests {
    use super::{Called, Moment, NoSides, Sides};

    fn report(node: &str, created: &str) -> Called {
        Called { name: Some(node.into()), file: created.into(), created: created.into(), ..Called::default() }
    }

    fn since(written: &str) -> Moment {
        Moment { at: crate::fields::time(written).unwrap(), written: written.into() }
    }

    #[test]
    fn each_node_is_taken_once_a_side() {
        let reports = [
            report("a", "2026-11-01T00:00:00Z"),
            report("a", "2026-11-02T00:00:00Z"),
            report("a", "2026-11-20T00:00:00Z"),
            report("b", "2026-11-10T00:00:00Z"),
            report("c", "1970-01-01T00:00:07Z"),
            report("d", "yesterday"),
        ];
        let sides = Sides::of(&reports, &since("2026-11-10T00:00:00Z")).unwrap();
        assert_eq!(sides.chosen[0], [(1, "a".to_owned())]);
        assert_eq!(sides.chosen[1], [(2, "a".to_owned()), (3, "b".to_owned())]);
        assert_eq!((sides.aside.earlier, sides.undated), (1, 2));
    }

    #[test]
    fn an_empty_side_is_told_with_what_there_is() {
        let reports = [report("a", "2026-11-01T00:00:00Z"), report("a", "2026-11-02T00:00:00Z")];
        let at = |written| Sides::of(&reports, &since(written)).unwrap_err();
        assert!(
            matches!(at("2026-10-01T00:00:00Z"), NoSides::NoneBefore { first, .. } if first.contains("-11-01"))
        );
        assert!(
            matches!(at("2026-12-01T00:00:00Z"), NoSides::NoneSince { last, .. } if last.contains("-11-02"))
        );
        let none = Sides::of(&[report("a", "?")], &since("2026-11-10T00:00:00Z"));
        assert!(matches!(none, Err(NoSides::NoneDated { .. })));
    }
}
