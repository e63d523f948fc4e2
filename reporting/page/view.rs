//! Prepares the part of a report that the templates of pages cannot read from the report itself.

use std::collections::HashSet;

use super::{Extent, quality_class};
use crate::assessment::{plan_alone, sentences};
use crate::choice::snippet::{Wanted, snippet};
use crate::fields::{Field, Kind, Row, Visibility, known_columns, rows};
use crate::model::{ProvenanceKind, Report, Trust, value_of};
use crate::report::machine::name;
use crate::report::{Detail, Fact, TimerTable, facts, tables};
use crate::table::CellValue;
use crate::text::numbers::{NOTHING, percent, short_time};

/// A report on a page.
pub struct ReportView<'a> {
    /// The prefix of all anchors of this report.
    pub key: String,
    pub report: &'a Report,
    /// The shortest operation that two reads of the recommended clock time to 1 %, in words, and code
    /// that does so.
    pub alone: Option<(String, String)>,
    /// What else there is to say about the clocks.
    pub sentences: Vec<String>,
    pub extent: Extent,
    /// The columns of the table of clocks, except the timer and its trust.
    pub columns: Vec<&'static Field>,
    pub clocks: Vec<TimerView<'a>>,
    /// The tables of sleep primitives and of periodic timers.
    pub sections: Vec<TimerTable<'a>>,
    /// The sleep primitives and the periodic timers.
    pub waiters: Vec<TimerView<'a>>,
}

/// A timer on a page.
#[derive(Clone)]
pub struct TimerView<'a> {
    pub row: Row<'a>,
    /// The target of links to the timer on its page.
    pub anchor: String,
}

/// The kind of timers of the report, and its machine.
pub fn title(report: &Report) -> String {
    let kind = Kind::main(report).in_words();
    format!("{kind} of {}", name(report))
}

/// The properties by which reports of the same machine differ: the date, the kernel and the clock
/// source.
pub fn about(report: &Report) -> String {
    let platform = &report.platform;
    let is_published = report.provenance.kind == ProvenanceKind::Published;
    let parts = [
        report.created.split('T').next(),
        platform.kernel.release.as_deref(),
        platform.clocksource.current.as_deref(),
        is_published.then_some("published"),
    ];
    let parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(" · ")
}

impl<'a> ReportView<'a> {
    pub fn new(report: &'a Report, key: &str, extent: Extent) -> Self {
        let mut taken = HashSet::new();
        let mut timer = |row: Row<'a>| TimerView {
            anchor: anchor(key, row.id(), &mut taken),
            row,
        };
        let [clocks, waits, periods] = Kind::ALL.map(|kind| {
            let rows = rows(report, kind).into_iter();
            rows.map(&mut timer).collect::<Vec<_>>()
        });
        let tables = tables(report, Detail::Full).into_iter();
        let recommended = report.assessment.to_time.as_ref();
        let alone = recommended.and_then(|id| {
            let (from_ns, plan) = plan_alone(report, id)?;
            Some((short_time(from_ns), snippet(&plan, Wanted::default())?))
        });
        let mut sentences = sentences(report);
        // The page shows the recommended clock itself.
        sentences.drain(..usize::from(recommended.is_some() && !sentences.is_empty()));
        Self {
            key: key.to_owned(),
            report,
            alone,
            sentences,
            extent,
            columns: columns(&clocks),
            clocks,
            sections: tables
                .filter(|section| section.kind != Kind::Clocks)
                .collect(),
            waiters: [waits, periods].concat(),
        }
    }

    /// The recommended clock.
    pub fn recommended(&self) -> Option<&TimerView<'a>> {
        let is_recommended =
            |clock: &&TimerView| self.report.assessment.to_time.as_ref() == Some(clock.row.id());
        self.clocks.iter().find(is_recommended)
    }
}

/// The columns of the table of clocks, without empty columns, without those that the template
/// itself contains, and without figures in cycles, which the details contain.
fn columns(clocks: &[TimerView]) -> Vec<&'static Field> {
    let rows: Vec<Row> = clocks.iter().map(|clock| clock.row).collect();
    let mut columns = known_columns(Kind::Clocks, Visibility::Wide, &rows);
    columns.retain(|field| !["timer", "trust", "cost_cycles"].contains(&field.key));
    columns
}

impl TimerView<'_> {
    /// The Quality in percent, and its colour class.
    pub fn quality(&self) -> (String, &'static str) {
        let quality = self.row.clock().and_then(|row| value_of(row.quality));
        (percent(quality), quality_class(quality))
    }

    /// The facts about the timer: those by which one chooses, and all others.
    pub fn facts(&self) -> [Vec<Fact>; 2] {
        let first = facts(self.row, Detail::Short);
        let mut rest = facts(self.row, Detail::Full);
        rest.retain(|fact| !first.contains(fact));
        [first, rest]
    }

    /// Whether it can be trusted; `–` if that is unknown.
    pub fn trust(&self) -> String {
        let trust = self.row.clock().and_then(|row| row.trust.as_ref());
        trust.map_or_else(|| NOTHING.to_owned(), Trust::in_short)
    }
}

/// The text by which a page sorts a cell: all digits of a number; empty if the value was not
/// determined.
pub fn sort_key(value: &CellValue) -> String {
    match value.number() {
        Some(number) => number.to_string(),
        None => value.as_text().to_owned(),
    }
}

/// An anchor for a timer that is not in `taken`, built from the id with `-` in place of characters
/// that an anchor cannot contain. Adds the anchor to `taken`.
fn anchor(key: &str, id: &str, taken: &mut HashSet<String>) -> String {
    let replace = |c: char| {
        let is_valid = c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
        if is_valid { c } else { '-' }
    };
    let name: String = id.chars().take(80).map(replace).collect();
    let name = format!("{key}-{name}");
    let numbered = (2_u32..).map(|number| format!("{name}-{number}"));
    let mut names = std::iter::once(name.clone()).chain(numbered);
    let free = names.find(|name| !taken.contains(name));
    let free = free.unwrap_or_default();
    taken.insert(free.clone());
    free
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::anchor;

    #[test]
    fn anchors_are_plain_and_unique() {
        let mut taken = HashSet::new();
        let ids = ["java:nanoTime", "a b", "a\"b", "<script>", "a-b"];
        let anchors = ids.map(|id| anchor("r0", id, &mut taken));
        assert_eq!(
            anchors,
            [
                "r0-java:nanoTime",
                "r0-a-b",
                "r0-a-b-2",
                "r0--script-",
                "r0-a-b-3"
            ]
        );
    }
}
