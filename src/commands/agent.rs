//! `agent`: serves the native timers over the agent protocol, on standard input and output.

use std::io::{self, BufReader, ErrorKind};

use super::{CommandResult, failed, usage};
use crate::agents::serve::serve;
use crate::cli::AgentArgs;
use crate::selection::select;
use reporting::report::StandardOutput;

/// Serves requests until the input ends or the output is closed.
///
/// # Errors
/// When a timer is unknown, the CPU cannot be used, or standard input or output fails.
pub fn run(args: &AgentArgs) -> CommandResult<bool> {
    let all = timers::catalogue();
    let waiters = timers::waits::catalogue();
    let ids: Vec<&str> = all
        .iter()
        .map(|entry| entry.info.id)
        .chain(waiters.iter().map(|entry| entry.id))
        .collect();
    let chosen = select(&args.timers, &ids).map_err(usage)?;
    let entries: Vec<_> = all
        .iter()
        .copied()
        .filter(|entry| chosen.contains(&entry.info.id))
        .collect();
    let waiters: Vec<_> = waiters
        .iter()
        .copied()
        .filter(|entry| chosen.contains(&entry.id))
        .chain([timers::waits::FLOOR])
        .collect();
    if let Some(cpu) = args.cpu {
        timers::pin_to(cpu).map_err(failed)?;
    }
    let mut input = BufReader::new(io::stdin().lock());
    match serve(&mut input, &mut StandardOutput, &entries, &waiters) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(failed(format!(
            "the connection to the measuring program failed: {error}"
        ))),
        _ => Ok(true),
    }
}
