//! Writes the page of a report and chooses its address.

use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::Path;

use super::SiteError;
use crate::model::Report;
use crate::page::view::{self, ReportView};
use crate::page::{Extent, WebPage};

/// Writes the page of the report at `path` to `site`, next to a copy of the report. Returns the
/// address of the page relative to the site.
pub fn write(
    path: &Path,
    report: &Report,
    folder: &Path,
    site: &Path,
    extent: Extent,
) -> Result<String, SiteError> {
    let parts = address(path.strip_prefix(folder).unwrap_or(path));
    let href = format!("reports/{}.html", parts.join("/"));
    let target = site.join(&href);
    let page = WebPage {
        home: Some("../".repeat(parts.len()) + "index.html"),
        data: parts.last().map(|name| format!("{name}.json")),
        reports: vec![ReportView::new(report, "r0", extent)],
        ..WebPage::new(view::title(report), view::about(report))
    };
    // The root of the site is not created, because only a signal handler can have removed it.
    let mut folder = site.to_owned();
    let parents = Path::new(&href)
        .parent()
        .into_iter()
        .flat_map(Path::components);
    for part in parents {
        folder.push(part);
        match fs::create_dir(&folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(SiteError::write(&target)(error));
            }
            _ => {}
        }
    }
    super::write(&page, &target)?;
    fs::copy(path, target.with_extension("json")).map_err(SiteError::write(&target))?;
    Ok(href)
}

/// Converts the path of a report to the parts of an address, which need no escaping. A hash of the
/// original name makes a changed part unique.
fn address(path: &Path) -> Vec<String> {
    let path = path.with_extension("");
    let part = |part: &OsStr| {
        let text = part.to_string_lossy();
        let replace = |c: char| {
            if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') {
                c
            } else {
                '-'
            }
        };
        let name: String = text.chars().take(100).map(replace).collect();
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
    fn addresses_are_plain_and_differ() {
        assert_eq!(
            address(Path::new("amd-kvm/2026-11-20/report.json")),
            ["amd-kvm", "2026-11-20", "report"]
        );
        let names = ["a b.json", "a?b.json", "a\"b.json", ".a.json", "ä.json"]
            .map(|name| address(Path::new(name)).join("/"));
        for (at, one) in names.iter().enumerate() {
            assert!(
                one.chars()
                    .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)),
                "{one}"
            );
            assert!(!names[..at].contains(one) && !one.starts_with('.'), "{one}");
        }
    }
}
