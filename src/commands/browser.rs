//! `browser`: relays the agent protocol between the measuring program, which is connected to
//! standard input and output, and a page in a browser.

use std::io::{self, BufReader};

use super::{CommandResult, failed};
use crate::agents::browser::{BrowserAgent, serve};
use crate::cli::BrowserArgs;
use reporting::report::StandardOutput;

/// Relays messages until the input ends.
///
/// # Errors
/// When the browser cannot be started or does not answer.
pub fn run(args: &BrowserArgs) -> CommandResult<bool> {
    let BrowserArgs {
        kind,
        program,
        folder,
    } = args.clone();
    let agent = BrowserAgent {
        kind,
        program,
        folder,
    };
    serve(
        &agent,
        Box::new(BufReader::new(io::stdin())),
        &mut StandardOutput,
    )
    .map_err(failed)?;
    Ok(true)
}
