//! The site of few reports: platforms side by side, and a page for each.

use std::path::Path;

use super::{Made, Shown, SiteError, in_words, refuse_none, report_page};
use crate::page::matrix::{Brief, Matrix, headings};
use crate::page::{Entry, Page};
use crate::report::Collection;

pub(super) fn make(
    folder: &Path,
    site: &Path,
    shown: Shown,
    read: &(dyn Fn() + Sync),
) -> Result<Made, SiteError> {
    let found: Collection<Result<Brief, SiteError>> = Collection::read(&[folder], |path, report| {
        read();
        let href = report_page::write(path, &report, folder, site, shown, Vec::new())?;
        Ok(Brief::of(&report, Some(href), shown.sentence.and_then(|sentence| sentence(&report))))
    });
    let mut briefs = Vec::with_capacity(found.reports.len());
    for kept in found.reports {
        briefs.push(kept.content?);
    }
    refuse_none(briefs.len(), &found.refused, folder)?;
    // Machines that were measured first, side by side, the newest run of each first.
    briefs.sort_by(|a, b| (a.origin, &a.name).cmp(&(b.origin, &b.name)).then_with(|| b.about.cmp(&a.about)));
    let names = headings(&briefs.iter().collect::<Vec<_>>());
    let entry = |(brief, name): (&Brief, String)| Entry {
        href: brief.href.clone().unwrap_or_default(),
        name,
        about: brief.about.clone(),
        says: Some(brief.says.clone()),
    };
    let page = Page {
        matrices: Matrix::all_of(&briefs),
        list: briefs.iter().zip(names).map(entry).chain(shown.table()).collect(),
        is_verdicts: true,
        left_out: &in_words(&found.refused),
        ..Page::new(
            "How good are the clocks?".to_owned(),
            format!("{} reports: what each comes down to, then Quality, platform by platform.", briefs.len()),
        )
    };
    super::write(&page, site, "index.html")?;
    Ok(Made { reports: briefs.len(), refused: found.refused, fleet: None })
}
