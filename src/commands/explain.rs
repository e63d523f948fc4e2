//! `explain`: prints what a word means that the program prints: a column, one of its values, a finding, a
//! timer, or another term.

mod terms;

use std::io::Write;

use serde::Serialize;

use self::terms::TERMS;
use super::{CommandError, CommandResult, emit, prepare_outputs, usage};
use crate::cli::ExplainArgs;
use crate::selection::nearest;
use estimators::findings::{in_words, rules};
use reporting::document::{Document, FindingText};
use reporting::fields::{Field, fields};
use reporting::text::without_unit;

/// The JSON document of `explain`.
#[derive(Default, Serialize)]
struct Explanations {
    columns: Vec<Column>,
    terms: Vec<Term>,
    findings: Vec<FindingText>,
}

/// A column with its meaning.
#[derive(Serialize)]
struct Column {
    /// The name on the command line.
    column: &'static str,
    /// The name in files.
    key: &'static str,
    /// The heading, with the unit.
    heading: &'static str,
    about: String,
}

/// A term of the field, or a timer.
#[derive(Serialize)]
struct Term {
    term: String,
    about: String,
}

/// Runs the command.
///
/// # Errors
/// When nothing has the name, or the output cannot be written.
pub fn run(args: &ExplainArgs, output: &mut dyn Write) -> CommandResult {
    let outputs = prepare_outputs(&args.output)?;
    let mut found = Explanations::default();
    for word in &args.words {
        let before = found.len();
        found.add(Some(word));
        if found.len() == before {
            // A list of words, as in the column *trust*.
            let words = word.replace("untested ", "untested,");
            words
                .split([',', ':'])
                .for_each(|word| found.add(Some(word.trim())));
        }
        if found.len() == before {
            return Err(unknown(word));
        }
    }
    if args.words.is_empty() {
        found.add(None);
        let mut codes: Vec<&str> = rules().map(|rule| rule.code).collect();
        codes.dedup();
        let document = Document::new(&found)
            .heading("columns")
            .facts(fields().iter().map(|field| (field.column, field.about)))
            .heading("terms")
            .paragraph(TERMS.map(|(names, _)| names).join("; "))
            .heading("findings")
            .paragraph(codes.join(", "));
        return emit(&document, outputs, output);
    }
    let columns = found.columns.iter().map(|it| (it.heading, &it.about));
    let terms = found.terms.iter().map(|it| (&*it.term, &it.about));
    let document = Document::new(&found).facts(columns.chain(terms));
    emit(&document.findings(found.findings.clone()), outputs, output)
}

/// The names of a column: on the command line, in files, in tables.
fn names(field: &Field) -> [&'static str; 4] {
    let name = without_unit(field.heading);
    [field.column, field.key, name, field.heading]
}

impl Explanations {
    fn len(&self) -> usize {
        self.columns.len() + self.terms.len() + self.findings.len()
    }

    /// Adds what has this name, and the columns with this value; everything if it is `None`.
    fn add(&mut self, word: Option<&str>) {
        let plain = |name: &str| name.to_lowercase().replace(['_', ' '], "-");
        let is_meant = |name: &str| word.is_none_or(|word| plain(name) == plain(word));
        let value = format!("`{}`", word.unwrap_or_default());
        let is_wanted = |field: &&Field| {
            names(field).into_iter().any(is_meant) || field.description().contains(&value)
        };
        let found: Vec<_> = self.columns.iter().map(|it| it.key).collect();
        let is_new = |field: &&Field| !found.contains(&field.key);
        self.columns.extend(
            fields()
                .iter()
                .filter(is_new)
                .filter(is_wanted)
                .map(|field| Column {
                    column: field.column,
                    key: field.key,
                    heading: field.heading,
                    about: field.description(),
                }),
        );
        let mut add = |term: &str, about: String| {
            let term = term.to_owned();
            self.terms.push(Term { term, about });
        };
        for (names, about) in TERMS {
            if let Some(name) = names.split(", ").find(|name| is_meant(name)) {
                add(name, about.to_owned());
            }
        }
        let id = word.unwrap_or_default();
        if let Some(wait) = timers::waits::find(id) {
            add(id, format!("the timer of {}", wait.label));
        }
        if let Some(clock) = timers::find(id) {
            let is = clock.info.properties;
            let counted = is.counts.map(|it| format!("counts {}", it.in_words()));
            let claims = [
                (is.settable, "can be set"),
                (is.slewed, "is corrected by time services"),
                (is.runs_in_suspend, "goes on while the machine is suspended"),
                (is.needs_fence, "needs a fence"),
            ];
            let claims = claims.into_iter().filter(|(is_so, _)| *is_so == Some(true));
            let all: Vec<_> = counted
                .into_iter()
                .chain(claims.map(|(_, claim)| claim.to_owned()))
                .collect();
            add(id, format!("{}: {}", clock.info.label, all.join(", ")));
        }
        let findings = rules().filter(|rule| is_meant(rule.code));
        self.findings.extend(findings.map(|rule| FindingText {
            severity: rule.severity,
            code: rule.code.to_owned(),
            message: in_words(rule.message),
            advice: Some(in_words(rule.advice)),
        }));
    }
}

/// The error for a word that nothing is called, with similar names.
fn unknown(word: &str) -> CommandError {
    let names: Vec<&str> = fields()
        .iter()
        .flat_map(names)
        .chain(TERMS.iter().flat_map(|(names, _)| names.split(", ")))
        .chain(rules().map(|rule| rule.code))
        .collect();
    let similar = match nearest(word, &names).join(", ") {
        none if none.is_empty() => none,
        similar => format!("; similar: {similar}"),
    };
    usage(format!(
        "nothing is called `{word}`{similar}; `timermeter explain` lists all words"
    ))
}
