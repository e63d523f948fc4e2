//! Figures of the timers for commands that need them and were not given a report: `probe --quick`, in a process of its
//! own, as everything that measures.

use std::process::{Command, Stdio};

use super::CommandError;
use crate::cli::AgentSpec;
use crate::report::Report;

/// Probes these timers, all of them when none is named, those of a runtime too where one is named. Progress and errors of `probe` go to standard error as ever.
///
/// # Errors
/// When `probe` does not end well or what it printed is no report.
pub fn first_look(
    timers: &[String],
    agents: &[AgentSpec],
    runtime: Option<&str>,
) -> Result<Report, CommandError> {
    let failed = |why: String| CommandError::Failed(format!("the timers could not be probed: {why}"));
    let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let mut probe = Command::new(program);
    probe.args(["probe", "--quick", "--format", "json"]);
    probe.args(runtime.iter().flat_map(|runtime| ["--runtime", runtime]));
    for agent in agents {
        let command = shell_words::join(&agent.command);
        let spec = agent.name.as_ref().map_or_else(|| command.clone(), |name| format!("{name}={command}"));
        probe.args(["--agent", &spec]);
    }
    probe.arg("--").args(timers);
    let done = probe
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| failed(error.to_string()))?;
    // 3: done, but one of the named timers could not be characterised; its row says why.
    match done.status.code() {
        Some(0 | 3) => {}
        Some(130) => return Err(CommandError::Interrupted),
        _ => return Err(failed(format!("`probe` ended with {}", done.status))),
    }
    let text = String::from_utf8_lossy(&done.stdout);
    Report::parse(&text, "probe").map_err(|error| failed(error.to_string()))
}
