//! A static site over a folder of reports: an index that compares platforms, and a page for each report. It is made beside
//! the place where it is to be, and then takes that place.

mod manifest;
mod place;

use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use askama::Template;
use rayon::prelude::*;

use super::matrix::{Brief, Matrix, Pages};
use super::view::{self, ReportView};
use super::{ALONE, Entry, Figures, Page, PageError};
use crate::model::Report;
use crate::report::Collection;
use crate::report::machine::name;
use crate::scratch::ScratchFolder;
use crate::text::plain;

/// A site can be told by this file, which lists what it is made of; a folder without it is not replaced.
const MARK: &str = ".timermeter-site";
/// Platforms side by side on a page of the index.
const COLUMNS: usize = 40;
/// With more reports than this, pages have no figures unless specified otherwise: a megabyte each.
const MANY: usize = 100;

/// Why a site could not be made.
#[derive(Debug, thiserror::Error)]
pub enum SiteError {
    /// The folder of reports is no folder.
    #[error("'{}' is no folder; give the folder that holds the reports", .0.display())]
    NoFolder(PathBuf),
    /// The place is taken by something else.
    #[error(
        "'{}' is there and was not made by `timermeter publish` (it has no file {MARK}); choose another place, or \
         remove it", .0.display()
    )]
    NotOurs(PathBuf),
    /// The site is to lie inside the reports, or the other way round.
    #[error("'{}' and '{}' lie in each other; choose a place outside the reports", .reports.display(), .site.display())]
    Nested {
        /// The reports.
        reports: PathBuf,
        /// The site.
        site: PathBuf,
    },
    /// Nothing could be read.
    #[error("no report could be read in '{}'; {first}", .folder.display())]
    NoReports {
        /// The folder.
        folder: PathBuf,
        /// Why the first file was left out.
        first: String,
    },
    /// Somebody changed a page.
    #[error(
        "'{}' was changed since `timermeter publish` made it, and would be lost; move it out of the site, or choose another \
         place", .0.display()
    )]
    Changed(PathBuf),
    /// Somebody put a file where a page is to be.
    #[error("'{}' was not made by `timermeter publish`, which makes a file of that name now; move it away", .0.display())]
    Taken(PathBuf),
    /// What somebody put into the site cannot be kept.
    #[error(
        "'{}' was not made by `timermeter publish` and cannot be kept beside a new site: {source}; move it out of the site, \
         or choose another place", .path.display()
    )]
    Keep {
        /// What.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Something could not be written.
    #[error("cannot write '{}': {source}; choose another place, or make room", .path.display())]
    Write {
        /// What.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A page could not be made.
    #[error("the page of '{}': {source}", .path.display())]
    Page {
        /// The report.
        path: PathBuf,
        /// Why.
        source: PageError,
    },
}

/// A site that was made.
#[derive(Debug)]
pub struct Site {
    /// How many reports it shows.
    pub reports: usize,
    /// Why other files were left out.
    pub left_out: Vec<String>,
    /// Whether pages have figures.
    pub figures: Figures,
    /// Whether it took the place of an earlier one at once.
    pub at_once: bool,
}

/// Makes the site of all reports in and below `folder` at `place`. `figures` is decided by their number where it is null.
/// `page_made` is called for each page of a report, by several threads.
///
/// # Errors
/// When the place is taken by something else, nothing could be read, or something could not be written. `place` is then as it
/// was.
pub fn publish(
    folder: &Path,
    place: &Path,
    figures: Option<Figures>,
    page_made: &(dyn Fn() + Sync),
) -> Result<Site, SiteError> {
    if !folder.is_dir() {
        return Err(SiteError::NoFolder(folder.to_owned()));
    }
    refuse_unless_ours(place)?;
    refuse_nested(folder, place)?;
    let made = beside(place)?;
    let figures =
        figures.unwrap_or_else(|| if count(folder) > MANY { Figures::LeftOut } else { Figures::Drawn });
    let read: Collection<Result<Brief, SiteError>> = Collection::read(&[folder], |path, report| {
        page_of(path, &report, folder, made.path(), figures).inspect(|_| page_made())
    });
    let mut briefs = Vec::with_capacity(read.reports.len());
    for kept in read.reports {
        briefs.push(kept.content?);
    }
    let left_out: Vec<String> = read.refused.iter().map(|error| plain(&error.to_string())).collect();
    if briefs.is_empty() {
        let first = left_out.into_iter().next().unwrap_or_default();
        return Err(SiteError::NoReports { folder: folder.to_owned(), first });
    }
    // Machines side by side, the newest run of each first.
    briefs.sort_by(|a, b| a.name.cmp(&b.name).then_with(|| b.about.cmp(&a.about)));
    write_index(&briefs, &left_out, made.path())?;
    manifest::write(made.path())
        .map_err(|source| SiteError::Write { path: made.path().join(MARK), source })?;
    let at_once = place::take(made, place)?;
    Ok(Site { reports: briefs.len(), left_out, figures, at_once })
}

fn refuse_unless_ours(place: &Path) -> Result<(), SiteError> {
    let refused = || Err(SiteError::NotOurs(place.to_owned()));
    match fs::symlink_metadata(place) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(SiteError::Write { path: place.to_owned(), source }),
        Ok(found) if !found.is_dir() => refused(),
        Ok(_) if place.join(MARK).is_file() => Ok(()),
        Ok(_) => match fs::read_dir(place).map(|mut entries| entries.next().is_none()) {
            Ok(true) => Ok(()),
            _ => refused(),
        },
    }
}

