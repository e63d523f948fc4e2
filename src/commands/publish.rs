//! `publish`: a static site over a folder of reports.

use std::io::Write;

use super::progress::Progress;
use super::{CommandError, failed, tell};
use crate::cli::{FiguresWanted, PagesWanted, PublishArgs};
use crate::page::Figures;
use crate::page::site::{self, Pages, Site, Wanted};
use crate::text::counted;

/// Runs the command. Returns whether all reports could be read.
///
/// # Errors
/// When none could be read, or the site cannot be written.
pub fn run(args: &PublishArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    let figures = match args.figures {
        FiguresWanted::Auto => None,
        FiguresWanted::Always => Some(Figures::Drawn),
        FiguresWanted::Never => Some(Figures::LeftOut),
    };
    let pages = match args.pages {
        PagesWanted::Auto => None,
        PagesWanted::All => Some(Pages::All),
        PagesWanted::Telling => Some(Pages::Telling),
    };
    let progress = Progress::of(site::count(&args.reports), false);
    progress.at("reports");
    let read = || {
        progress.step();
    };
    let site = site::publish(
        &args.reports,
        &args.output,
        Wanted { table: super::columns::ALL_CLOCKS, figures, pages, sentence: Some(super::sentence) },
        &read,
    )
    .map_err(failed)?;
    drop(progress);
    for reason in &site.left_out {
        tell(&format!("left out: {reason}"));
    }
    if !site.at_once {
        tell(&"this file system cannot exchange folders, so that for a moment there was no site");
    }
    if let Some(unnamed) = site.fleet.map(|fleet| fleet.unnamed).filter(|unnamed| *unnamed > 0) {
        tell(&super::unnamed(unnamed, site.reports));
    }
    writeln!(output, "{}: {}", args.output.join("index.html").display(), in_a_line(&site))?;
    let hints = hints(&site, args);
    if !hints.is_empty() {
        writeln!(output, "{hints}")?;
    }
    Ok(site.left_out.is_empty())
}

/// What the site shows.
fn in_a_line(site: &Site) -> String {
    let reports = counted(site.reports, "report");
    site.fleet.map_or(reports.clone(), |fleet| {
        let nodes = if fleet.nodes == site.reports {
            String::new()
        } else {
            format!(" of {}", counted(fleet.nodes, "node"))
        };
        format!("{reports}{nodes} in {}, {} stand out", counted(fleet.groups, "group"), fleet.odd)
    })
}

/// What it leaves out, and how to have it.
fn hints(site: &Site, args: &PublishArgs) -> String {
    let pages = site.fleet.map(|fleet| fleet.pages).filter(|pages| *pages < site.reports);
    let pages = pages.map(|pages| format!("{} (--pages all makes all)", counted(pages, "page")));
    let left_out = (site.figures, args.figures) == (Figures::LeftOut, FiguresWanted::Auto);
    let figures = left_out.then(|| "without figures (--figures always draws them)".to_owned());
    pages.into_iter().chain(figures).collect::<Vec<_>>().join(", ")
}
