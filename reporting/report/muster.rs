//! The nodes of a fleet, as its reports tell of them: each once, by its last report.

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
