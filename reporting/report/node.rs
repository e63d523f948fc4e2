//! The name of a node: the one definition of it. The report holds it where the run was told (`--node`), else where it was put tells it. And
//! the nodes of a fleet, as its reports tell of them: each once, by its last report.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::slug::{is_named, slug};
use super::waits::usual_lateness;
use super::{Collection, Kept, ReadError};
use crate::fleet::node::{Names, Node};
use crate::fleet::roll::{Called, Roll};
use crate::model::{Platform, Report};

/// The name of the node that the report in the file `path` is of: its own, else as its file or folder is called; `None` where neither tells.
#[must_use]
pub fn node(report: &Report, path: &Path, below: Option<&Path>) -> Option<String> {
    report.node.clone().or_else(|| by_place(path, below, &report.platform))
}

/// What tells the report in the file `path` from others in and below the folder `below`.
#[must_use]
pub fn called(report: &Report, path: &Path, below: &Path) -> Called {
    let file = path.strip_prefix(below).unwrap_or(path).with_extension("");
    Called {
        name: node(report, path, Some(below)),
        file: file.to_string_lossy().into_owned(),
        created: report.created.clone(),
        cpu: report.platform.cpu.model.clone().unwrap_or_default(),
        platform: slug(&report.platform),
    }
}

/// `NODE.json` is of NODE, and where reports lie in the folder `below`, `NODE/<platform>/<date>/report.json` and `NODE/report.json` in it are
/// too, as `deploy/node.sh` keeps them. `None` where nothing but platform and date tells where it lies.
fn by_place(path: &Path, below: Option<&Path>, platform: &Platform) -> Option<String> {
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned())?;
    if name != "report" && name != "-" && !is_date(&name) {
        return Some(name);
    }
    let relative = below.and_then(|below| path.strip_prefix(below).ok());
    let folders = relative.and_then(Path::parent).into_iter().flat_map(Path::components);
    let mut names: Vec<String> =
        folders.map(|folder| folder.as_os_str().to_string_lossy().into_owned()).collect();
    if names.last().is_some_and(|name| is_date(name)) {
        names.pop();
        if names.last().is_some_and(|name| is_named(name, platform)) {
            names.pop();
        }
    }
    names.pop()
}

/// `2026-11-20`, `2026-11-20-2`, `undated`: as `--save` names folders.
fn is_date(name: &str) -> bool {
    let day = name.get(..10).unwrap_or_default();
    let plain = |(at, b): (usize, u8)| if matches!(at, 4 | 7) { b == b'-' } else { b.is_ascii_digit() };
    name.starts_with("undated") || (day.len() == 10 && day.bytes().enumerate().all(plain))
}

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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::by_place;
    use crate::model::{Cpu, Platform};

    #[test]
    fn the_folder_of_a_node_tells_its_name() {
        let numbers = (Some(25), Some(17));
        let vendor = Some("AuthenticAMD".into());
        let cpu = Cpu {
            vendor,
            model: Some("AMD".into()),
            family: numbers.0,
            model_number: numbers.1,
            ..Cpu::default()
        };
        let platform = Platform { cpu, ..Platform::default() };
        for (path, below, name) in [
            ("run/node7/amd-zen-4/2026-11-20/report.json", Some("run"), Some("node7")),
            ("run/node7/amd/2026-11-20/report.json", Some("run"), Some("node7")),
            ("run/rack-2/node7/amd/2026-11-20-3/report.json", Some("run"), Some("node7")),
            ("run/node7/report.json", Some("run"), Some("node7")),
            ("run/node7.json", Some("run"), Some("node7")),
            ("run/before/node7.json", Some("run"), Some("node7")),
            ("run/node7/2026-11-20.json", Some("run"), Some("node7")),
            ("run/node7.json", None, Some("node7")),
            ("reports/amd/2026-11-20/report.json", Some("reports"), None),
            ("reports/amd/undated/report.json", Some("reports"), None),
            ("report.json", None, None),
            ("-", None, None),
        ] {
            let found = by_place(Path::new(path), below.map(Path::new), &platform);
            assert_eq!(found.as_deref(), name, "{path}");
        }
    }
}
