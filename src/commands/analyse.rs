//! `analyse`: computes a report from a trace, the raw observations of a run.

use std::io::Write;

use super::{CommandResult, emit, failed, prepare_outputs, printed_report};
use crate::cli::AnalyseArgs;
use crate::messages::print_message;
use crate::recording::Recording;
use crate::report::{Archive, check};

/// Runs the command.
///
/// # Errors
/// When the file is not a trace or is damaged, or a file cannot be written.
pub fn run(args: &AnalyseArgs, output: &mut dyn Write) -> CommandResult {
    let outputs = prepare_outputs(&args.output)?;
    let archive = args
        .save
        .as_deref()
        .map(Archive::prepare)
        .transpose()
        .map_err(failed)?;
    let recording = Recording::read(&args.trace).map_err(failed)?;
    let report = recording.report().map_err(failed)?;
    check(&report).map_err(|what| {
        let trace = args.trace.display();
        failed(format!(
            "'{trace}' is a damaged trace, because its report would be impossible: {what}"
        ))
    })?;
    if let Some(archive) = archive {
        print_message(&format!(
            "stored in {}",
            archive.commit(&report).map_err(failed)?.display()
        ));
    }
    emit(
        &printed_report(&report, args.detail.level()),
        outputs,
        output,
    )
}
