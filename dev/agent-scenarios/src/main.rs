//! The command `agent-scenarios`: runs all checks of the agent protocol on a program and prints the
//! results.

use std::process::ExitCode;
use std::time::Duration;

use agent_scenarios::{Verdict, check};
use timermeter::hosts::process::Command;

fn main() -> ExitCode {
    let words = std::env::args()
        .nth(1)
        .and_then(|command| shell_words::split(&command).ok());
    let Some([program, args @ ..]) = words.as_deref() else {
        eprintln!("usage: agent-scenarios 'COMMAND ARG…'");
        return ExitCode::from(2);
    };
    let command = Command::new("agent", program, args.iter().map(Into::into).collect());
    let findings = check(&command, Duration::from_secs(10));
    for finding in &findings {
        match &finding.verdict {
            Verdict::Pass => println!("pass  {}", finding.question),
            Verdict::NotOffered => {
                println!("  –   {}: not offered (optional)", finding.question)
            }
            Verdict::Fail { cause, remedy } => {
                println!("FAIL  {}: {cause} → {remedy}", finding.question)
            }
        }
    }
    let failed = findings
        .iter()
        .any(|finding| matches!(finding.verdict, Verdict::Fail { .. }));
    ExitCode::from(if failed { 3 } else { 0 })
}
