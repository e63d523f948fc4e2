//! Describes why a process could not be started.

use std::io;

/// The reason why a process could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The user interrupted the program, so no process is started any more.
    #[error("interrupted")]
    Interrupted,
    /// The process cannot run on the requested CPU.
    #[error("{0}")]
    Cpu(#[from] timers::AffinityError),
    /// The system does not permit the requested timer slack or policy.
    #[error("{}", with_remedy(.0))]
    Forbidden(#[from] timers::Unavailable),
    /// The program, or its guard, cannot be executed.
    #[error("{}", without_errno(.0))]
    Program(#[from] io::Error),
}

/// Formats a reason with its remedy.
pub fn with_remedy(why: &timers::Unavailable) -> String {
    why.remedy.as_ref().map_or_else(
        || why.reason.clone(),
        |remedy| format!("{}; {remedy}", why.reason),
    )
}

/// Formats a system error without the error number.
fn without_errno(error: &io::Error) -> String {
    let text = error.to_string();
    text.split_once(" (os error")
        .map_or(text.clone(), |(words, _)| words.to_owned())
}
