//! Decides which questions each clock, sleep primitive and periodic timer is asked, and stores the
//! answers.

mod choose;
pub mod clocks;
pub mod disturbances;
pub mod examination;
pub mod plan;
mod reference_rate;
mod slow_clocks;
mod unit_check;
pub mod waits;

use timers::{Answer, Fault};

/// Separates an interrupt, which ends the run, from failures of a single timer or agent, which the
/// caller handles: returns `Ok` with the answer or its failure unless the run was interrupted.
///
/// # Errors
/// Only [`Fault::Interrupted`].
pub(crate) fn unless_interrupted<T>(answer: Answer<T>) -> Result<Answer<T>, Fault> {
    match answer {
        Err(Fault::Interrupted) => Err(Fault::Interrupted),
        answer => Ok(answer),
    }
}

/// Returns the answer to a question, or `None` if it was refused.
///
/// # Errors
/// When the process that answers is lost or the run is interrupted.
pub(crate) fn unless_refused<T>(answer: Answer<T>) -> Answer<Option<T>> {
    match answer {
        Err(Fault::Refused(_)) => Ok(None),
        answer => answer.map(Some),
    }
}

/// The fault if no thread can be started.
pub(crate) fn no_thread(error: std::io::Error) -> Fault {
    Fault::Lost(format!("cannot start a thread for it: {error}"))
}
