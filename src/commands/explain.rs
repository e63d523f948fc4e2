//! `explain`: prints what a column, one of its values or a finding means.

use std::io::Write;

use serde::Serialize;

use super::{CommandResult, emit, prepare_outputs, usage};
use crate::cli::ExplainArgs;
use crate::document::{Document, FindingText};
use crate::fields::{Field, fields};
use crate::findings::{Wording, wordings};
use crate::selection::nearest;
use crate::text::{first_part, without_unit};

/// The JSON document of `explain`.
#[derive(Default, Serialize)]
struct Explanations {
    columns: Vec<ExplainedColumn>,
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
    about: &'static str,
}

impl ExplainedColumn {
    fn of(field: &Field) -> Self {
        let &Field {
            column,
            key,
            heading,
            about,
            ..
        } = field;
        Self {
            column,
            key,
            heading,
            about,
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
            findings: wordings().map(text).collect(),
        };
        let mut codes: Vec<&str> = wordings().map(|wording| wording.code).collect();
        codes.dedup();
        let columns = found
            .columns
            .iter()
            .map(|column| (column.column, first_part(column.about)));
        document = Document::new(&found).heading("columns").facts(columns);
        document = document.heading("findings").paragraph(codes.join(", "));
    } else {
        let columns = found
            .columns
            .iter()
            .map(|column| (column.heading, column.about));
        document = Document::new(&found)
            .facts(columns)
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

fn text(wording: &Wording) -> FindingText {
    let [message, advice] = wording.texts();
    FindingText {
        severity: wording.severity,
        code: wording.code.to_owned(),
        message,
        advice: Some(advice).filter(|advice| !advice.is_empty()),
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
    let findings: Vec<FindingText> = wordings()
        .filter(|wording| is_name(wording.code))
        .map(text)
        .collect();
    if new.is_empty() && findings.is_empty() {
        new.extend(columns().filter(|column| column.about.contains(&value)));
    }
    if new.is_empty() && findings.is_empty() {
        let names: Vec<&str> = columns()
            .flat_map(|column| column.names())
            .chain(wordings().map(|wording| wording.code))
            .collect();
        let similar = nearest(word, &names).join(", ");
        return Err(usage(format!(
            "no column, value or finding is called `{word}`{}; `timermeter explain` lists all",
            if similar.is_empty() {
                similar
            } else {
                format!("; similar: {similar}")
            }
        )));
    }
    found.columns.extend(new);
    found.findings.extend(findings);
    Ok(())
}
