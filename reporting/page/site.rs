//! Publishes a folder of reports as a static web site: a page for each report, next to a copy of it, and an
//! index that has a row for each platform (the machines of the reports). The site is built in a temporary
//! folder next to its destination and then moved.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::slice::from_ref;

use askama::Template;
use askama::filters::urlencode;
use timers::os::files::find;

use super::WebPage;
use crate::report::{Collection, ReadError, parent};
use crate::scratch::ScratchFolder;
use crate::tabulation::Platforms;
use crate::text::plain;
use estimators::model::Report;

/// The name of the index.
const INDEX: &str = "index.html";

/// The reason why a site cannot be published.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SiteError(String);

/// A published site.
#[derive(Debug)]
pub struct PublishedSite {
    /// The number of reports.
    pub reports: usize,
    /// The reasons why other files were left out.
    pub left_out: Vec<String>,
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
    let refuse = |why: String| Err(SiteError(why));
    let (reports, target) = (folder.display(), destination.display());
    let unwritten = |why: io::Error| {
        SiteError(format!(
            "cannot write '{target}': {why}; choose another destination, or free disk space"
        ))
    };
    if !folder.is_dir() {
        return refuse(format!(
            "'{reports}' is not a folder; name the folder that contains the reports"
        ));
    }
    let (open, name) = find(destination, true).map_err(unwritten)?;
    let place = open.path().join(name.unwrap_or_default());
    if fs::symlink_metadata(&place).is_ok() {
        return refuse(format!(
            "'{target}' exists; name a new folder, or remove it first"
        ));
    }
    // The data of its pages would be read as reports.
    let real = |path: &Path| path.canonicalize();
    if let (Ok(within), Ok(parent)) = (real(folder), real(parent(destination)))
        && parent.starts_with(within)
    {
        return refuse(format!(
            "'{target}' is within '{reports}'; choose a destination outside the reports"
        ));
    }
    // A folder on the same file system can be renamed; mode 755 lets all users read it.
    let scratch = ScratchFolder::within(&open.path(), 0o755).map_err(unwritten)?;
    let site = scratch.path();
    let found: Collection<io::Result<_>> = Collection::read(&[folder], |path, report| {
        on_report();
        let name = path.strip_prefix(folder).unwrap_or(path);
        Ok(Platforms::runs(&report, &write(path, &report, site, name)?))
    });
    let refused = found.refused.iter().map(ReadError::to_string);
    let left_out: Vec<String> = refused.map(|error| plain(&error)).collect();
    let runs = found.reports.into_iter().map(|kept| kept.content);
    let runs: Vec<_> = runs.collect::<Result<_, _>>().map_err(unwritten)?;
    let count = runs.len();
    if count == 0 {
        let why = left_out.first().map_or("", String::as_str);
        return refuse(format!("no report could be read in '{reports}'; {why}"));
    }
    let index = WebPage {
        platforms: Some(Platforms::group(
            runs.into_iter().flatten().collect(),
            count,
        )),
        left_out: &left_out,
        ..WebPage::default()
    };
    let index = index.render().map_err(io::Error::other);
    let written = index.and_then(|index| fs::write(site.join(INDEX), index));
    written.map_err(unwritten)?;
    let moved = scratch.persist_with(|site| fs::rename(site, &place));
    moved.map_err(unwritten)?;
    Ok(PublishedSite {
        reports: count,
        left_out,
    })
}

/// Writes the page of the report at `path` to `site`, next to a copy of the report; `name` is its path in
/// the folder of reports. Returns the address of the page relative to the site.
fn write(path: &Path, report: &Report, site: &Path, name: &Path) -> io::Result<String> {
    let name = name.with_extension("");
    let parts = name
        .components()
        .map(|part| part.as_os_str().to_string_lossy());
    let base = format!("reports/{}", parts.collect::<Vec<_>>().join("/"));
    let home = "../".repeat(base.matches('/').count()) + INDEX;
    let (_, last) = base.rsplit_once('/').unwrap_or_default();
    let page = WebPage {
        reports: from_ref(report),
        links: Some([home, encoded(last, "json")]),
        ..WebPage::default()
    };
    // The root of the site is not created, because only a signal handler can have removed it.
    for (end, _) in base.match_indices('/') {
        // If it fails because the folder cannot be created, so does writing the page.
        let _ = fs::create_dir(site.join(&base[..end]));
    }
    let page = page.render().map_err(io::Error::other)?;
    let created = File::create_new(site.join(format!("{base}.html")));
    created
        .and_then(|mut file| file.write_all(page.as_bytes()))
        .map_err(|why| match why.kind() {
            io::ErrorKind::AlreadyExists => {
                io::Error::other(format!("two reports have the address '{base}'; rename one"))
            }
            _ => why,
        })?;
    fs::copy(path, site.join(format!("{base}.json")))?;
    Ok(encoded(&base, "html"))
}

/// The address of a file.
fn encoded(path: &str, ending: &str) -> String {
    let Ok(path) = urlencode(path);
    format!("{path}.{ending}")
}
