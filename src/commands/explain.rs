//! `explain`: prints what a word means that the program prints: a column, one of its values, or a finding.

use std::io::Write;

use serde::Serialize;

use super::{CommandError, CommandResult, emit, prepare_outputs, usage};
use crate::cli::ExplainArgs;
use crate::selection::nearest;
use estimators::findings::{in_words, rules};
use reporting::document::{Document, FindingText};
use reporting::fields::{Field, fields};
use reporting::text::without_unit;

/// The JSON document of `explain`.
#[derive(Serialize)]
struct Explanations {
    columns: Vec<ColumnText>,
    findings: Vec<FindingText>,
}

/// A column with its meaning.
#[derive(Serialize)]
struct ColumnText {
    /// The name on the command line.
    column: &'static str,
    /// The name in files.
    key: &'static str,
    /// The heading, with the unit.
    heading: &'static str,
    about: String,
}

/// Runs the command.
///
/// # Errors
/// When nothing has the name, or the output cannot be written.
pub fn run(args: &ExplainArgs, output: &mut dyn Write) -> CommandResult<bool> {
    let outputs = prepare_outputs(&args.output)?;
    if args.words.is_empty() {
        let all = Explanations::find(|_, _| true);
        let mut codes: Vec<&str> = rules().map(|rule| rule.code).collect();
        codes.dedup();
        let document = Document::new(&all)
            .heading("columns")
            .facts(fields().iter().map(|field| (field.column, field.about)))
            .heading("findings")
            .paragraph(codes.join(", "));
        return emit(&document, outputs, output).map(|()| true);
    }
    let mut found = Explanations::find(|_, _| false);
    for word in &args.words {
        found.add(explanations(word).ok_or_else(|| unknown(word))?);
    }
    let columns = found.columns.iter().map(|it| (it.heading, &it.about));
    let document = Document::new(&found).facts(columns);
    emit(&document.findings(found.findings.clone()), outputs, output)?;
    Ok(true)
}

/// What is called by a word, or has it as a value; else what mentions the word, or, of a list as in the
/// column *trust*, its last word.
fn explanations(word: &str) -> Option<Explanations> {
    let plain = |text: &str| text.to_lowercase().replace(['_', ' '], "-");
    let value = format!("`{word}`");
    let called = Explanations::find(|names, text| {
        names.iter().any(|name| plain(name) == plain(word)) || text.contains(&value)
    });
    let mentions = |word: &str| {
        let word = plain(word.trim());
        Explanations::find(|_, text| plain(text).contains(&word))
    };
    let last = word.rsplit([',', ':']).next().unwrap_or(word);
    let last = last.trim().trim_start_matches("untested ");
    [called, mentions(word), mentions(last)]
        .into_iter()
        .find(|found| !(found.columns.is_empty() && found.findings.is_empty()))
}

/// The names of a column: on the command line, in files, in tables.
fn names(field: &Field) -> [&'static str; 4] {
    let name = without_unit(field.heading);
    [field.column, field.key, name, field.heading]
}

impl Explanations {
    /// The columns and findings whose names and text are meant.
    fn find(is_meant: impl Fn(&[&str], &str) -> bool) -> Self {
        let columns = fields().iter().map(|field| (field, field.description()));
        let columns = columns.filter(|(field, about)| is_meant(&names(field), about));
        let findings = rules().map(|rule| FindingText {
            severity: rule.severity,
            code: rule.code.to_owned(),
            message: in_words(rule.message),
            advice: Some(in_words(rule.advice)),
        });
        Self {
            columns: columns
                .map(|(field, about)| ColumnText {
                    column: field.column,
                    key: field.key,
                    heading: field.heading,
                    about,
                })
                .collect(),
            findings: findings
                .filter(|it| is_meant(&[&it.code], &it.message))
                .collect(),
        }
    }

    /// Adds what is not there yet.
    fn add(&mut self, other: Self) {
        let known: Vec<_> = self.columns.iter().map(|it| it.key).collect();
        let columns = other.columns.into_iter();
        self.columns
            .extend(columns.filter(|it| !known.contains(&it.key)));
        self.findings.extend(other.findings);
    }
}

/// The error for a word that nothing mentions, with similar names.
fn unknown(word: &str) -> CommandError {
    let columns = fields().iter().flat_map(names);
    let names: Vec<&str> = columns.chain(rules().map(|rule| rule.code)).collect();
    let similar = match nearest(word, &names).join(", ") {
        none if none.is_empty() => none,
        similar => format!("; similar: {similar}"),
    };
    usage(format!(
        "nothing is called `{word}`{similar}; `timermeter explain` lists all words"
    ))
}
