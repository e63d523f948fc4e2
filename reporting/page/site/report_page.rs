//! The page of a report, and where it lies.

use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::Path;

use askama::Template;

use super::{SiteContent, SiteError};
use crate::model::Report;
use crate::page::view::{self, ReportView};
use crate::page::{ALONE, Entry, Page};
use crate::report::machine::name;

/// Where the page of a report lies, as an address below the site.
pub(super) fn href(path: &Path, folder: &Path) -> String {
    format!(
        "reports/{}.html",
        address(path.strip_prefix(folder).unwrap_or(path)).join("/")
    )
}

/// Writes the page of a report, and its data beside it. Returns its address.
pub(super) fn write(
    path: &Path,
    report: &Report,
    folder: &Path,
    site: &Path,
    shown: SiteContent,
) -> Result<String, SiteError> {
    let parts = address(path.strip_prefix(folder).unwrap_or(path));
    let href = href(path, folder);
    let target = site.join(&href);
    let explain = |source| SiteError::Write {
        path: target.clone(),
        source,
    };
    let failed = |source: askama::Error| SiteError::Page {
        path: path.to_owned(),
        source,
    };
    let home = "../".repeat(parts.len()) + "index.html";
    let mut view = ReportView::of(report, "r0", shown.figures, shown.sentence);
    view.heading = ALONE.to_owned();
    let page = Page {
        home: Some(home),
        reports: vec![view],
        list: vec![Entry {
            href: format!("{}.json", parts.last().map_or("report", String::as_str)),
            name: "The report itself".to_owned(),
            about: "JSON, schema timermeter.report.v2".to_owned(),
            says: None,
        }],
        ..Page::new(format!("Timers of {}", name(report)), view::about(report))
    };
    let text = page.render().map_err(failed)?;
    // Not the site itself: where that is gone, a signal asked to stop.
    let mut folder = site.to_owned();
    let below = target
        .parent()
        .and_then(|parent| parent.strip_prefix(site).ok());
    for part in below.into_iter().flat_map(Path::components) {
        folder.push(part);
        match fs::create_dir(&folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(explain(error));
            }
            _ => {}
        }
    }
    fs::write(&target, text).map_err(explain)?;
    fs::copy(path, target.with_extension("json")).map_err(explain)?;
    Ok(href)
}

/// The path of a report as parts of an address that need no escaping anywhere. What had to be
/// changed is distinguished by a number that follows from the name.
fn address(path: &Path) -> Vec<String> {
    let path = path.with_extension("");
    let part = |part: &OsStr| {
        let text = part.to_string_lossy();
        let fit = |c: char| {
            if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') {
                c
            } else {
                '-'
            }
        };
        let name: String = text.chars().take(100).map(fit).collect();
        if name == text && !name.starts_with('.') {
            return name;
        }
        let mut hasher = DefaultHasher::new();
        part.as_encoded_bytes().hash(&mut hasher);
        format!(
            "{}-{:08x}",
            name.trim_start_matches('.'),
            hasher.finish() as u32
        )
    };
    let parts: Vec<String> = path.iter().map(part).collect();
    if parts.is_empty() {
        vec!["report".to_owned()]
    } else {
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::address;
    use std::path::Path;

    #[test]
    fn addresses_need_no_escaping_and_differ() {
        assert_eq!(
            address(Path::new("amd-kvm/2026-11-20/report.json")),
            ["amd-kvm", "2026-11-20", "report"]
        );
        let odd = ["a b.json", "a?b.json", "a\"b.json", ".a.json", "ä.json"]
            .map(|name| address(Path::new(name)).join("/"));
        for (at, one) in odd.iter().enumerate() {
            assert!(
                one.chars()
                    .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)),
                "{one}"
            );
            assert!(!odd[..at].contains(one) && !one.starts_with('.'), "{one}");
        }
    }
}
