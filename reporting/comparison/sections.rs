//! Adds a comparison to a document: important platform changes, the summary sentences, and tables
//! of the changes.

use indexmap::IndexMap;
use serde::Serialize;

use super::Quantity;
use super::judge::FALSE_ALARM;
use super::{ChangeVerdict, ComparedFigure, Comparison, FamilyChange, Fate, PlatformChange};
use crate::document::Document;
use crate::fields::FieldUnit;
use crate::table::{Table, TableColumn};
use crate::text::counted;
use crate::text::numbers::{NOTHING, signed, significant};

const BOLD: &str = "1";
const ALARM: &str = "31;1";
const RED: &str = "31";
const GREEN: &str = "32";

impl Comparison {
    /// Adds the changes to a document. Another clock source or another CPU comes before the
    /// summary, because it affects all results. `all` also adds differences within noise.
    pub fn add_to<'a, T: Serialize>(
        &self,
        mut document: Document<'a, T>,
        all: bool,
    ) -> Document<'a, T> {
        let (loud, quiet): (Vec<&PlatformChange>, Vec<&PlatformChange>) =
            self.platform.iter().partition(|change| change.is_loud());
        for change in loud {
            let codes = change.remark.map_or(BOLD, |_| ALARM);
            document = document.painted(codes, format!("{}: {change}", change.what));
        }
        for sentence in &self.sentences {
            document = document.painted(BOLD, sentence);
        }
        if self.platform.is_empty() {
            document = document.paragraph("same platform and settings");
        }
        let shown = visible(self, all);
        let of_figures = shown.iter().map(|compared| in_words(compared.verdict).1);
        let of_answers = self.answers.iter().map(|answer| in_words(answer.verdict).1);
        document = document
            .facts(
                quiet
                    .into_iter()
                    .map(|change| (change.what, change.to_string())),
            )
            .paragraph(summary(self))
            .facts(one_sided(self));
        for (table, codes) in [
            (figures(&shown), of_figures.collect()),
            (answers(self), of_answers.collect()),
        ] {
            if !table.rows.is_empty() {
                document = document.painted_table(table, codes);
            }
        }
        document
    }
}

impl ComparedFigure {
    /// Formats the difference with its interval, in percent if it has one.
    pub fn written_difference(&self) -> String {
        let change = &self.change;
        let (by, decimals, unit) = match (self.quantity.unit(), change.percent) {
            (FieldUnit::Percent, _) => (change.difference, 2, " points"),
            (FieldUnit::Share, _) => (change.difference, 3, ""),
            (FieldUnit::Ppm, _) => (change.difference, 1, " ppm"),
            (_, Some(percent)) => (percent, 1, " %"),
            (_, None) => {
                return format!("{} ns", significant(change.difference.value, 4));
            }
        };
        let interval = by.ends().map_or_else(String::new, |(low, high)| {
            format!(" [{}, {}]", signed(low, decimals), signed(high, decimals))
        });
        format!("{}{unit}{interval}", signed(by.value, decimals))
    }
}

/// The word for a verdict, and the escape codes that colour its row.
fn in_words(verdict: ChangeVerdict) -> (&'static str, &'static str) {
    match verdict {
        ChangeVerdict::Worse => ("worse", RED),
        ChangeVerdict::Better => ("better", GREEN),
        ChangeVerdict::Unjudged => (NOTHING, ""),
        ChangeVerdict::Noise => ("noise", ""),
    }
}

/// The differences to show, worst first: changes that exceed noise and unjudged differences that
/// matter, or all differences if `all` is set. A spread without an interval is shown only if `all`
/// is set, because it enters Quality, which is judged.
fn visible(comparison: &Comparison, all: bool) -> Vec<&ComparedFigure> {
    let differs = |compared: &&ComparedFigure| match compared.verdict {
        ChangeVerdict::Unjudged => {
            let is_other = compared.change.difference.value != 0.0;
            compared.quantity != Quantity::SPREAD && compared.matters && is_other
        }
        _ => compared.is_changed(),
    };
    let mut shown: Vec<&ComparedFigure> = comparison
        .figures
        .iter()
        .filter(|figure| all || differs(figure))
        .collect();
    // The sort is stable: within a verdict, timers and their quantities keep the order of the
    // report.
    shown.sort_by_key(|compared| compared.verdict);
    shown
}

