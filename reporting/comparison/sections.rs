//! Adds a comparison to a document: important platform changes, the summary sentences, and tables
//! of the changes.

use serde::Serialize;

use super::sentence::list;
use super::{ChangeVerdict, ComparedFigure, Comparison, Fate, OneSided, PlatformChange};
use crate::document::Document;
use crate::fields::FieldUnit;
use crate::table::{Table, TableColumn};
use crate::text::numbers::{NOTHING, signed, significant, time};

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
            document = document.paragraph(format!("{}: {change}", change.what));
        }
        for sentence in &self.sentences {
            document = document.paragraph(sentence);
        }
        if self.platform.is_empty() {
            document = document.paragraph("same platform and settings");
        }
        let quiet = quiet
            .into_iter()
            .map(|change| (change.what, change.to_string()));
        document = document
            .facts(quiet)
            .paragraph(summary(self))
            .facts(one_sided(self));
        for table in [figures(&visible(self, all)), answers(self)] {
            if !table.rows.is_empty() {
                document = document.table(table);
            }
        }
        document
    }
}

impl ComparedFigure {
    /// Formats the difference in percent with its interval.
    pub fn written_difference(&self) -> String {
        let Some(percent) = self
            .change
            .percent
            .filter(|_| self.unit == FieldUnit::Nanoseconds)
        else {
            return NOTHING.to_owned();
        };
        let interval = percent.ends().map_or_else(String::new, |(low, high)| {
            format!(" [{}, {}]", signed(low, 1), signed(high, 1))
        });
        format!("{} %{interval}", signed(percent.value, 1))
    }

    /// Formats one of its values.
    fn written(&self, value: f64) -> String {
        match self.unit {
            FieldUnit::Percent => format!("{:.2} %", 100.0 * value),
            FieldUnit::Ppm => format!("{} ppm", significant(value, 3)),
            FieldUnit::Share => format!("{value:.3}"),
            _ => time(Some(value)),
        }
    }
}

fn in_words(verdict: ChangeVerdict) -> &'static str {
    match verdict {
        ChangeVerdict::Worse => "worse",
        ChangeVerdict::Better => "better",
        ChangeVerdict::Unjudged => NOTHING,
        ChangeVerdict::Noise => "noise",
    }
}

/// The differences to show, worst first: changes that exceed noise, or all differences if `all` is
/// set.
fn visible(comparison: &Comparison, all: bool) -> Vec<&ComparedFigure> {
    let mut shown: Vec<&ComparedFigure> = comparison
        .figures
        .iter()
        .filter(|figure| all || figure.is_changed())
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
        table.push(vec![
            compared.timer.as_str().into(),
            compared.quantity.into(),
            compared.written(compared.change.old.value).into(),
            compared.written(compared.change.new.value).into(),
            compared.written_difference().into(),
            in_words(compared.verdict).into(),
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
            in_words(answer.verdict).into(),
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

/// Timers with results in one report only, with the reasons.
fn one_sided(comparison: &Comparison) -> impl Iterator<Item = (&'static str, String)> {
    let fates = [
        (Fate::Lost, "lost figures"),
        (Fate::Unresolved, "figures not determined"),
        (Fate::Gone, "only in the old report"),
        (Fate::Added, "only in the new report"),
        (Fate::Gained, "gained figures"),
    ];
    fates.into_iter().filter_map(|(fate, what)| {
        let timers = comparison
            .one_sided
            .iter()
            .filter(|timer| timer.fate == fate);
        let named = timers.map(|OneSided { timer, reason, .. }| match reason {
            Some(reason) => format!("{timer} ({reason})"),
            None => timer.clone(),
        });
        let named: Vec<String> = named.collect();
        (!named.is_empty()).then(|| (what, list(&named)))
    })
}

/// The number of values with each verdict, and the rules of the comparison.
fn summary(comparison: &Comparison) -> String {
    let [worse, better, noise] = [
        ChangeVerdict::Worse,
        ChangeVerdict::Better,
        ChangeVerdict::Noise,
    ]
    .map(|verdict| comparison.count(verdict));
    let [old, new] = comparison.runs;
    format!(
        "of {} costs and resolutions, {worse} got worse, {better} got better, and {noise} differ by no more than noise \
         (--all: all figures); {old} old and {new} new runs",
        worse + better + noise
    )
}
