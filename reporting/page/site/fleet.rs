//! The site of many reports: an index of those that stand out and of groups, a page for each group, a list of all, and pages of
//! reports. What stands out is known only when all were read, so those that get a page are read again.

use std::collections::HashMap;
use std::fs;
use std::iter;
use std::path::{Path, PathBuf};

use super::{FleetSummary, Made, Pages, SiteContent, SiteError, in_words, refuse_none, report_page};
use crate::fleet::groups::groups;
use crate::fleet::outliers::outliers;
use crate::fleet::roll::Roll;
use crate::model::Report;
use crate::page::fleet::{Fleet, FleetView, GroupPage, MOST_GROUPS, NodeView, in_a_line, matrices};
use crate::page::{Entry, ListPage, OF_NODES, Page};
use crate::parallel;
use crate::report::{Collection, Muster, ReadError};
use crate::text::{clipped, counted};

/// The list of all nodes.
const ALL: &str = "nodes.html";
/// Nodes of a page of a list: half a kilobyte each, twice that where their files have long names.
const ON_A_PAGE: usize = 1_000;
/// Longest path that is shown.
const LONGEST: usize = 300;

pub(super) fn make(
    folder: &Path,
    site: &Path,
    shown: SiteContent,
    pages: Pages,
    read: &(dyn Fn() + Sync),
) -> Result<Made, SiteError> {
    let Muster { nodes, paths, timers: names, reports: count, mut refused, roll } =
        Muster::read(folder, read);
    refuse_none(count, &refused, folder)?;
    let files = paths
        .iter()
        .map(|path| clipped(&path.strip_prefix(folder).unwrap_or(path).to_string_lossy(), LONGEST));
    let files = files.collect();
    let groups = groups(&nodes);
    let outliers = outliers(&nodes, &groups, &names);
    let mut fleet = Fleet { nodes, files, pages: HashMap::new(), names, groups, outliers };
    let wanted = match pages {
        Pages::All => (0..paths.len()).collect(),
        Pages::Telling => fleet.telling(),
    };
    let (pages, changed) = reports(&fleet, &wanted, &paths, folder, site, shown)?;
    fleet.pages = pages;
    refused.extend(changed);
    index(&fleet, &refused, &roll, shown, site)?;
    group_pages(&fleet, site)?;
    let summary = FleetSummary {
        groups: fleet.groups.len(),
        odd: fleet.outliers.nodes.len(),
        pages: fleet.pages.len(),
        nodes: fleet.nodes.len(),
        unnamed: roll.unnamed,
    };
    Ok(Made { reports: count, refused, fleet: Some(summary) })
}

/// Writes the pages of the `wanted` nodes. Returns their addresses, and which reports are no longer what they were.
fn reports(
    fleet: &Fleet,
    wanted: &[usize],
    paths: &[PathBuf],
    folder: &Path,
    site: &Path,
    shown: SiteContent,
) -> Result<(HashMap<usize, String>, Vec<ReadError>), SiteError> {
    let places: HashMap<&Path, usize> = wanted.iter().map(|node| (paths[*node].as_path(), *node)).collect();
    let reasons = fleet.reasons();
    let wanted: Vec<&Path> = wanted.iter().map(|node| paths[*node].as_path()).collect();
    let found = Collection::read(&wanted, |path, report: Report| {
        let node = places.get(path).copied();
        let reasons = node.and_then(|node| reasons.get(&node)).cloned().unwrap_or_default();
        Ok((node, report_page::write(path, &report, folder, site, shown, reasons)?))
    });
    let mut pages = HashMap::new();
    for kept in found.reports {
        let (node, href): (Option<usize>, String) = kept.content?;
        pages.extend(node.map(|node| (node, href)));
    }
    Ok((pages, found.refused))
}

