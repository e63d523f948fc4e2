//! The site of few reports: platforms side by side, and a page for each.

use std::path::Path;

use super::{Made, SiteError, in_words, refuse_none, report_page};
use crate::page::matrix::{Brief, Matrix};
use crate::page::{Entry, Figures, Page};
use crate::report::Collection;

pub(super) fn make(
    folder: &Path,
    site: &Path,
    figures: Figures,
    read: &(dyn Fn() + Sync),
) -> Result<Made, SiteError> {
    let found: Collection<Result<Brief, SiteError>> = Collection::read(&[folder], |path, report| {
        read();
        let href = report_page::write(path, &report, folder, site, figures, Vec::new())?;
        Ok(Brief::of(&report, Some(href)))
    });
    let mut briefs = Vec::with_capacity(found.reports.len());
    for kept in found.reports {
        briefs.push(kept.content?);
    }
    refuse_none(briefs.len(), &found.refused, folder)?;
    // Machines side by side, the newest run of each first.
    briefs.sort_by(|a, b| a.name.cmp(&b.name).then_with(|| b.about.cmp(&a.about)));
    let entry = |brief: &Brief| Entry {
        href: brief.href.clone().unwrap_or_default(),
        name: brief.name.clone(),
        about: brief.about.clone(),
    };
    let page = Page {
        matrices: Matrix::all_of(&briefs),
        list: briefs.iter().map(entry).collect(),
        left_out: &in_words(&found.refused),
        ..Page::new(
            "How good are the clocks?".to_owned(),
            format!("Quality of the timers of {} reports, platform by platform.", briefs.len()),
        )
    };
    super::write(&page, site, "index.html")?;
    Ok(Made { reports: briefs.len(), refused: found.refused, fleet: None })
}
