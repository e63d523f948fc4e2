//! Publishes a folder of reports as a static web site: a page for each report, and an index that
//! compares the platforms (the machines of the reports), or lists them if there are many. The site
//! is built in a temporary folder next to its destination and then moved.

mod destination;
mod report_page;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{fs, io};

use askama::Template;

use super::matrix::{Matrix, ReportSummary};
use super::{Entry, Page, Plots, Summarize};
use crate::report::{Collection, ReadError};
use crate::scratch::ScratchFolder;
use crate::text::plain;

/// The largest number of platforms that the index compares; with more platforms, it is a list of
/// links.
const MAX_COMPARED_PLATFORMS: usize = 40;
/// The largest number of reports for which pages contain plots, because the plots of a page take a
/// megabyte.
const MAX_REPORTS_WITH_PLOTS: usize = 100;

/// The reason why a site could not be published.
#[derive(Debug, thiserror::Error)]
pub enum SiteError {
    /// The destination, or the folder of reports, cannot be used.
    #[error("{0}")]
    Unusable(String),
    /// A file could not be written.
    #[error("cannot write '{}': {source}; choose another destination, or free disk space", .path.display())]
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
    pub plots: Plots,
}

/// Publishes all reports in and below `folder` as a site at `destination`. Calls `on_report` for
/// each report that was read, from several threads.
///
/// # Errors
/// When `destination` contains anything other than a site, no report could be read, or a file could
/// not be written.
pub fn publish(
    folder: &Path,
    destination: &Path,
    summarize: Option<Summarize>,
    on_report: &(dyn Fn() + Sync),
) -> Result<Site, SiteError> {
    if !folder.is_dir() {
        return Err(SiteError::Unusable(format!(
            "'{}' is not a folder; name the folder that contains the reports",
            folder.display()
        )));
    }
    destination::check(folder, destination)?;
    let parent = parent(destination);
    fs::create_dir_all(parent).map_err(SiteError::write(destination))?;
    // A folder on the same file system can be renamed; mode 755 lets all users read it.
    let scratch = ScratchFolder::within(parent, 0o755).map_err(SiteError::write(destination))?;
    let site = scratch.path();
    let plots = if count_json_files(folder) > MAX_REPORTS_WITH_PLOTS {
        Plots::Omitted
    } else {
        Plots::Drawn
    };
    let found: Collection<Result<ReportSummary, SiteError>> =
        Collection::read(&[folder], |path, report| {
            on_report();
            let href = report_page::write(path, &report, folder, site, plots, summarize)?;
            let text = summarize.and_then(|summarize| summarize(&report));
            Ok(ReportSummary::new(&report, Some(href), text))
        });
    let refused = found.refused.iter().map(ReadError::to_string);
    let left_out: Vec<String> = refused.map(|error| plain(&error)).collect();
    let summaries = found.reports.into_iter().map(|kept| kept.content);
    let mut summaries: Vec<ReportSummary> = summaries.collect::<Result<_, _>>()?;
    if summaries.is_empty() {
        return Err(SiteError::Unusable(format!(
            "no report could be read in '{}'; {}",
            folder.display(),
            left_out.first().map_or("", String::as_str)
        )));
    }
    // Measured machines come before published ones; reports of a machine are sorted by date, the
    // newest first.
    summaries.sort_by(|a, b| {
        let machine = (a.is_published, &a.name).cmp(&(b.is_published, &b.name));
        machine.then_with(|| b.about.cmp(&a.about))
    });
    write(&index(&summaries, &left_out), &site.join("index.html"))?;
    destination::replace(scratch, destination)?;
    Ok(Site {
        reports: summaries.len(),
        left_out,
        plots,
    })
}

/// The page that links to the pages of all reports.
fn index<'a>(summaries: &'a [ReportSummary], left_out: &'a [String]) -> Page<'a> {
    let is_many = summaries.len() > MAX_COMPARED_PLATFORMS;
    let entry = |summary: &ReportSummary| {
        let href = summary.href.clone().unwrap_or_default();
        let path = href.trim_start_matches("reports/");
        let path = path.trim_end_matches(".html").to_owned();
        Entry {
            // With many machines, most names are the same, so the path is shown.
            name: if is_many { path } else { summary.name.clone() },
            href,
            about: summary.about.clone(),
            summary: Some(summary.summary.clone()),
        }
    };
    let (matrices, rest) = if is_many {
        (Vec::new(), "")
    } else {
        (
            Matrix::from_summaries(summaries),
            ", then Quality, platform by platform",
        )
    };
    Page {
        matrices,
        list: summaries.iter().map(entry).collect(),
        left_out,
        ..Page::new(
            "How good are the clocks?".to_owned(),
            format!("{} reports: the summary of each{rest}.", summaries.len()),
        )
    }
}

/// Renders a page and writes it to `path`.
fn write(page: &Page, path: &Path) -> Result<(), SiteError> {
    let text = page.render().map_err(io::Error::other);
    text.and_then(|text| fs::write(path, text))
        .map_err(SiteError::write(path))
}

/// The folder that contains the destination.
fn parent(destination: &Path) -> &Path {
    match destination.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// The number of `.json` files in and below `folder`, not all of which need be reports.
#[must_use]
pub fn count_json_files(folder: &Path) -> usize {
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
