//! `agent-check`: tells the author of an agent whether it speaks the protocol, question by question.

use std::io::Write;
use std::time::Duration;

use super::{CommandError, hosts, terminal_style};
use crate::cli::AgentCheckArgs;
use crate::prober::children;
use crate::prober::conformance::{Finding, Verdict, check};
use crate::table::Style;
use crate::text::plain;

/// Runs the command. Returns whether the agent passed.
///
/// # Errors
/// When the output cannot be written, or the user asked to stop.
pub fn run(args: &AgentCheckArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    let findings = check(&hosts::command(&args.agent), Duration::from_secs(args.timeout));
    if children::interrupted() {
        return Err(CommandError::Interrupted);
    }
    let style = terminal_style();
    for finding in &findings {
        writeln!(output, "{}", line(finding, style))?;
    }
    let failed = findings.iter().filter(|finding| matches!(finding.verdict, Verdict::Fail { .. })).count();
    match failed {
        0 => writeln!(output, "\nIt speaks the protocol.")?,
        failed => writeln!(output, "\n{failed} of {} checks failed.", findings.len())?,
    }
    Ok(failed == 0)
}

fn line(finding: &Finding, style: Style) -> String {
    let question = plain(&finding.question);
    match &finding.verdict {
        Verdict::Pass => format!("{}  {question}", style.paint("32", "pass")),
        Verdict::NotOffered => {
            format!("{}  {question}: not offered, and need not be", style.paint("2", "  – "))
        }
        Verdict::Fail { cause, remedy } => {
            format!("{}  {question}: {} → {remedy}", style.paint("31", "FAIL"), plain(cause))
        }
    }
}
