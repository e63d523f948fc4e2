//! `gate`: probes this machine until the conditions on the changes since a baseline are decided.

use std::io::Write;

use super::changes::{Judgement, UNDECIDED, read, seconds};
use super::{CommandError, CommandResult, emit, prepare_outputs};
use crate::cli::GateArgs;
use crate::plan::Plan;
use estimators::model::Assessment;
use reporting::document::Document;
use reporting::text::counted;

/// Runs the command. Returns `true` if no condition holds.
///
/// # Errors
/// When the baseline cannot be read or the machine cannot be probed, a condition could not be decided, or the output cannot be
/// written.
pub fn run(args: &GateArgs, output: &mut dyn Write) -> CommandResult<bool> {
    let outputs = prepare_outputs(&args.output)?;
    let start = seconds();
    let old = read(std::slice::from_ref(&args.baseline))?;
    let judgement = match Judgement::of_machine(old, &args.fail_if, Plan::QUICK, args.budget) {
        Err(CommandError::Undecided(why)) => Judgement {
            open: vec![why],
            exit_status: UNDECIDED,
            ..Judgement::default()
        },
        judgement => judgement?,
    };
    let (result, causes) = match judgement.exit_status {
        0 => ("passed", None),
        UNDECIDED => ("undecided", None),
        _ => ("failed", judgement.comparison.causes()),
    };
    let sentences = [
        judgement.conditions.as_slice(),
        causes.as_slice(),
        &judgement.open,
        &judgement.passed,
    ];
    let document = Document::new(&judgement).line(format!(
        "gate: {result}: {}; {}, {:.0} s",
        sentences.concat().join("; "),
        counted(judgement.comparison.runs[1], "run"),
        seconds() - start
    ));
    let warnings = judgement.assessment.iter().flat_map(Assessment::warnings);
    emit(&document.paragraphs(warnings), outputs, output)?;
    judgement.result()
}
