//! A static site over a folder of reports: an index that compares platforms, or lists them where
//! they are many, and a page for each report. It is made beside the place where it is to be, and
//! then takes that place.

mod place;
mod report_page;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{fs, io};

use askama::Template;

use super::matrix::{Brief, Matrix, headings};
use super::{Entry, Figures, Page, Sentence};
use crate::report::{Collection, ReadError};
use crate::scratch::ScratchFolder;
use crate::text::plain;

/// A site can be told by this file, which lists what it is made of; a folder without it is not
/// replaced.
const MARK: &str = ".timermeter-site";
/// Platforms side by side on the index; more reports are listed.
const SIDE_BY_SIDE: usize = 40;
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
    /// A page was changed by hand.
    #[error(
        "'{}' was changed since `timermeter publish` made it, and would be lost; move it out of the site, or choose another \
         place", .0.display()
    )]
    Changed(PathBuf),
    /// A file was put where a page is to be.
    #[error("'{}' was not made by `timermeter publish`, which makes a file of that name now; move it away", .0.display())]
    Taken(PathBuf),
    /// What was put into the site cannot be kept.
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
        source: askama::Error,
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

/// What the page of a report shows.
#[derive(Clone, Copy)]
struct SiteContent {
    figures: Figures,
    sentence: Option<Sentence>,
}

/// What has been made so far, before it takes its place.
struct Made {
    reports: usize,
    refused: Vec<ReadError>,
}

/// Makes the site of all reports in and below `folder` at `place`. `read` is called for each
/// report, by several threads.
///
/// # Errors
/// When the place is taken by something else, nothing could be read, or something could not be
/// written. `place` is then as it was.
pub fn publish(
    folder: &Path,
    place: &Path,
    sentence: Option<Sentence>,
    read: &(dyn Fn() + Sync),
) -> Result<Site, SiteError> {
    if !folder.is_dir() {
        return Err(SiteError::NoFolder(folder.to_owned()));
    }
    refuse_unless_ours(place)?;
    refuse_nested(folder, place)?;
    let made = beside(place)?;
    let site = made.path();
    let count = count(folder);
    let figures = if count > MANY {
        Figures::LeftOut
    } else {
        Figures::Drawn
    };
    let shown = SiteContent { figures, sentence };
    let Made { reports, refused } = make(folder, site, shown, read)?;
    place::write_manifest(site).map_err(|source| SiteError::Write {
        path: site.join(MARK),
        source,
    })?;
    let at_once = place::take(made, place)?;
    Ok(Site {
        reports,
        left_out: in_words(&refused),
        figures,
        at_once,
    })
}

/// Why files were left out.
fn in_words(refused: &[ReadError]) -> Vec<String> {
    refused
        .iter()
        .map(|error| plain(&error.to_string()))
        .collect()
}

/// There has to be a report.
fn refuse_none(reports: usize, refused: &[ReadError], folder: &Path) -> Result<(), SiteError> {
    if reports > 0 {
        return Ok(());
    }
    let first = in_words(refused).into_iter().next().unwrap_or_default();
    Err(SiteError::NoReports {
        folder: folder.to_owned(),
        first,
    })
}

/// Writes a page of the site.
fn write(page: &Page, site: &Path, name: &str) -> Result<(), SiteError> {
    let path = site.join(name);
    let text = page.render().map_err(|error| SiteError::Page {
        path: path.clone(),
        source: error.into(),
    })?;
    fs::write(&path, text).map_err(|source| SiteError::Write { path, source })
}

fn refuse_unless_ours(place: &Path) -> Result<(), SiteError> {
    let refused = || Err(SiteError::NotOurs(place.to_owned()));
    match fs::symlink_metadata(place) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(SiteError::Write {
            path: place.to_owned(),
            source,
        }),
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
    let (Ok(reports), Ok(parent)) = (real(folder), real(parent)) else {
        return Ok(());
    };
    let site = real(place).unwrap_or_else(|_| parent.join(place.file_name().unwrap_or_default()));
    if site.starts_with(&reports) || reports.starts_with(&site) {
        return Err(SiteError::Nested {
            reports: folder.to_owned(),
            site: place.to_owned(),
        });
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
    let explain = |source| SiteError::Write {
        path: place.to_owned(),
        source,
    };
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

fn make(
    folder: &Path,
    site: &Path,
    shown: SiteContent,
    read: &(dyn Fn() + Sync),
) -> Result<Made, SiteError> {
    let found: Collection<Result<Brief, SiteError>> =
        Collection::read(&[folder], |path, report| {
            read();
            let href = report_page::write(path, &report, folder, site, shown)?;
            Ok(Brief::of(
                &report,
                Some(href),
                shown.sentence.and_then(|sentence| sentence(&report)),
            ))
        });
    let mut briefs = Vec::with_capacity(found.reports.len());
    for kept in found.reports {
        briefs.push(kept.content?);
    }
    refuse_none(briefs.len(), &found.refused, folder)?;
    // Machines that were measured first, side by side, the newest run of each first.
    briefs.sort_by(|a, b| {
        (a.origin, &a.name)
            .cmp(&(b.origin, &b.name))
            .then_with(|| b.about.cmp(&a.about))
    });
    let is_many = briefs.len() > SIDE_BY_SIDE;
    let names = headings(&briefs.iter().collect::<Vec<_>>());
    let path = |href: &str| {
        href.trim_start_matches("reports/")
            .trim_end_matches(".html")
            .to_owned()
    };
    let entry = |(brief, name): (&Brief, String)| Entry {
        href: brief.href.clone().unwrap_or_default(),
        // Of many machines, most have the same name.
        name: brief.href.as_deref().filter(|_| is_many).map_or(name, path),
        about: brief.about.clone(),
        says: Some(brief.says.clone()),
    };
    let page = Page {
        matrices: if is_many {
            Vec::new()
        } else {
            Matrix::all_of(&briefs)
        },
        list: briefs.iter().zip(names).map(entry).collect(),
        is_verdicts: true,
        left_out: &in_words(&found.refused),
        ..Page::new(
            "How good are the clocks?".to_owned(),
            if is_many {
                format!("{} reports: what each comes down to.", briefs.len())
            } else {
                format!(
                    "{} reports: what each comes down to, then Quality, platform by platform.",
                    briefs.len()
                )
            },
        )
    };
    write(&page, site, "index.html")?;
    Ok(Made {
        reports: briefs.len(),
        refused: found.refused,
    })
}
