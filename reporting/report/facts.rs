//! Lists the facts about one row.

use crate::fields::{self, Detail, Fact, Row};
use estimators::model::{Outcome, Question};

/// The facts about a row: its figures, and in full also the evidence of its verdicts. Each length of a
/// sleep primitive is one fact.
pub fn facts(row: Row, detail: Detail) -> Vec<Fact> {
    let facts = fields::facts(row, detail).map(|(field, text)| field.fact(row, text));
    let mut facts: Vec<Fact> = facts.collect();
    for at_length in row.by_length() {
        let figures = fields::facts(at_length, detail);
        let figures = figures.filter(|(field, _)| field.format_value(row).is_none());
        let figures: Vec<String> = figures
            .map(|(field, text)| format!("{} {text}", field.title()))
            .collect();
        facts.extend((!figures.is_empty()).then(|| ("lateness", figures.join(", "))));
    }
    let verdicts = row.clock().and_then(|clock| clock.verdicts.as_ref());
    let answers = verdicts
        .filter(|_| detail == Detail::Full)
        .into_iter()
        .flat_map(|verdicts| verdicts.answers());
    facts.extend(answers.map(|answer| {
        let outcome = match (answer.question, answer.outcome) {
            // It does not affect trust.
            (Question::Declared | Question::ReadPath, Outcome::Fail) => "differs",
            (_, outcome) => outcome.name(),
        };
        let text = format!("{outcome} — {}", answer.evidence);
        (answer.question.name(), text)
    }));
    facts
}
