//! `agent-check`: reports to the author of an agent whether it speaks the protocol, question by
//! question.

use std::io::Write;
use std::time::Duration;

use super::{CommandError, hosts, terminal_style};
use crate::cli::AgentCheckArgs;
use crate::hosts::children;
use crate::hosts::conformance::{Verdict, check};
use crate::text::plain;

/// Runs the command. Returns whether the agent passed.
///
/// # Errors
/// When the output cannot be written, or the user asked to stop.
pub fn run(args: &AgentCheckArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    let findings = check(
        &hosts::command(&args.agent),
        Duration::from_secs(args.timeout),
    );
    if children::interrupted() {
        return Err(CommandError::Interrupted);
    }
    let style = terminal_style();
    for finding in &findings {
        let question = plain(&finding.question);
        match &finding.verdict {
            Verdict::Pass => writeln!(output, "{}  {question}", style.paint("32", "pass"))?,
            Verdict::NotOffered => {
                writeln!(
                    output,
                    "{}  {question}: not offered, and need not be",
                    style.paint("2", "  – ")
                )?;
            }
            Verdict::Fail(cause) => {
                writeln!(
                    output,
                    "{}  {question}: {}",
                    style.paint("31", "FAIL"),
                    plain(cause)
                )?;
            }
        }
    }
    let failed = findings
        .iter()
        .filter(|finding| matches!(finding.verdict, Verdict::Fail(_)))
        .count();
    match failed {
        0 => writeln!(output, "\nIt speaks the protocol.")?,
        failed => writeln!(output, "\n{failed} of {} checks failed.", findings.len())?,
    }
    Ok(failed == 0)
}