/// A table with one row for each difference. Values are text, because their units differ.
fn figures(shown: &[&ComparedFigure]) -> Table<'static> {
    let mut table = table([
        "timer",
        "figure",
        "old",
        "new",
        "difference [95 % interval]",
        "verdict",
    ]);
    table.columns[2].right_aligned = true;
    table.columns[3].right_aligned = true;
    for compared in shown {
        let quantity = compared.quantity;
        table.push(vec![
            compared.timer.as_str().into(),
            quantity.name().into(),
            quantity.written(compared.change.old.value).into(),
            quantity.written(compared.change.new.value).into(),
            compared.written_difference().into(),
            in_words(compared.verdict).0.into(),
        ]);
    }
    table
}

/// A table with one row for each changed answer.
fn answers(comparison: &Comparison) -> Table<'static> {
    let mut table = table(["timer", "question", "answer", "verdict", "finding"]);
    for answer in &comparison.answers {
        table.push(vec![
            answer.timer.as_str().into(),
            answer.question.name().into(),
            format!("{} → {}", answer.old.name(), answer.new.name()).into(),
            in_words(answer.verdict).0.into(),
            answer.finding.as_str().into(),
        ]);
    }
    table
}

/// A table of text columns, whose first and fifth columns fold on narrow terminals.
fn table<const N: usize>(headings: [&'static str; N]) -> Table<'static> {
    let mut columns = headings.map(TableColumn::left);
    columns[0].max_chars = Some(60);
    for heading in [0, 4] {
        columns[heading].folds = true;
    }
    Table::new(columns.to_vec())
}

/// Timers with results in one report only, grouped by how the reports differ and by reason.
fn one_sided(comparison: &Comparison) -> impl Iterator<Item = (&'static str, String)> {
    let mut groups: IndexMap<(&str, String), Vec<&str>> = IndexMap::new();
    for timer in &comparison.one_sided {
        let what = match timer.fate {
            Fate::Lost => "lost figures",
            Fate::Unresolved => "figures not determined",
            Fate::Gone => "only in the old report",
            Fate::Added => "only in the new report",
            Fate::Gained => "gained figures",
        };
        let reason = timer
            .reason
            .iter()
            .filter(|_| matches!(timer.fate, Fate::Lost | Fate::Unresolved));
        let reason = reason.map(|reason| format!(" ({reason})")).collect();
        groups.entry((what, reason)).or_default().push(&timer.timer);
    }
    groups
        .into_iter()
        .map(|((what, reason), timers)| (what, by_runtime(&timers) + &reason))
}

/// Merges the names of timers of the same runtime: `java:* (7)`.
fn by_runtime(timers: &[&str]) -> String {
    let mut runtimes: IndexMap<&str, Vec<&str>> = IndexMap::new();
    for name in timers {
        let runtime = name.split_once(':').map_or(*name, |(runtime, _)| runtime);
        runtimes.entry(runtime).or_default().push(name);
    }
    runtimes
        .into_iter()
        .map(|(runtime, names)| match names[..] {
            [only] => only.to_owned(),
            _ => format!("{runtime}:* ({})", names.len()),
        })
        .collect::<Vec<_>>()
        .join(", ")
}

/// The number of values with each verdict, and the rules of the comparison.
fn summary(comparison: &Comparison) -> String {
    let [worse, better, noise, unjudged] = [
        ChangeVerdict::Worse,
        ChangeVerdict::Better,
        ChangeVerdict::Noise,
        ChangeVerdict::Unjudged,
    ]
    .map(|verdict| comparison.count(verdict));
    let unjudged = match unjudged {
        0 => String::new(),
        some => format!("; {some} without an interval are not judged"),
    };
    let [old, new] = comparison.runs;
    let has_costs = |family: &FamilyChange| family.quantity == Quantity::COST;
    let core_hz = comparison
        .core_hz
        .filter(|_| comparison.families.iter().any(has_costs));
    let core = core_hz.map(|hz| hz.map(|hz| format!("{:.3} GHz", hz / 1e9)));
    let core = core.map_or_else(String::new, |[old, new]| {
        format!("; costs were compared in core cycles, between processes whose core was in the same state, and are printed at {old}, the frequency of the old runs (new: {new})")
    });
    format!(
        "of {} with an interval, {worse} got worse, {better} got better, and {noise} differ by no more than noise{unjudged}; \
         {old} old and {new} new runs; where nothing changed, at most 1 comparison in {:.0} finds a change{core}",
        counted(worse + better + noise, "figure"),
        1.0 / FALSE_ALARM,
    )
}
