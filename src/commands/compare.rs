//! `compare`: compares two reports, or several reports of one machine on each side, and evaluates
//! the conditions of `--fail-if`.

use std::io::Write;

use super::changes::{Judgement, native_clocks, probe_again, read};
use super::{CommandError, CommandResult, emit, failed, prepare_outputs, usage};
use crate::cli::CompareArgs;
use crate::document::Document;
use crate::messages::print_message;
use crate::table::Format;

/// Runs the command. Returns `true` if no condition holds.
///
/// # Errors
/// When the reports cannot be compared, a condition could not be decided, or the output cannot be
/// written.
pub fn run(args: &CompareArgs, output: &mut dyn Write) -> CommandResult<bool> {
    let outputs = prepare_outputs(&args.output)?;
    let judgement = match judge(args) {
        Err(CommandError::Undecided(why)) if args.output.format == Format::Json => {
            Judgement::undecided(why)
        }
        judgement => judgement?,
    };
    let mut document = Document::new(&judgement);
    if let Some(comparison) = &judgement.comparison {
        document = comparison.add_to(document, args.all);
    }
    for line in judgement.conditions.iter().chain(&judgement.open) {
        document = document.paragraph(line);
    }
    emit(&document, outputs, output)?;
    judgement.result()
}

/// Reads the reports, compares them, and evaluates the conditions.
fn judge(args: &CompareArgs) -> CommandResult<Judgement> {
    let reports = args.reports.as_slice();
    let (old, new) = match args.new.as_slice() {
        [] if reports.len() > 2 || reports.iter().any(|path| path.is_dir()) => {
            return Err(usage(
                "more than two reports, or one that is a folder, need `--` before the new ones (compare OLD... -- NEW...)",
            ));
        }
        [] => reports.split_at(1),
        new => (reports, new),
    };
    let mut open = Vec::new();
    let mut old = read(old, &mut open)?;
    let new = if new.is_empty() {
        let ids = native_clocks(&mut old).map_err(failed)?;
        print_message(&"probing this machine; give a second report to compare two");
        vec![probe_again(&old[0].content.settings, ids, f64::INFINITY)?]
    } else {
        read(new, &mut open)?
    };
    Judgement::new([&old, &new], &args.fail_if, open)
}
