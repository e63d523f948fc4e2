//! Decides what each clock, sleep primitive and periodic timer is asked, and keeps the answers.

pub mod calibrate;
mod calibration;
mod choose;
pub mod clocks;
pub mod counter;
pub mod examination;
pub mod explore;
pub mod other_paths;
mod outside;
pub mod sampling;
pub mod slow_clocks;
pub mod waits;
pub mod watch;

use timers::{Answer, Fault};

/// The answer to a question, or why there is none, unless the run was interrupted: that ends it.
///
/// # Errors
/// Only [`Fault::Interrupted`].
pub(crate) fn survived<T>(answer: Answer<T>) -> Result<Answer<T>, Fault> {
    match answer {
        Err(Fault::Interrupted) => Err(Fault::Interrupted),
        answer => Ok(answer),
    }
}

/// The answer to a question, if it was not refused.
///
/// # Errors
/// When the process is lost.
pub(crate) fn unless_refused<T>(answer: Answer<T>) -> Answer<Option<T>> {
    match answer {
        Err(Fault::Refused(_)) => Ok(None),
        answer => answer.map(Some),
    }
}
