//! What the program does: one verb a file. Only these files and `main` print.

pub mod agent;
pub mod agent_check;
mod hosts;
pub mod list;
pub mod platform;
pub mod probe;
pub mod score;
pub mod selftest;

use std::io::IsTerminal;

use crate::report::Style;

/// Why a command ended without doing what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// It was asked the wrong way.
    #[error("{0}")]
    Usage(String),
    /// It could not be done.
    #[error("{0}")]
    Failed(String),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// Nobody reads the output any more, as in `timermeter list | head -1`.
    #[error("the reader of the output went away")]
    Closed,
}

impl CommandError {
    /// The exit status that tells scripts about it.
    #[must_use]
    pub fn exit_status(&self) -> u8 {
        match self {
            Self::Closed => 0,
            Self::Failed(_) => 1,
            Self::Usage(_) => 2,
            // As shells report a program that an interrupt ended.
            Self::Interrupted => 130,
        }
    }
}

impl From<std::io::Error> for CommandError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::Failed(format!("cannot write the output: {error}")),
        }
    }
}

/// How wide the terminal on standard output is, and whether it wants colour.
#[must_use]
pub fn terminal_style() -> Style {
    let stdout = std::io::stdout();
    if !stdout.is_terminal() {
        return Style { width: None, colour: false };
    }
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
        || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let width =
        rustix::termios::tcgetwinsize(&stdout).ok().map(|size| size.ws_col).filter(|width| *width > 0);
    Style { width, colour: !plain }
}

/// Indented JSON.
fn pretty(value: &impl serde::Serialize) -> Result<String, CommandError> {
    serde_json::to_string_pretty(value).map_err(|error| CommandError::Failed(error.to_string()))
}
