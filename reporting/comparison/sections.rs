//! Adds a comparison to a document: the sentence, the platform, and tables of the changes.

use std::fmt::Debug;

use serde::Serialize;

use super::sentence::amount;
use super::{ChangedAnswer, ComparedFigure, Comparison};
use crate::document::Document;
use crate::fields::FieldUnit;
use crate::table::{Table, TableColumn};
use crate::text::numbers::{NOTHING, significant, time};

impl Comparison {
    /// Adds the changes to a document; `all` also adds what did not change, and figures that are not
    /// judged.
    pub fn add_to<'a, T: Serialize>(
        &self,
        mut document: Document<'a, T>,
        all: bool,
    ) -> Document<'a, T> {
        for sentence in &self.sentences {
            document = document.paragraph(sentence);
        }
        let platform = self.platform.iter();
        let platform = platform.map(|change| (change.what, change.to_string()));
        document = document.facts(platform);
        let figures = self.figures.iter();
        // Without anything that is judged, all is shown.
        let shown = figures.filter(|figure| all || self.families.is_empty() || figure.is_changed());
        let shown: Vec<&ComparedFigure> = shown.collect();
        if !(shown.is_empty() && self.answers.is_empty()) {
            document = document.table(table(&shown, &self.answers));
        }
        document
    }
}

impl ComparedFigure {
    /// Formats one of its values.
    pub(super) fn written(&self, value: f64) -> String {
        match self.unit {
            FieldUnit::Nanoseconds => time(Some(value)),
            _ => significant(value, 4),
        }
    }
}

/// The name of a verdict or of a standing.
fn word(value: impl Debug) -> String {
    format!("{value:?}").to_lowercase()
}

/// A table of differences. Values are text, because their units differ.
fn table(figures: &[&ComparedFigure], answers: &[ChangedAnswer]) -> Table<'static> {
    let mut columns = ["timer", "figure", "old", "new", "change", "verdict"].map(TableColumn::left);
    columns[0].max_chars = 60;
    (columns[0].folds, columns[4].folds) = (true, true);
    let mut table = Table::new(columns.to_vec());
    let figures = figures.iter().map(|figure| {
        let change = figure.change.as_ref().map_or(NOTHING.to_owned(), amount);
        let verdict = figure
            .change
            .map_or("not judged".to_owned(), |change| word(change.verdict));
        let [old, new] = [figure.old, figure.new].map(|value| figure.written(value));
        [
            figure.timer.clone(),
            figure.quantity.to_owned(),
            old,
            new,
            change,
            verdict,
        ]
    });
    let answers = answers.iter().map(|it| {
        let [old, new] = [it.old, it.new].map(word);
        [
            it.timer.clone(),
            "trust".to_owned(),
            old,
            new,
            it.finding.clone(),
            word(it.verdict),
        ]
    });
    let rows = figures.chain(answers);
    rows.for_each(|row| table.push(row.map(Into::into).to_vec()));
    table
}