/// The reports must outlive the site that is replaced, and a site must not be read as reports.
fn refuse_nested(folder: &Path, place: &Path) -> Result<(), SiteError> {
    let real = |path: &Path| path.canonicalize();
    let parent = parent(place);
    let (Ok(reports), Ok(parent)) = (real(folder), real(parent)) else { return Ok(()) };
    let site = real(place).unwrap_or_else(|_| parent.join(place.file_name().unwrap_or_default()));
    if site.starts_with(&reports) || reports.starts_with(&site) {
        return Err(SiteError::Nested { reports: folder.to_owned(), site: place.to_owned() });
    }
    Ok(())
}

fn parent(place: &Path) -> &Path {
    match place.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// A folder on the same file system, so that it can be renamed.
fn beside(place: &Path) -> Result<ScratchFolder, SiteError> {
    let explain = |source| SiteError::Write { path: place.to_owned(), source };
    fs::create_dir_all(parent(place)).map_err(explain)?;
    // A site is there to be read by others.
    ScratchFolder::within(parent(place), 0o755).map_err(explain)
}

/// How many reports there may be.
#[must_use]
pub fn count(folder: &Path) -> usize {
    let mut found = 0;
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder {
                folders.push(entry.path());
            } else if entry.path().extension() == Some(OsStr::new("json")) {
                found += 1;
            }
        }
    }
    found
}

/// Writes the page of a report, and its data beside it; returns what the index needs.
fn page_of(
    path: &Path,
    report: &Report,
    folder: &Path,
    site: &Path,
    figures: Figures,
) -> Result<Brief, SiteError> {
    let parts = address(path.strip_prefix(folder).unwrap_or(path));
    let href = format!("reports/{}.html", parts.join("/"));
    let target = site.join(&href);
    let explain = |source| SiteError::Write { path: target.clone(), source };
    let failed = |source: PageError| SiteError::Page { path: path.to_owned(), source };
    let home = "../".repeat(parts.len()) + "index.html";
    let mut view = ReportView::of(report, "r0", figures).map_err(|error| failed(error.into()))?;
    view.heading = ALONE.to_owned();
    let page = Page {
        home: Some(home),
        reports: vec![view],
        list: vec![Entry {
            href: format!("{}.json", parts.last().map_or("report", String::as_str)),
            name: "The report itself".to_owned(),
            about: "JSON, schema timermeter.report.v1".to_owned(),
        }],
        ..Page::new(format!("Timers of {}", name(report)), view::about(report))
    };
    let text = page.render().map_err(|error| failed(error.into()))?;
    // Not the site itself: where that is gone, somebody asked to stop.
    let mut folder = site.to_owned();
    let below = target.parent().and_then(|parent| parent.strip_prefix(site).ok());
    for part in below.into_iter().flat_map(Path::components) {
        folder.push(part);
        match fs::create_dir(&folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(explain(error)),
            _ => {}
        }
    }
    fs::write(&target, text).map_err(explain)?;
    fs::copy(path, target.with_extension("json")).map_err(explain)?;
    Ok(Brief::of(report, Some(href)))
}

/// The path of a report as parts of an address that need no escaping anywhere. What had to be changed is distinguished
/// by a number that follows from the name.
fn address(path: &Path) -> Vec<String> {
    let path = path.with_extension("");
    let part = |part: &OsStr| {
        let text = part.to_string_lossy();
        let fit = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
        let name: String = text.chars().take(100).map(fit).collect();
        if name == text && !name.starts_with('.') {
            return name;
        }
        let mut hasher = DefaultHasher::new();
        part.as_encoded_bytes().hash(&mut hasher);
        format!("{}-{:08x}", name.trim_start_matches('.'), hasher.finish() as u32)
    };
    let parts: Vec<String> = path.iter().map(part).collect();
    if parts.is_empty() { vec!["report".to_owned()] } else { parts }
}

fn index_name(number: usize) -> String {
    if number == 0 { "index.html".to_owned() } else { format!("index-{}.html", number + 1) }
}

fn write_index(briefs: &[Brief], left_out: &[String], site: &Path) -> Result<(), SiteError> {
    let pages: Vec<&[Brief]> = briefs.chunks(COLUMNS).collect();
    let count = pages.len();
    pages.par_iter().enumerate().try_for_each(|(at, briefs_here)| {
        let path = site.join(index_name(at));
        let pages = (count > 1).then(|| Pages {
            number: at + 1,
            count,
            before: at.checked_sub(1).map(index_name),
            after: (at + 1 < count).then(|| index_name(at + 1)),
        });
        let entry = |brief: &Brief| Entry {
            href: brief.href.clone().unwrap_or_default(),
            name: brief.name.clone(),
            about: brief.about.clone(),
        };
        let page = Page {
            matrices: Matrix::all_of(briefs_here, pages),
            list: briefs_here.iter().map(entry).collect(),
            left_out: if at == 0 { left_out } else { &[] },
            ..Page::new(
                "How good are the clocks?".to_owned(),
                format!("Quality of the timers of {} reports, platform by platform.", briefs.len()),
            )
        };
        let text =
            page.render().map_err(|error| SiteError::Page { path: path.clone(), source: error.into() })?;
        fs::write(&path, text).map_err(|source| SiteError::Write { path, source })
    })
}

#[cfg(test)]
mod tests {
    use super::address;
    use std::path::Path;

    #[test]
    fn addresses_need_no_escaping_and_differ() {
        assert_eq!(address(Path::new("amd-kvm/2026-11-20/report.json")), ["amd-kvm", "2026-11-20", "report"]);
        let odd = ["a b.json", "a?b.json", "a\"b.json", ".a.json", "ä.json"]
            .map(|name| address(Path::new(name)).join("/"));
        for (at, one) in odd.iter().enumerate() {
            assert!(one.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)), "{one}");
            assert!(!odd[..at].contains(one) && !one.starts_with('.'), "{one}");
        }
    }
}
