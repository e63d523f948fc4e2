//! Publishes a folder of reports as a static web site: a page for each report, and an index that
//! has a row for each platform (the machines of the reports). The site is built in a temporary folder next to its
//! destination and then moved.

mod report_page;

use std::path::Path;
use std::{fs, io};

use askama::Template;
use timers::os::files::find;

use super::{Extent, INDEX_TITLE, WebPage};
use crate::report::{Collection, ReadError, files, parent};
use crate::scratch::ScratchFolder;
use crate::tabulation::Platforms;
use crate::text::plain;

/// The largest number of reports for which pages contain plots, because the plots of a page take a
/// megabyte.
const MAX_REPORTS_WITH_PLOTS: usize = 100;

/// The name of the index.
const INDEX: &str = "index.html";

/// The reason why a site cannot be published.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SiteError(String);

impl SiteError {
    fn exists(path: &Path) -> Self {
        Self(format!(
            "'{}' exists; name a new folder, or remove it first",
            path.display()
        ))
    }

    fn write(path: &Path) -> impl FnOnce(io::Error) -> Self {
        |why| {
            Self(format!(
                "cannot write '{}': {why}; choose another destination, or free disk space",
                path.display()
            ))
        }
    }
}

/// A published site.
#[derive(Debug)]
pub struct PublishedSite {
    /// The number of reports.
    pub reports: usize,
    /// The reasons why other files were left out.
    pub left_out: Vec<String>,
    /// How much of a report its page shows.
    pub extent: Extent,
}

/// Publishes all reports in and below `folder` as a site at `destination`. Calls `on_report` for
/// each report that was read, from several threads.
///
/// # Errors
/// When `destination` exists or is within `folder`, no report could be read, or a file could
/// not be written.
pub fn publish(
    folder: &Path,
    destination: &Path,
    on_report: &(dyn Fn() + Sync),
) -> Result<PublishedSite, SiteError> {
    if !folder.is_dir() {
        return Err(SiteError(format!(
            "'{}' is not a folder; name the folder that contains the reports",
            folder.display()
        )));
    }
    let found = find(destination, true).map_err(SiteError::write(destination));
    let (open, Some(name)) = found? else {
        return Err(SiteError::exists(destination));
    };
    let place = open.path().join(name);
    if fs::symlink_metadata(&place).is_ok() {
        return Err(SiteError::exists(destination));
    }
    // The data of its pages would be read as reports.
    let real = |path: &Path| path.canonicalize();
    if let (Ok(reports), Ok(parent)) = (real(folder), real(parent(destination)))
        && parent.starts_with(reports)
    {
        return Err(SiteError(format!(
            "'{}' is within '{}'; choose a destination outside the reports",
            destination.display(),
            folder.display()
        )));
    }
    // A folder on the same file system can be renamed; mode 755 lets all users read it.
    let scratch = ScratchFolder::within(&open.path(), 0o755);
    let scratch = scratch.map_err(SiteError::write(destination))?;
    let site = scratch.path();
    let extent = if files(folder).len() > MAX_REPORTS_WITH_PLOTS {
        Extent::WithoutPlots
    } else {
        Extent::Full
    };
    let found: Collection<Result<_, SiteError>> = Collection::read(&[folder], |path, report| {
        on_report();
        let page = report_page::write(path, &report, folder, site, extent)?;
        Ok(Platforms::runs(&report, &page))
    });
    let refused = found.refused.iter().map(ReadError::to_string);
    let left_out: Vec<String> = refused.map(|error| plain(&error)).collect();
    let runs = found.reports.into_iter().map(|kept| kept.content);
    let runs: Vec<_> = runs.collect::<Result<_, _>>()?;
    let reports = runs.len();
    if runs.is_empty() {
        return Err(SiteError(format!(
            "no report could be read in '{}'; {}",
            folder.display(),
            left_out.first().map_or("", String::as_str)
        )));
    }
    let platforms = Platforms::group(runs.into_iter().flatten().collect(), reports);
    let lead = platforms.summary();
    let index = WebPage {
        platforms: Some(platforms),
        left_out: &left_out,
        ..WebPage::new(INDEX_TITLE.to_owned(), lead)
    };
    write(&index, &site.join(INDEX))?;
    let moved = scratch.persist_with(|site| fs::rename(site, &place));
    moved.map_err(SiteError::write(destination))?;
    Ok(PublishedSite {
        reports,
        left_out,
        extent,
    })
}

/// Renders a page and writes it to `path`.
fn write(page: &WebPage, path: &Path) -> Result<(), SiteError> {
    let text = page.render().map_err(io::Error::other);
    text.and_then(|text| fs::write(path, text))
        .map_err(SiteError::write(path))
}