fn index(
    fleet: &Fleet,
    refused: &[ReadError],
    roll: &Roll,
    shown: SiteContent,
    site: &Path,
) -> Result<(), SiteError> {
    let (nodes, odd) = (fleet.nodes.len(), fleet.outliers.nodes.len());
    let list = Entry {
        href: ALL.to_owned(),
        name: "All reports".to_owned(),
        about: format!("{nodes}, each with its group and its file"),
        says: None,
    };
    let page = Page {
        filter: &OF_NODES,
        fleet: Some(FleetView::of(fleet)),
        matrices: matrices(fleet),
        list: iter::once(list).chain(shown.table()).collect(),
        left_out: &in_words(refused),
        ..Page::new(
            "How good are the clocks?".to_owned(),
            format!(
                "{}: {odd} that stand out, and {}.{}",
                counted(nodes, "node"),
                counted(fleet.groups.len(), "group"),
                aside(roll)
            ),
        )
    };
    super::write(&page, site, "index.html")?;
    let all = || Page {
        home: Some("index.html".to_owned()),
        filter: &OF_NODES,
        ..Page::new("All reports".to_owned(), "Each with its group, and whether it stands out.".to_owned())
    };
    in_pages(fleet.list("", |_| true), site, ALL, |_| all())
}

/// Writes the pages of a list of nodes, the first of them as `name`, those after it as in `nodes-2.html`. `page` makes the page of a
/// number but for its list.
fn in_pages<'a>(
    nodes: Vec<NodeView>,
    site: &Path,
    name: &str,
    page: impl Fn(usize) -> Page<'a>,
) -> Result<(), SiteError> {
    let stem = name.strip_suffix(".html").unwrap_or(name);
    let called =
        |number: usize| if number == 0 { name.to_owned() } else { format!("{stem}-{}.html", number + 1) };
    let mut nodes = nodes.into_iter();
    let parts = iter::from_fn(|| Some(nodes.by_ref().take(ON_A_PAGE).collect::<Vec<_>>()));
    let parts: Vec<Vec<NodeView>> = parts.take_while(|part| !part.is_empty()).collect();
    let links = parts.iter().enumerate().map(|(number, part)| {
        let name = |node: Option<&NodeView>| node.map(|node| node.name.clone()).unwrap_or_default();
        let href = called(number).rsplit('/').next().unwrap_or_default().to_owned();
        ListPage { href, first: name(part.first()), last: name(part.last()) }
    });
    let links: Vec<ListPage> = links.collect();
    for (number, nodes) in parts.into_iter().enumerate() {
        let page = Page { nodes, pages: links.clone(), here: number + 1, ..page(number) };
        super::write(&page, site, &called(number))?;
    }
    Ok(())
}

/// What makes the nodes others than the reports.
fn aside(roll: &Roll) -> String {
    let mut told = String::new();
    if roll.earlier > 0 {
        told += &format!(
            " Of nodes with several reports the last is shown: {} are not.",
            counted(roll.earlier, "earlier report")
        );
    }
    if roll.unnamed > 0 {
        told += &format!(
            " {} do not say of which node they are; each is shown as one.",
            counted(roll.unnamed, "report")
        );
    }
    if !roll.shared.is_empty() {
        told += &format!(
            " Several machines share {}; they are called by their files.",
            counted(roll.shared.len(), "name")
        );
    }
    told
}

fn group_pages(fleet: &Fleet, site: &Path) -> Result<(), SiteError> {
    let folder = site.join("groups");
    fs::create_dir(&folder).map_err(|source| SiteError::Write { path: folder, source })?;
    let written = parallel::numbered(fleet.groups.len().min(MOST_GROUPS), |at| {
        let group = &fleet.groups[at];
        let is_member = |node: usize| group.members.binary_search(&node).is_ok();
        let page = |number: usize| Page {
            home: Some("../index.html".to_owned()),
            filter: &OF_NODES,
            group: (number == 0).then(|| GroupPage::of(fleet, at)),
            ..Page::new(format!("Group {}", at + 1), in_a_line(&group.machine))
        };
        in_pages(fleet.list("../", is_member), site, &format!("groups/{}.html", at + 1), page)
    });
    written.into_iter().collect()
}
