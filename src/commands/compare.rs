//! `compare`: compares two reports, or several reports of one machine on each side, and evaluates
//! the conditions of `--fail-if`.

use std::io::Write;

use super::changes::{Judgement, read};
use super::{CommandResult, emit, prepare_outputs, usage};
use crate::cli::CompareArgs;
use crate::messages::print_message;
use crate::plan::Plan;
use reporting::document::Document;

/// Runs the command. Returns `true` if no condition holds.
///
/// # Errors
/// When a report cannot be read, the reports cannot be compared, a condition could not be decided, or the
/// output cannot be written.
pub fn run(args: &CompareArgs, output: &mut dyn Write) -> CommandResult<bool> {
    let outputs = prepare_outputs(&args.output)?;
    let (old, new) = args.sides().map_err(usage)?;
    let old = read(old)?;
    let judgement = if new.is_empty() {
        print_message(&"probing this machine");
        Judgement::of_machine(old, &args.fail_if, Plan::DEFAULT, 0.0)?
    } else {
        Judgement::of_runs(&old, &read(new)?, &args.fail_if)?
    };
    let document = judgement
        .comparison
        .add_to(Document::new(&judgement), args.all);
    let lines = judgement.conditions.iter().chain(&judgement.open);
    emit(&document.paragraphs(lines.cloned()), outputs, output)?;
    judgement.result()
}
