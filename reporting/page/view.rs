//! Prepares the part of a report that the templates of pages cannot read from the report itself.

use std::collections::HashSet;

use super::{Plots, Summarize, quality_class};
use crate::fields::{Field, Kind, Row, Visibility, default_columns, rows};
use crate::model::{ProvenanceKind, Report, Status, Verdicts, value_of};
use crate::plot::Plot;
use crate::report::machine::name;
use crate::report::{Detail, Fact, Section, facts, ranks, tables_without_notes, written_rank};
use crate::table::Value;
use crate::text::numbers::{NOTHING, percent, plus_minus};

/// A report on a page.
pub(super) struct ReportView<'a> {
    /// The prefix of all anchors of this report.
    pub key: String,
    pub heading: String,
    pub report: &'a Report,
    /// The summary of the report in one sentence.
    pub summary: Option<String>,
    plots: Plots,
    /// The columns of the table of clocks, except Quality.
    pub columns: Vec<&'static Field>,
    pub clocks: Vec<TimerView<'a>>,
    /// The tables of sleep primitives and of periodic timers.
    pub sections: Vec<Section>,
    /// The sleep primitives and the periodic timers.
    pub waiters: Vec<TimerView<'a>>,
}

/// A timer on a page.
#[derive(Clone)]
pub(super) struct TimerView<'a> {
    pub row: Row<'a>,
    /// The target of links to the timer on its page.
    pub anchor: String,
    /// The rank among the clocks of the report; empty for other timers.
    pub rank: String,
}

/// The properties by which reports of the same machine differ: the date, the kernel and the clock
/// source.
pub(super) fn about(report: &Report) -> String {
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

/// The number of timers of each kind by status, and the name of the best clock.
pub(super) fn describe_timers(report: &Report) -> String {
    let mut parts = Vec::new();
    for kind in Kind::ALL {
        let rows = rows(report, kind);
        if !rows.is_empty() {
            parts.push(format!("{} {}", rows.len(), kind.in_words()));
        }
        for status in [Status::Unresolved, Status::Failed, Status::Unavailable] {
            match rows.iter().filter(|row| row.status() == status).count() {
                0 => {}
                count => parts.push(format!("{count} {}", status.name())),
            }
        }
    }
    let best = report.timers.iter().find(|row| row.quality.is_some());
    let best = best.map_or_else(String::new, |best| {
        let quality = percent(value_of(best.quality));
        format!("; the best is {} with {quality} %", best.id)
    });
    format!("{}{best}.", parts.join(", "))
}

impl<'a> ReportView<'a> {
    pub fn new(
        report: &'a Report,
        key: &str,
        heading: Option<&str>,
        plots: Plots,
        summarize: Option<Summarize>,
    ) -> Self {
        let clocks: Vec<_> = report.timers.iter().collect();
        let mut ranks = ranks(&clocks).into_iter();
        let mut taken = HashSet::new();
        let mut timer = |row: Row<'a>| TimerView {
            anchor: anchor(key, row.id(), &mut taken),
            rank: row.clock().map_or_else(String::new, |_| {
                written_rank(ranks.next().unwrap_or_default())
            }),
            row,
        };
        let [clocks, waits, periods] = Kind::ALL.map(|kind| {
            let rows = rows(report, kind).into_iter();
            rows.map(&mut timer).collect::<Vec<_>>()
        });
        let tables = tables_without_notes(report).into_iter();
        Self {
            key: key.to_owned(),
            heading: heading.map_or_else(
                || format!("{} ({})", name(report), about(report)),
                str::to_owned,
            ),
            report,
            summary: summarize.and_then(|summarize| summarize(report)),
            plots,
            columns: columns(&clocks),
            clocks,
            sections: tables
                .filter(|section| section.kind != Kind::Clocks)
                .collect(),
            waiters: [waits, periods].concat(),
        }
    }

    /// The plots of a timer of the report.
    pub fn plots(&self, timer: &TimerView) -> Vec<Plot> {
        match self.plots {
            Plots::Drawn => Plot::for_row(timer.row),
            Plots::Omitted => Vec::new(),
        }
    }

    /// The source and the note of published results; `None` for results that timermeter measured.
    pub fn published(&self) -> Option<String> {
        let provenance = &self.report.provenance;
        let parts = [&provenance.source, &provenance.note];
        let parts: Vec<&str> = parts
            .into_iter()
            .filter_map(|part| part.as_deref())
            .collect();
        (provenance.kind == ProvenanceKind::Published).then(|| parts.join(" — "))
    }
}

/// The columns of the table of clocks, without empty columns and without those that the template
/// itself contains.
fn columns(clocks: &[TimerView]) -> Vec<&'static Field> {
    let is_shown = |field: &&Field| {
        let mut values = clocks.iter().map(|clock| field.value(clock.row));
        !["timer", "quality", "quality_interval", "trust"].contains(&field.key)
            && values.any(|value| value != Value::Nothing)
    };
    default_columns(Kind::Clocks, Visibility::Wide)
        .filter(is_shown)
        .collect()
}

/// The CSS class that hides a column on narrow pages; empty if the column is always shown.
pub(super) fn width_class(field: &Field) -> &'static str {
    match field.visibility {
        Some(Visibility::Wide) => "wide",
        Some(Visibility::OneReport) => "medium",
        _ => "",
    }
}

impl TimerView<'_> {
    /// A cell of the table of clocks and its sort key; the sort key is empty if the value was not
    /// determined.
    pub fn cell(&self, field: &Field) -> (String, String) {
        let value = field.value(self.row);
        (
            field.as_column_with_units().format_cell(&value),
            sort_key(&value),
        )
    }

    /// All facts about the timer.
    pub fn facts(&self) -> Vec<Fact> {
        facts(self.row, Detail::Full)
    }

    fn quality(&self) -> Option<f64> {
        value_of(self.row.clock()?.quality)
    }

    /// The Quality and its half interval in percent, its colour class and its sort key.
    pub fn quality_cell(&self) -> [String; 4] {
        let quality = self.row.clock().and_then(|row| row.quality);
        [
            percent(self.quality()),
            quality.map_or_else(String::new, plus_minus),
            quality_class(self.quality()).to_owned(),
            sort_key(&self.quality().into()),
        ]
    }

    /// The trust verdict: `yes`, `no` or `?`; `–` if there is none.
    pub fn trust(&self) -> &'static str {
        let verdicts = self.row.clock().and_then(|row| row.verdicts.as_ref());
        verdicts.map_or(NOTHING, Verdicts::summary)
    }
}

/// The text by which a page sorts a cell: all digits of a number; empty if the value was not
/// determined.
pub(super) fn sort_key(value: &Value) -> String {
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
