//! A static site over a folder of reports: an index that compares platforms, or lists them where
//! they are many, and a page for each report. It is made next to the place where it is to be, and
//! then moved there.

mod place;
mod report_page;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{fs, io};

use askama::Template;

use super::matrix::{Brief, Matrix};
use super::{Entry, Figures, Page, Sentence};
use crate::report::{Collection, ReadError};
use crate::scratch::ScratchFolder;
use crate::text::plain;

/// Platforms side by side on the index; more reports are listed.
const SIDE_BY_SIDE: usize = 40;
/// With more reports than this, pages have no figures as they are a megabyte each.
const MANY: usize = 100;

/// Why a site could not be made.
#[derive(Debug, thiserror::Error)]
pub enum SiteError {
    /// Reports or site lie where they cannot.
    #[error("{0}")]
    Place(String),
    /// Something could not be written.
    #[error("cannot write '{}': {source}; choose another place, or make room", .path.display())]
    Write {
        /// What.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl SiteError {
    fn write(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        |source| Self::Write { path, source }
    }
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
        return Err(SiteError::Place(format!(
            "'{}' is no folder; give the folder that holds the reports",
            folder.display()
        )));
    }
    place::check(folder, place)?;
    let parent = parent(place);
    fs::create_dir_all(parent).map_err(SiteError::write(place))?;
    // On the same file system, so that it can be renamed, and to be read by others.
    let made = ScratchFolder::within(parent, 0o755).map_err(SiteError::write(place))?;
    let site = made.path();
    let figures = if count(folder) > MANY {
        Figures::LeftOut
    } else {
        Figures::Drawn
    };
    let found: Collection<Result<Brief, SiteError>> =
        Collection::read(&[folder], |path, report| {
            read();
            let href = report_page::write(path, &report, folder, site, figures, sentence)?;
            let says = sentence.and_then(|sentence| sentence(&report));
            Ok(Brief::new(&report, Some(href), says))
        });
    let refused = found.refused.iter().map(ReadError::to_string);
    let left_out: Vec<String> = refused.map(|error| plain(&error)).collect();
    let briefs = found.reports.into_iter().map(|kept| kept.content);
    let mut briefs: Vec<Brief> = briefs.collect::<Result<_, _>>()?;
    if briefs.is_empty() {
        return Err(SiteError::Place(format!(
            "no report could be read in '{}'; {}",
            folder.display(),
            left_out.first().map_or("", String::as_str)
        )));
    }
    // Machines that were measured first, side by side, the newest run of each first.
    briefs.sort_by(|a, b| {
        let machine = (a.is_published, &a.name).cmp(&(b.is_published, &b.name));
        machine.then_with(|| b.about.cmp(&a.about))
    });
    write(&index(&briefs, &left_out), &site.join("index.html"))?;
    place::take(made, place)?;
    Ok(Site {
        reports: briefs.len(),
        left_out,
        figures,
    })
}

fn index<'a>(briefs: &'a [Brief], left_out: &'a [String]) -> Page<'a> {
    let is_many = briefs.len() > SIDE_BY_SIDE;
    let entry = |brief: &Brief| {
        let href = brief.href.clone().unwrap_or_default();
        let path = href.trim_start_matches("reports/");
        let path = path.trim_end_matches(".html").to_owned();
        Entry {
            // Of many machines, most have the same name.
            name: if is_many { path } else { brief.name.clone() },
            href,
            about: brief.about.clone(),
            says: Some(brief.says.clone()),
        }
    };
    let (matrices, then) = if is_many {
        (Vec::new(), "")
    } else {
        (
            Matrix::all_of(briefs),
            ", then Quality, platform by platform",
        )
    };
    Page {
        matrices,
        list: briefs.iter().map(entry).collect(),
        left_out,
        ..Page::new(
            "How good are the clocks?".to_owned(),
            format!("{} reports: what each comes down to{then}.", briefs.len()),
        )
    }
}

/// Writes a page of the site.
fn write(page: &Page, path: &Path) -> Result<(), SiteError> {
    let text = page.render().map_err(io::Error::other);
    text.and_then(|text| fs::write(path, text))
        .map_err(SiteError::write(path))
}

fn parent(place: &Path) -> &Path {
    match place.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
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
