//! Publishes a folder of reports as a static site: a page for each report, and an index that
//! compares the platforms, or lists them if there are many. The site is built in a temporary folder
//! next to its destination and then moved.

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

/// The largest number of platforms that the index compares; it lists more platforms as links.
const MAX_COMPARED_PLATFORMS: usize = 40;
/// The largest number of reports for which pages contain plots, because plots take a megabyte a
/// page.
const MAX_REPORTS_WITH_PLOTS: usize = 100;

/// The reason why a site could not be published.
#[derive(Debug, thiserror::Error)]
pub enum SiteError {
    /// The destination, or the folder of reports, cannot be used.
    #[error("{0}")]
    Place(String),
    /// A file could not be written.
    #[error("cannot write '{}': {source}; choose another place, or make room", .path.display())]
    Write {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

impl SiteError {
    fn write(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        |source| Self::Write { path, source }
    }
}

/// A published site.
#[derive(Debug)]
pub struct Site {
    /// The number of reports.
    pub reports: usize,
    /// The reasons why other files were left out.
    pub left_out: Vec<String>,
    /// Whether the pages contain plots.
    pub figures: Figures,
}

/// Publishes all reports in and below `folder` as a site at `place`. `read` is called for each
/// report, from several threads.
///
/// # Errors
/// When `place` contains anything other than a site, no report could be read, or a file could not
/// be written.
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
    // A folder on the same file system can be renamed; mode 755 lets all users read it.
    let made = ScratchFolder::within(parent, 0o755).map_err(SiteError::write(place))?;
    let site = made.path();
    let figures = if count(folder) > MAX_REPORTS_WITH_PLOTS {
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
    // Measured machines come first, grouped by name, with the newest run first.
    briefs.sort_by(|a, b| {
        let machine = (a.is_published, &a.name).cmp(&(b.is_published, &b.name));
        machine.then_with(|| b.about.cmp(&a.about))
    });
    write(&index(&briefs, &left_out), &site.join("index.html"))?;
    place::replace(made, place)?;
    Ok(Site {
        reports: briefs.len(),
        left_out,
        figures,
    })
}

fn index<'a>(briefs: &'a [Brief], left_out: &'a [String]) -> Page<'a> {
    let is_many = briefs.len() > MAX_COMPARED_PLATFORMS;
    let entry = |brief: &Brief| {
        let href = brief.href.clone().unwrap_or_default();
        let path = href.trim_start_matches("reports/");
        let path = path.trim_end_matches(".html").to_owned();
        Entry {
            // With many machines, most names are the same, so the path is shown.
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

/// Writes one page of the site.
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

/// An upper bound on the number of reports in and below `folder`.
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
