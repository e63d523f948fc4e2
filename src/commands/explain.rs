//! `explain`: prints what a column, one of its values, a finding or a term means.

mod terms;

use std::io::Write;

use serde::Serialize;

use self::terms::{TOPICS, Term};
use super::{CommandError, CommandResult, emit, prepare_outputs, usage};
use crate::cli::ExplainArgs;
use crate::document::{Document, FindingText};
use crate::fields::{Field, fields};
use crate::findings::{Rule, rules};
use crate::selection::nearest;
use crate::text::without_unit;

/// The JSON document of `explain`.
#[derive(Default, Serialize)]
struct Explanations {
    columns: Vec<ExplainedColumn>,
    terms: Vec<ExplainedTerm>,
    findings: Vec<FindingText>,
}

/// A column with its meaning.
#[derive(Serialize)]
struct ExplainedColumn {
    /// The name on the command line.
    column: &'static str,
    /// The name in files.
    key: &'static str,
    /// The heading, with the unit.
    heading: &'static str,
    about: String,
    /// The beginning of `about`.
    #[serde(skip)]
    short: &'static str,
}

/// A term of the field.
#[derive(Serialize)]
struct ExplainedTerm {
    term: &'static str,
    about: &'static str,
}

impl ExplainedTerm {
    fn of(term: &Term) -> Self {
        Self {
            term: term.names[0],
            about: term.about,
        }
    }
}

impl ExplainedColumn {
    fn of(field: &Field) -> Self {
        Self {
            column: field.column,
            key: field.key,
            heading: field.heading,
            about: field.description(),
            short: field.about,
        }
    }

    fn names(&self) -> [&'static str; 3] {
        [self.column, self.key, without_unit(self.heading)]
    }
}

/// Runs the command.
///
/// # Errors
/// When nothing has the name, or the output cannot be written.
pub fn run(args: &ExplainArgs, output: &mut dyn Write) -> CommandResult {
    let outputs = prepare_outputs(&args.output)?;
    let mut found = Explanations::default();
    for word in &args.words {
        explain(word, &mut found)?;
    }
    let mut document;
    if args.words.is_empty() {
        found = Explanations {
            columns: columns().collect(),
            terms: terms().map(ExplainedTerm::of).collect(),
            findings: rules().map(text).collect(),
        };
        let mut codes: Vec<&str> = rules().map(|rule| rule.code).collect();
        codes.dedup();
        let columns = found
            .columns
            .iter()
            .map(|column| (column.column, column.short));
        document = Document::new(&found).heading("columns").facts(columns);
        for (topic, terms) in TOPICS {
            document = document.heading(topic).paragraph(names_of(terms));
        }
        document = document.heading("findings").paragraph(codes.join(", "));
    } else {
        let columns = found
            .columns
            .iter()
            .map(|column| (column.heading, column.about.as_str()));
        let terms = found.terms.iter().map(|found| (found.term, found.about));
        document = Document::new(&found)
            .facts(columns.chain(terms))
            .findings(found.findings.clone());
    }
    emit(&document, outputs, output)
}

fn columns() -> impl Iterator<Item = ExplainedColumn> {
    fields()
        .iter()
        .filter(|field| !field.is_end())
        .map(ExplainedColumn::of)
}

fn terms() -> impl Iterator<Item = &'static Term> {
    TOPICS.iter().flat_map(|(_, terms)| *terms)
}

/// The usual names of terms, in one line.
fn names_of(terms: &[Term]) -> String {
    let names: Vec<&str> = terms.iter().map(|term| term.names[0]).collect();
    names.join(", ")
}

fn text(rule: &Rule) -> FindingText {
    FindingText {
        severity: rule.severity,
        code: rule.code.to_owned(),
        message: rule.message.to_owned(),
        advice: Some(rule.advice.to_owned()).filter(|advice| !advice.is_empty()),
    }
}

/// Adds what has this name, or else the columns with this value.
fn explain(word: &str, found: &mut Explanations) -> CommandResult {
    let plain = |name: &str| name.to_lowercase().replace(['_', ' '], "-");
    let is_name = |name: &str| plain(name) == plain(word);
    let value = format!("`{}`", word.to_lowercase());
    let mut new: Vec<ExplainedColumn> = columns()
        .filter(|column| column.names().into_iter().any(is_name))
        .collect();
    let findings: Vec<FindingText> = rules()
        .filter(|rule| is_name(rule.code))
        .map(text)
        .collect();
    let meant = terms().filter(|term| term.names.iter().copied().any(is_name));
    let meant: Vec<ExplainedTerm> = meant.map(ExplainedTerm::of).collect();
    let is_known = !(findings.is_empty() && meant.is_empty());
    if new.is_empty() && !is_known {
        new.extend(columns().filter(|column| column.about.contains(&value)));
    }
    if new.is_empty() && !is_known {
        return Err(unknown(word));
    }
    found.columns.extend(new);
    found.terms.extend(meant);
    found.findings.extend(findings);
    Ok(())
}

/// The error for a word that nothing is called, with similar names and the terms by topic.
fn unknown(word: &str) -> CommandError {
    let names: Vec<&str> = columns()
        .flat_map(|column| column.names())
        .chain(terms().flat_map(|term| term.names.iter().copied()))
        .chain(rules().map(|rule| rule.code))
        .collect();
    let similar = match nearest(word, &names).join(", ") {
        none if none.is_empty() => none,
        similar => format!("; similar: {similar}"),
    };
    let topics = TOPICS.map(|(topic, terms)| format!("{topic} ({})", names_of(terms)));
    usage(format!(
        "nothing is called `{word}`{similar}; `timermeter explain` lists columns and findings; terms: {}",
        topics.join("; ")
    ))
}
