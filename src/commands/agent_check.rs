//! `agent-check`: tests whether an agent follows the agent protocol, and prints each request with
//! its result.

use std::io::Write;
use std::time::Duration;

use super::{CommandError, CommandResult, emit, prepare_outputs};
use crate::cli::AgentCheckArgs;
use crate::document::Document;
use crate::hosts::children;
use crate::hosts::conformance::{CheckOutcome, CheckedQuestion, check};
use crate::selection::agent_command;

/// Runs the command. Returns whether the agent passed.
///
/// # Errors
/// When the output cannot be written, or the user interrupts the program.
pub fn run(args: &AgentCheckArgs, output: &mut dyn Write) -> CommandResult<bool> {
    let outputs = prepare_outputs(&args.output)?;
    let findings = check(
        &agent_command(&args.agent),
        Duration::from_secs(args.timeout),
    );
    if children::interrupted() {
        return Err(CommandError::Interrupted);
    }
    let mut document = Document::new(&findings);
    let mut failed = 0;
    for CheckedQuestion { question, verdict } in &findings {
        document = match verdict {
            CheckOutcome::Pass => document.painted("32", format!("pass  {question}")),
            CheckOutcome::NotOffered => {
                document.painted("2", format!("skip  {question}: not offered"))
            }
            CheckOutcome::Fail(cause) => {
                failed += 1;
                document.painted("31", format!("FAIL  {question}: {cause}"))
            }
        };
    }
    let document = document.paragraph(match failed {
        0 => "The agent follows the protocol.".to_owned(),
        failed => format!("{failed} of {} checks failed.", findings.len()),
    });
    emit(&document, outputs, output)?;
    Ok(failed == 0)
}
