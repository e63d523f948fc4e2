//! The nodes of a fleet, as its reports tell of them: each once, by its last report.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::waits::usual_lateness;
use super::{Collection, Kept, ReadError, called};
use crate::fleet::node::{Names, Node};
use crate::fleet::roll::{Called, Roll};
use crate::model::Report;

/// The nodes of a folder.
#[derive(Debug, Default)]
pub struct Muster {
    /// What is kept of each.
    pub nodes: Vec<Node>,
    /// The files of their reports.
    pub paths: Vec<PathBuf>,
    /// The timers that they name.
    pub timers: Vec<Box<str>>,
    /// How many reports were read.
    pub reports: usize,
    /// Why others could not be.
    pub refused: Vec<ReadError>,
    /// Whose the reports are.
    pub roll: Roll,
}

impl Muster {
    /// Reads all reports in and below `folder`. `read` is called for each, by several threads.
    pub fn read(folder: &Path, read: impl Fn() + Sync) -> Self {
        let timers = Names::default();
        let found = Collection::read(&[folder], |path, report: Report| {
            read();
            (called(&report, path, folder), Node::of("", &report, &usual_lateness(&report), &timers))
        });
        let (paths, kept): (Vec<PathBuf>, Vec<(Called, Node)>) =
            found.reports.into_iter().map(|Kept { path, content }| (path, content)).unzip();
        let (called, nodes): (Vec<Called>, Vec<Node>) = kept.into_iter().unzip();
        let roll = Roll::of(&called);
        let mut nodes: Vec<Option<(PathBuf, Node)>> = paths.into_iter().zip(nodes).map(Some).collect();
        let reports = nodes.len();
        let named = |(at, name): &(usize, String)| {
            let (path, node) = nodes.get_mut(*at)?.take()?;
            Some((path, node.called(name)))
        };
        let (paths, mut nodes): (Vec<PathBuf>, Vec<Node>) = roll.nodes.iter().filter_map(named).unzip();
        let timers = timers.settle(&mut nodes);
        Self { nodes, paths, timers, reports, refused: found.refused, roll }
    }
}

/// Nodes whose reports lie elsewhere and come one by one.
#[derive(Debug, Default)]
pub struct Mustering {
    /// The nodes that are wanted, by the places of their reports among all.
    names: HashMap<usize, String>,
    files: Vec<String>,
    found: Vec<(usize, Node)>,
    timers: Names,
    roll: Roll,
}

impl Mustering {
    /// Of all reports that there are.
    #[must_use]
    pub fn of(called: &[Called]) -> Self {
        let roll = Roll::of(called);
        let names = roll.nodes.iter().cloned().collect();
        let files = called.iter().map(|called| called.file.clone()).collect();
        Self { names, files, roll, ..Self::default() }
    }

    /// The places of the reports that are wanted: the last one of each node.
    pub fn wanted(&self) -> impl Iterator<Item = usize> {
        self.names.keys().copied()
    }

    /// Adds the report at a place.
    pub fn push(&mut self, at: usize, report: &Report) {
        if let Some(name) = self.names.get(&at) {
            self.found.push((at, Node::of(name, report, &usual_lateness(report), &self.timers)));
        }
    }

    /// The nodes.
    #[must_use]
    pub fn nodes(mut self) -> Muster {
        self.found.sort_by(|(_, one), (_, other)| one.name.cmp(&other.name));
        let paths = self.found.iter().map(|(at, _)| PathBuf::from(&self.files[*at])).collect();
        let mut nodes: Vec<Node> = self.found.into_iter().map(|(_, node)| node).collect();
        let timers = self.timers.settle(&mut nodes);
        Muster { nodes, paths, timers, reports: self.files.len(), refused: Vec::new(), roll: self.roll }
    }
}
