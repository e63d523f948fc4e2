//! Writes the page of a report and chooses its address.

use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::Path;

use super::SiteError;
use crate::model::Report;
use crate::page::view::{self, ReportView};
use crate::page::{ALONE, Entry, Figures, Page, Sentence};
use crate::report::machine::name;

/// Writes the page of a report and its data. Returns the address relative to the site.
pub(super) fn write(
    path: &Path,
    report: &Report,
    folder: &Path,
    site: &Path,
    figures: Figures,
    sentence: Option<Sentence>,
) -> Result<String, SiteError> {
    let parts = address(path.strip_prefix(folder).unwrap_or(path));
    let href = format!("reports/{}.html", parts.join("/"));
    let target = site.join(&href);
    let page = Page {
        home: Some("../".repeat(parts.len()) + "index.html"),
        reports: vec![ReportView::new(
            report,
            "r0",
            Some(ALONE),
            figures,
            sentence,
        )],
        list: vec![Entry {
            href: format!("{}.json", parts.last().map_or("report", String::as_str)),
            name: "The report itself".to_owned(),
            about: "JSON, schema timermeter.report.v2".to_owned(),
            says: None,
        }],
        ..Page::new(format!("Timers of {}", name(report)), view::about(report))
    };
    // The root of the site is not created: if it is missing, a signal handler removed it.
    let mut folder = site.to_owned();
    let below = Path::new(&href)
        .parent()
        .into_iter()
        .flat_map(Path::components);
    for part in below {
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

/// Converts the path of a report to address parts that need no escaping. A part that has to be
/// changed is made unique by a hash of its original name.
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
