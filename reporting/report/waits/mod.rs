//! Timers that wait, as tables: what the terminal, the Markdown page and the spreadsheet share.

mod conditions;
mod facts;
mod ranking;
mod tables;

pub use conditions::{in_short, named};
pub use facts::{facts_of_period, facts_of_waits};
pub use ranking::{Ranked, Ranking, Tail, usual_lateness};

use super::notes::Notes;
use crate::model::{Lateness, Report, WaitRow};
use crate::table::{Format, Style, Table, escape_markdown};
use crate::text::hang;

/// Narrower terminals have no room for what is not asked for first.
pub(super) const PHONE: usize = 60;

/// A table with what has to be said of it.
pub struct Section {
    /// What it is of.
    pub title: String,
    /// What has to be said of it.
    pub caption: String,
    /// The table, then the same with fewer and fewer columns; none where there are no figures.
    pub tables: Vec<Table<'static>>,
    /// The same for terminals of 40 columns, where it has one.
    pub phone: Option<Table<'static>>,
}

/// Whether a report is of timers that are read, or of none.
#[must_use]
pub fn is_read(report: &Report) -> bool {
    !report.timers.is_empty() || (report.waits.is_empty() && report.periods.is_empty())
}

/// Shows `see` what was found at each length; nothing, once, where there are no figures.
pub fn each_length<'a>(row: &'a WaitRow, mut see: impl FnMut(Option<&'a Lateness>)) {
    let lengths = row.figures.as_ref().map_or(&[][..], |figures| &figures.lateness);
    lengths.iter().for_each(|late| see(Some(late)));
    if lengths.is_empty() {
        see(None);
    }
}

/// The tables of timers that wait, for pages, where notes stand with the timers.
#[must_use]
pub fn for_page(report: &Report) -> Vec<Section> {
    sections(report, &Notes::none())
}

/// The tables of timers that wait.
pub(super) fn sections(report: &Report, notes: &Notes) -> Vec<Section> {
    [tables::waits(report, notes), tables::lengths(report), tables::periods(report, notes)]
        .into_iter()
        .flatten()
        .collect()
}

impl Section {
    pub(super) fn on_terminal(&self, style: Style) -> String {
        let style = Style { width: Some(style.columns() as u16), ..style };
        let mut out = String::from("\n");
        hang(&mut out, "", "", &self.caption, style.columns());
        let fitting = self.tables.iter().find(|table| table.fits(style));
        let phone = self.phone.as_ref().filter(|_| style.columns() < PHONE);
        let fitting = fitting.or(phone).or(self.tables.last());
        out.extend(fitting.map(|table| table.on_terminal(style, &|_| "")));
        out
    }

    pub(super) fn markdown(&self) -> String {
        let table = self.tables.first().map(|table| table.render(Format::Markdown)).unwrap_or_default();
        format!("## {}\n\n{}\n\n{table}\n", self.title, escape_markdown(&self.caption))
    }
}
